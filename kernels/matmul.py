"""matmul: a matrix product as a torch operator, by whichever kernel is known to be the fastest for its shape.

`tilesim::matmul` is a custom operator: torch.compile puts it into a graph as it is, autograd knows its
gradients, which are two products of the same kind, and neither copies an operand that has a dense dimension.

fp32 is multiplied in full, or as tf32 where torch's own setting for its products says so
(torch.set_float32_matmul_precision). fp8 is e4m3, without scales: its product is bf16 and has no gradient.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from typing import Any

import torch
import triton

from tilesim.devices.device import Device
from tilesim.errors import TilesimError
from tilesim.problems import Problem
from tilesim.variants import Variant

from .errors import OperandError
from .gemm.tile_ops import INTERPRETED
from .gemm.transpose import transposed
from .launch.cublas import tf32
from .launch.job import Job
from .launch.jobs import job
from .launch.launcher import KernelLaunch
from .launch.layouts import layout, lines
from .launch.operands import DTYPES, RESULTS, Matrices
from .launch.variants import TMA_BYTES, check, on_this_machine
from .measure import machine
from .tuning.choice import Choice, choices

NAMES = {kind: name for name, kind in DTYPES.items() if name != "tf32"}
"""The names of the dtypes of A and B."""

MAX_CACHED = 4096
_cache: dict[tuple, tuple[Job, KernelLaunch, bool]] = {}
"""Of operands of each `_key`: job, launch, and whether that takes a workspace; they hold no operands."""

KEPT_WORKSPACES = 8
"""Of the last jobs and streams: each has a partial of every thread block, some 20 MB."""

PLACEHOLDER = torch.empty(0, device="meta")

INTERPRETED_DEVICE = Device(4)
"""The device of interpreted plans, whose thread blocks run one after another."""


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A [M, K] times B [K, N], a new row-major tensor [M, N]: what torch.mm gives, by a kernel from here.

    A and B: fp16, bf16, fp32 or fp8 (torch.float8_e4m3fn), both the same, on one NVIDIA GPU; on the CPU where
    Triton interprets. They may be row-major, column-major or slices of such; only what has no dense dimension
    is copied, and fp8 that is not dense along K. Under autocast both become its dtype first. Sizes may be 0.

    Raises OperandError, a RuntimeError and a ValueError, for operands that have no product or none here;
    KernelError for one that no kernel can compute; TypeError for what is no tensor.
    """
    for name, x in (("A", a), ("B", b)):
        if not isinstance(x, torch.Tensor):
            raise TypeError(f"{name} is a {type(x).__name__}; matmul multiplies tensors")
    if a.device.type in ("cpu", "cuda") and torch.is_autocast_enabled(a.device.type):
        to = torch.get_autocast_dtype(a.device.type)
        a, b = (x.to(to) if x.dtype in (torch.float16, torch.bfloat16, torch.float32) else x for x in (a, b))
    return _op(a, b)


def _check(a: torch.Tensor, b: torch.Tensor) -> None:
    """Raise OperandError unless A · B is a product of two matrices of one dtype and device."""
    for name, x in (("A", a), ("B", b)):
        if x.dim() != 2:
            raise OperandError(f"{name} has {x.dim()} dimensions; matmul multiplies matrices, which have 2")
        if x.dtype not in NAMES:
            raise OperandError(f"{name} is {x.dtype}; matmul multiplies {', '.join(map(str, NAMES))}")
    if a.dtype != b.dtype:
        raise OperandError(f"A is {a.dtype} and B is {b.dtype}; both must be the same")
    if a.device != b.device:
        raise OperandError(f"A is on {a.device} and B on {b.device}; both must be on one device")
    if a.shape[1] != b.shape[0]:
        raise OperandError(
            f"A is {a.shape[0]}x{a.shape[1]} and B is {b.shape[0]}x{b.shape[1]}; A must have as many columns"
            " as B has rows"
        )


def _check_place(a: torch.Tensor) -> None:
    """Raise OperandError unless kernels run where A is."""
    if a.device.type != ("cpu" if INTERPRETED else "cuda") or torch.version.hip:
        needs = "CPU tensors, since TRITON_INTERPRET is set" if INTERPRETED else (
            "tensors on an NVIDIA GPU, or TRITON_INTERPRET=1 in the environment for a slow run on the CPU"
        )  # fmt: skip
        raise OperandError(f"A and B are on {a.device}; matmul needs {needs}")


def _empty(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.new_empty((a.shape[0], b.shape[1]), dtype=RESULTS[NAMES[a.dtype]])


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    key = _key(a, b)
    if key not in _cache:
        _check(a, b)
        if not a.numel() or not b.numel():
            return _empty(a, b).zero_()
        _check_place(a)
        a, b = _laid(a, b)
        key = _key(a, b)
    c = _empty(a, b)
    if INTERPRETED or a.device.index == torch.cuda.current_device():
        _multiply(a, b, c, key)
    else:
        with torch.cuda.device(a.device):
            _multiply(a, b, c, key)
    return c


def _laid(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The operands as kernels take them, copied where needed: a dimension is dense, of 8-bit ones K."""
    a, b = (x if lines(x) else x.contiguous() for x in (a, b))
    if a.element_size() > 1:
        return a, b
    (rows_a, by_columns), (rows_b, along_k) = lines(a), lines(b)
    return transposed(rows_a) if by_columns else a, b if along_k else transposed(rows_b).T


def _key(a: torch.Tensor, b: torch.Tensor) -> tuple:
    """Operands of the same key are multiplied alike."""
    return (
        a.shape, b.shape, a.stride(), b.stride(), a.dtype, b.dtype, a.device, b.device,
        a.data_ptr() % TMA_BYTES == 0, b.data_ptr() % TMA_BYTES == 0,
        a.dtype == torch.float32 and tf32(),
    )  # fmt: skip


def _shape(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    _check(a, b)
    return _empty(a, b)


def _save(ctx: Any, inputs: tuple[torch.Tensor, torch.Tensor], output: torch.Tensor) -> None:
    ctx.save_for_backward(*inputs)


def _gradients(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None]:
    a, b = ctx.saved_tensors
    if grad.dtype != a.dtype:
        raise OperandError(f"a product of {a.dtype} has no gradient, which would be a product of two dtypes")
    of_a, of_b = ctx.needs_input_grad
    return _op(grad, b.T) if of_a else None, _op(a.T, grad) if of_b else None


# torch.library.custom_op does the same, and checks at each call that no operand was changed or returned.
torch.library.define("tilesim::matmul", "(Tensor a, Tensor b) -> Tensor")
torch.library.impl("tilesim::matmul", "default", _product)
torch.library.register_fake("tilesim::matmul", _shape)
torch.library.register_autograd("tilesim::matmul", _gradients, setup_context=_save)
_op = torch.ops.tilesim.matmul.default


def _multiply(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, key: tuple) -> None:
    """C = A · B on the current device, as operands of this key were multiplied before."""
    cached = _cache.get(key)
    if cached:
        work, launch, shares = cached
        launch.launch_with((a, b, c), _workspace(work, a.device.index) if shares else {})
        return
    work, launch = _first((a, b, c), "tf32" if key[-1] else NAMES[a.dtype])
    if not _capturing():
        if len(_cache) == MAX_CACHED:
            _cache.clear()
        shared = dict.fromkeys(work.workspace(), PLACEHOLDER)
        _cache[key] = work, launch.bound_to((PLACEHOLDER,) * 3, shared), bool(shared)


def _workspace(work: Job, index: int | None) -> dict[str, torch.Tensor]:
    """What launches of a job share on a GPU's stream, where they follow one another: flags are left at 0.

    A graph gets one of its own, as it may run beside others.
    """
    if INTERPRETED or _capturing():
        return work.workspace()
    return _kept_workspace(work, triton.runtime.driver.active.get_current_stream(index))


@lru_cache(maxsize=KEPT_WORKSPACES)
def _kept_workspace(work: Job, stream: int) -> dict[str, torch.Tensor]:
    return work.workspace()


def _first(matrices: Matrices, dtype: str) -> tuple[Job, KernelLaunch]:
    """C = A · B by the first of its choices that can be launched; returns its job and launch.

    While a graph is captured no plan can be uploaded, so `planned` is left out then.
    """
    a, b, _ = matrices
    gpu = None if INTERPRETED else machine.gpu()
    *others, last = choices(a.shape[0], b.shape[1], a.shape[1], dtype, layout(a, b), gpu)
    check(last[1])
    for choice in others:
        if not (_capturing() and choice[0].kernel == "planned"):
            with suppress(TilesimError):
                return _launched(choice, matrices)
    return _launched(last, matrices)


def _launched(choice: Choice, matrices: Matrices) -> tuple[Job, KernelLaunch]:
    variant, problem = choice
    work = _job(on_this_machine(variant, problem, matrices[:2])[0], problem, matrices[0].device.index)
    launch = work.launcher(matrices)
    launch()
    return work, launch


def _capturing() -> bool:
    return not INTERPRETED and torch.cuda.is_current_stream_capturing()


@lru_cache(maxsize=1024)
def _job(variant: Variant, problem: Problem, index: int | None) -> Job:
    """The job of `variant` for any operands; it holds none of them."""
    if INTERPRETED:
        return job(variant, problem, INTERPRETED_DEVICE, "cpu", concurrent=True)
    if torch.cuda.is_current_stream_capturing():
        return job(variant, problem, machine.device(1), concurrent=True)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_uploaded, variant, problem, index).result()


def _uploaded(variant: Variant, problem: Problem, index: int | None) -> Job:
    """The same, to be called on a thread of its own; it uses a stream of its own.

    What is allocated while torch.compile warms up a function to be captured would belong to its graph.
    """
    with torch.cuda.device(index), torch.cuda.stream(torch.cuda.Stream()):
        made = job(variant, problem, machine.device(1), concurrent=True)
        torch.cuda.current_stream().synchronize()
        return made
