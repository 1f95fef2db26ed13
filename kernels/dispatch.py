"""How `matmul` finds the launch for its operands, and keeps it: the job of the first kernel of `choices` that
can be launched, and what its launches on one stream share."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache

import torch
import triton

from tilesim.devices.device import Device
from tilesim.errors import TilesimError
from tilesim.kernel_config import TABLE, KernelConfig
from tilesim.products import TMA_BYTES, Product

from .gemm.jobs import job
from .launch.cublas import tf32
from .launch.here import INTERPRETED, check, on_this_machine
from .launch.job import Job, KernelLaunch
from .launch.operands import DTYPES, Matrices, layout
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


def key(a: torch.Tensor, b: torch.Tensor) -> tuple:
    """Operands of the same key are multiplied by the same launch."""
    return (
        a.shape, b.shape, a.stride(), b.stride(), a.dtype, b.dtype, a.device, b.device,
        a.data_ptr() % TMA_BYTES == 0, b.data_ptr() % TMA_BYTES == 0,
        a.dtype == torch.float32 and tf32(),
    )  # fmt: skip


def is_known(of: tuple) -> bool:
    return of in _known


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
