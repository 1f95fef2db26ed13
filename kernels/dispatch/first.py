"""First launch: the job of the first kernel of `choices` that can be launched."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache

import torch

from tilesim.devices.device import Device
from tilesim.errors import TilesimError
from tilesim.kernel_config import TABLE, KernelConfig
from tilesim.products import Product

from ..gemm.jobs import job
from ..launch.here import INTERPRETED, check, on_this_machine
from ..launch.job import Job
from ..launch.launcher import KernelLaunch
from ..launch.layouts import layout
from ..launch.operands import Matrices
from ..measure import machine
from ..tuning.choice import choices

INTERPRETED_DEVICE = Device(4)
"""The device of interpreted plans, whose thread blocks run one after another."""


def capturing() -> bool:
    """Whether a CUDA graph is captured on the current stream."""
    return not INTERPRETED and torch.cuda.is_current_stream_capturing()


def first_launch(matrices: Matrices, dtype: str) -> tuple[Job, KernelLaunch]:
    """C = A · B by the first of its choices that can be launched; returns its job and launch.

    While a graph is captured no plan can be uploaded, so table-driven kernels are left out then. Raises
    KernelError for a product that no kernel can compute.
    """
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
    """The job of a kernel for any operands; it holds none of them."""
    if INTERPRETED:
        return job(config, product, INTERPRETED_DEVICE, "cpu", concurrent=True)
    if capturing():
        return job(config, product, machine.device(1), concurrent=True)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_uploaded, config, product, index).result()


def _uploaded(config: KernelConfig, product: Product, index: int | None) -> Job:
    """The same, to be called on a thread of its own; it uses a stream of its own.

    What is allocated while torch.compile warms up a function to be captured would belong to its graph.
    """
    with torch.cuda.device(index), torch.cuda.stream(torch.cuda.Stream()):
        made = job(config, product, machine.device(1), concurrent=True)
        torch.cuda.current_stream().synchronize()
        return made
