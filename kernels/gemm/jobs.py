"""From a kernel and a product to launches."""

from importlib import import_module
from typing import Any

import torch

from tilesim.devices.device import Device
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

from ..errors import KernelError
from ..launch.here import check
from ..launch.job import Job, KernelLaunch, operands_of
from ..launch.operands import Matrices
from .stamps import WORDS


def job(
    config: KernelConfig, product: Product, device: Device, memory: str = "cuda", concurrent: bool = False
) -> Job:
    """The job of a kernel on `device`; `memory` is "cuda" or, for the interpreter, "cpu".

    The kernel's module in kernels/gemm makes it. All launches of a job share one workspace and must follow
    one another. With `concurrent` each launcher has a workspace of its own, so that launches of two may run
    at once, and `check` sees none of them.

    Raises ScheduleError or PlanError where the schedule makes no plan that ends on this device's slots,
    KernelError where the kernel cannot compute the product so, or what the plan needs does not fit into the
    GPU's memory.
    """
    check(config, product)
    module = import_module(f".{config.kernel.replace('-', '_')}", __package__)
    return module.job(config, product, device, memory, concurrent)


STORE_WAIT_K_STEP = 1
"""The K-step of the next tile at whose top an overlapping kernel with stamps waits for its store of C. At 0
the wait costs 5 % of the time at 4096x4096x512, from 1 on 1 %; a store rarely ends before 1 and always before
2."""


def stamped_launch(
    kernel: Any, ctas: int, rows: int, config: KernelConfig, product: Product, matrices: Matrices,
    tables: tuple, stamps: torch.Tensor | None, values: dict[str, Any],
) -> KernelLaunch:  # fmt: skip
    """The launch of a kernel over a plan of `rows` segments, with `tables` and constants `values` of its own.

    Raises KernelError for stamps that are not exactly as large, which the kernel does not check.
    """
    if stamps is not None:
        here = matrices[0].device
        dense = stamps.is_contiguous() and stamps.device == here
        if (stamps.dtype, stamps.shape, dense) != (torch.int64, (rows, WORDS), True):
            raise KernelError(
                f"the stamps are {stamps.dtype} {list(stamps.shape)} on {stamps.device}; a plan of {rows}"
                f" segments needs a dense torch.int64 [{rows}, {WORDS}] on {here}"
            )
    bm, bn, bk = config.tile
    operands, layout = operands_of(config, product.dtype, kernel, matrices)
    constants = values | layout | dict(
        BM=bm, BN=bn, BK=bk, TMA=config.loads == "tma", RECORD=stamps is not None,
        num_warps=config.warps, num_stages=config.stages,
    )  # fmt: skip
    arguments = (*operands, *tables, stamps, product.m, product.n, product.k)
    return KernelLaunch(config, kernel, ctas, arguments, constants)
