"""matmul: a matrix product as a torch operator, by whichever kernel is known to be the fastest for its shape.

`tilesim::matmul` is a custom operator: torch.compile puts it into a graph as it is, and autograd knows its
gradients. A launch is that of the first kernel of `choices` that can be launched, and is kept with its job.
fp32 is multiplied in full, or as tf32 where torch's own setting for its products says so
(torch.set_float32_matmul_precision). fp8 is e4m3, without scales: its product is bf16 and has no gradient.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from functools import lru_cache
from typing import Any

import torch
import triton
import triton.language as tl

from tilesim.devices.device import Device
from tilesim.errors import TilesimError
from tilesim.kernel_config import TABLE, KernelConfig
from tilesim.products import TMA_BYTES, Product

from .errors import OperandError
from .gemm.jobs import job
from .launch.cublas import tf32
from .launch.here import INTERPRETED, check, on_this_machine
from .launch.job import Job, KernelLaunch
from .launch.operands import DTYPES, RESULTS, Matrices, layout, lines
from .measure import machine
from .tuning.choice import choices

NAMES = {kind: name for name, kind in DTYPES.items() if name != "tf32"}

MOST = 4096
"""Launches that are kept; when there are more, all are forgotten."""

KEPT = 8
"""Workspaces that are kept, of the last jobs and streams, each of some 20 MB."""

PLACEHOLDER = torch.empty(0, device="meta")

_known: dict[tuple, tuple[Job, KernelLaunch, bool]] = {}
"""By `key`: job, launch, and whether that takes a workspace; they hold no operands."""

SIDE, WARPS = 64, 4
"""Of a thread block's tile; 128 rows are 1.3 µs slower for a megabyte, and 2 % faster for 100 MB."""

LINE = 128


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


def _empty(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.new_empty((a.shape[0], b.shape[1]), dtype=RESULTS[NAMES[a.dtype]])


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    known = key(a, b)
    if known not in _known:
        _check(a, b)
        if not a.numel() or not b.numel():
            return _empty(a, b).zero_()
        if a.device.type != ("cpu" if INTERPRETED else "cuda") or torch.version.hip:
            needs = "CPU tensors, since TRITON_INTERPRET is set" if INTERPRETED else (
                "tensors on an NVIDIA GPU, or TRITON_INTERPRET=1 in the environment for a slow run on the CPU"
            )  # fmt: skip
            raise OperandError(f"A and B are on {a.device}; matmul needs {needs}")
        a, b = _laid(a, b)
        known = key(a, b)
    c = _empty(a, b)
    elsewhere = not INTERPRETED and a.device.index != torch.cuda.current_device()
    with torch.cuda.device(a.device) if elsewhere else nullcontext():
        multiply((a, b, c), known)
    return c


def key(a: torch.Tensor, b: torch.Tensor) -> tuple:
    """Operands of the same key are multiplied by the same launch."""
    return (
        a.shape, b.shape, a.stride(), b.stride(), a.dtype, b.dtype, a.device, b.device,
        a.data_ptr() % TMA_BYTES == 0, b.data_ptr() % TMA_BYTES == 0,
        a.dtype == torch.float32 and tf32(),
    )  # fmt: skip


def multiply(matrices: Matrices, of: tuple) -> None:
    """C = A · B on the current device, as operands of this key were multiplied before."""
    a = matrices[0]
    if known := _known.get(of):
        work, launch, shares = known
        launch.launch_with(matrices, workspace(work, a.device.index) if shares else {})
        return
    work, launch = first_launch(matrices, "tf32" if of[-1] else NAMES[a.dtype])
    if INTERPRETED or not capturing():
        if len(_known) == MOST:
            _known.clear()
        shared = dict.fromkeys(work.workspace(), PLACEHOLDER)
        _known[of] = work, launch.bound_to((PLACEHOLDER,) * 3, shared), bool(shared)


def capturing() -> bool:
    return not INTERPRETED and torch.cuda.is_current_stream_capturing()


def first_launch(matrices: Matrices, dtype: str) -> tuple[Job, KernelLaunch]:
    """C = A · B by the first of its choices that can be launched; returns its job and launch. While a graph
    is captured no plan can be uploaded, so table-driven kernels are left out then. Raises KernelError for a
    product that no kernel can compute."""
    a, b, _ = matrices
    product = Product(a.shape[0], b.shape[1], a.shape[1], dtype, layout(a, b))
    *others, last = choices(product, None if INTERPRETED else machine.gpu())
    check(on_this_machine(last, product, matrices[:2])[0], product)
    for config in others:
        if not (config.kernel == TABLE and capturing()):
            with suppress(TilesimError):
                return _launched(config, product, matrices)
    return _launched(last, product, matrices)


def _launched(config: KernelConfig, product: Product, matrices: Matrices) -> tuple[Job, KernelLaunch]:
    here, _ = on_this_machine(config, product, matrices[:2])
    work = _job(here, product, matrices[0].device.index)
    launch = work.launcher(matrices)
    launch()
    return work, launch


@lru_cache(maxsize=1024)
def _job(config: KernelConfig, product: Product, index: int | None) -> Job:
    if INTERPRETED:
        return job(config, product, Device(4), "cpu", concurrent=True)
    if capturing():
        return job(config, product, machine.device(1), concurrent=True)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_uploaded, config, product, index).result()


def _uploaded(config: KernelConfig, product: Product, index: int | None) -> Job:
    """The same, to be called on a thread of its own; it uses a stream of its own. What is allocated while
    torch.compile warms up a function to be captured would belong to its graph."""
    with torch.cuda.device(index), torch.cuda.stream(torch.cuda.Stream()):
        made = job(config, product, machine.device(1), concurrent=True)
        torch.cuda.current_stream().synchronize()
        return made


def workspace(work: Job, index: int | None) -> dict[str, torch.Tensor]:
    """What launches of a job on one stream share; a graph, which may run beside others, has its own."""
    if INTERPRETED or capturing():
        return work.workspace()
    return _kept(work, triton.runtime.driver.active.get_current_stream(index))


@lru_cache(maxsize=KEPT)
def _kept(work: Job, stream: int) -> dict[str, torch.Tensor]:
    return work.workspace()


def _laid(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The operands as kernels take them, copied where needed: a dimension is dense, of 8-bit ones K."""
    a, b = (x if lines(x) else x.contiguous() for x in (a, b))
    if a.element_size() > 1:
        return a, b
    (rows_a, by_columns), (rows_b, along_k) = lines(a), lines(b)
    return transposed(rows_a) if by_columns else a, b if along_k else transposed(rows_b).T


@triton.jit
def transpose(x, y, ROWS, COLUMNS, STRIDE, TO_STRIDE, SIDE: tl.constexpr):
    across = tl.cdiv(COLUMNS, SIDE)
    rows = tl.cast(tl.program_id(0) // across, tl.int64) * SIDE + tl.arange(0, SIDE)
    columns = tl.cast(tl.program_id(0) % across, tl.int64) * SIDE + tl.arange(0, SIDE)
    inside = (rows[:, None] < ROWS) & (columns[None, :] < COLUMNS)
    tile = tl.load(x + rows[:, None] * STRIDE + columns[None, :], mask=inside, other=0)
    tl.store(y + columns[:, None] * TO_STRIDE + rows[None, :], tl.trans(tile), mask=tl.trans(inside))


def transposed(x: torch.Tensor) -> torch.Tensor:
    """The transpose [C, R] of an 8-bit matrix [R, C] with dense rows: a row-major copy.

    Tensor cores multiply 8-bit operands only along K, so other layouts are copied first, in two passes over
    the bytes; transposing in registers takes several times as long as the product. The copy's rows begin at
    L2 lines, because TMA would otherwise request two per row.
    """
    rows, columns = x.shape
    y = torch.empty((columns, triton.cdiv(rows, LINE) * LINE), dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(rows, SIDE) * triton.cdiv(columns, SIDE),)
    transpose[grid](
        x.view(torch.uint8), y.view(torch.uint8), rows, columns, x.stride(0), y.stride(0), SIDE,
        num_warps=WARPS,
    )  # fmt: skip
    return y[:, :rows]


def _shape(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    _check(a, b)
    return _empty(a, b)


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
torch.library.register_autograd(
    "tilesim::matmul", _gradients, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs)
)
_op = torch.ops.tilesim.matmul.default
