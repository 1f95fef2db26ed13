"""From a kernel and a product to launches."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import torch
from triton.tools.tensor_descriptor import TensorDescriptor

from tilesim.devices.device import Device
from tilesim.kernel_config import KernelConfig
from tilesim.orders import rasterize
from tilesim.plans import segments
from tilesim.problems import Problem
from tilesim.products import Product

from ..errors import KernelError
from ..launch.here import check
from ..launch.job import Job, KernelLaunch, Workspace
from ..launch.operands import Matrices, lines


def job(
    config: KernelConfig, product: Product, device: Device, memory: str = "cuda", concurrent: bool = False
) -> Job:
    """The job of a kernel on `device`, which its module in kernels/gemm makes; `memory` is "cuda" or, for the
    interpreter, "cpu".

    All launches of a job share one workspace and must follow one another. With `concurrent` each launcher has
    a workspace of its own, so that launches of two may run at once, and `check` sees none of them.

    Raises ScheduleError or PlanError where the schedule makes no plan that ends on this device's slots, and
    KernelError where the kernel cannot compute the product so, or the plan does not fit the GPU's memory.
    """
    check(config, product)
    module = import_module(f".{config.kernel.replace('-', '_')}", __package__)
    return module.job(config, product, device, memory, concurrent)


def simple_job(
    kernel: Any, ctas: int, config: KernelConfig, product: Product, values: dict[str, Any],
    workspace: Callable[[], Workspace] = dict, concurrent: bool = False, rows: np.ndarray | None = None,
    check: Callable[[Workspace], None] = lambda workspace: None, **more: Any,
) -> Job:  # fmt: skip
    """The job of a kernel; `rows` are by default the whole tiles in their order."""
    problem = config.problem(product)
    if rows is None:
        rows = segments(-1, rasterize(problem), 0, problem.k_steps)
    first = workspace()  # made here in any case, since that lays out the pool of stages.flags
    shared = {} if concurrent else first

    def launcher(matrices: Matrices, stamps: torch.Tensor | None = None) -> KernelLaunch:
        given = values | (shared or workspace())
        return kernel_launch(kernel, ctas, config, product, given, matrices, stamps, **more)

    return Job(rows, ctas, launcher, workspace, partial(check, shared))


def job_of(
    kernel: Any, values: Callable[[KernelConfig], Mapping[str, Any]] = lambda config: {},
    ctas: Callable[[KernelConfig, Problem, Device], int] = lambda config, problem, device: problem.tiles,
) -> Callable[..., Job]:  # fmt: skip
    """The `job` of a kernel that needs no workspace, with so many thread blocks."""

    def job(config: KernelConfig, product: Product, device: Device, *where: object) -> Job:
        blocks = ctas(config, config.problem(product), device)
        return simple_job(kernel, blocks, config, product, dict(values(config)))

    return job


STORE_WAIT_K_STEP = 1
"""The K-step of the next tile at whose top an overlapping kernel with stamps waits for its store of C. At 0
the wait costs 5 % of the time at 4096x4096x512, from 1 on 1 %; a store rarely ends before 1 and always before
2."""


def kernel_launch(
    kernel: Any, ctas: int, config: KernelConfig, product: Product, values: dict[str, Any],
    matrices: Matrices, stamps: torch.Tensor | None = None,
    make_descriptor: Callable[[torch.Tensor, list[int]], Any] = TensorDescriptor.from_tensor,
    boxes: Mapping[str, tuple[int, int]] | None = None,
) -> KernelLaunch:  # fmt: skip
    """A launch of a kernel, whose arguments up to K are tensors and sizes.

    `values`: arguments by name, and options of the launch. `boxes`: rows and columns of a, b and c that the
    kernel loads and stores at a time, where they are not a K-step's and an epilogue subtile's, and of others
    of the same matrices, such as b_rest. Raises KernelError for operands that it cannot take.
    """
    bm, bn, bk = config.tile
    order, _, group = config.order.partition(":")
    table = None
    if order not in ("row-major", "column-major", "grouped"):  # a table costs 3 % at 4096x4096x512
        table = torch.from_numpy(rasterize(config.problem(product))).to(matrices[0].device)
    known = dict(
        tile_order=table, stamps=stamps, M=product.m, N=product.n, K=product.k, BM=bm, BN=bn, BK=bk,
        ORDER=order, GROUP_M=int(group or 1), TMA=config.loads == "tma", RECORD=stamps is not None,
        STAGES=config.stages,
    )  # fmt: skip
    known = {name: value for name, value in known.items() if name in kernel.arg_names}
    blocks = {"a": (bm, bk), "b": (bk, bn), "c": (bm, bn // config.epilogue_subtiles)} | dict(boxes or {})
    if product.dtype == "tf32":
        known["PRECISION"] = "tf32"
    made_of = tuple("abc".index(name[0]) for name in blocks)
    for (name, block), matrix in zip(blocks.items(), made_of, strict=True):
        x = matrices[matrix]
        view, trans = lines(x) or (x, False)
        height, width = reversed(block) if trans else block
        if view.stride(1) != 1 or (name == "c" and not x.is_contiguous()):
            raise KernelError(
                f"{name.upper()}'s strides are {x.stride()}; A and B need a dense dimension, and C dense rows"
            )
        if trans:
            known[f"TRANS_{name[0].upper()}"] = True
        if config.loads == "tma":
            known[name] = make_descriptor(view, [height, width])
            continue
        if (height - 1) * view.stride(0) + width > 2**31:
            raise KernelError(
                f"{height} lines of {name.upper()} span 2^31 elements or more, which are too many for a tile"
            )
        known[name] = view
        if view.stride(0) != view.shape[1]:
            known[f"ld{name}"] = view.stride(0)
    if strange := known.keys() - set(kernel.arg_names):
        raise KernelError(
            f"{config.name} takes dense, row-major A and B and no tf32; it has no"
            f" {', '.join(sorted(strange))}"
        )
    given = {"num_warps": config.warps, "num_stages": config.stages} | values | known
    arguments = [given.pop(name) for name in kernel.arg_names[: kernel.arg_names.index("K") + 1]]
    return KernelLaunch(config, kernel, ctas, tuple(arguments), given, made_of)
