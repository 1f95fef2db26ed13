"""From a kernel's name and a problem to a launch: which loads are possible, and with which constants."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import triton
from triton.tools.tensor_descriptor import TensorDescriptor

from tilesim.errors import unknown
from tilesim.orders import visit
from tilesim.problems import Problem

from ._errors import KernelError
from ._inputs import DTYPES, Matrices
from ._tiles import FORMULAS, INTERPRETED
from .naive import naive
from .persistent import persistent

KERNELS = {"naive": naive, "persistent": persistent}

TMA_BYTES = 16
"""TMA's row strides are multiples of this (CUDA driver API, cuTensorMapEncodeTiled)."""

LAG = 1
"""The K-step at whose top an overlapping kernel with stamps waits for its last store. At 0 it costs 5 % of
the time at 4096x4096x512, from 1 on 1 %; a store is rarely through before 1, and always before 2."""

MAX_SIZE = 2**30
"""Rows and columns are indexed with 32 bits."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run a schedule; a matched pair differs in `schedule` and `overlap` alone.

    `loads`: "tma" or "ptr". `overlap`: the next tile's loads fly during the epilogue (persistent only).
    `warps` a thread block has; `stages` of K-steps that its loads run ahead.
    """

    schedule: str
    loads: str = "tma"
    overlap: bool = False
    warps: int = 8
    stages: int = 3

    @property
    def name(self) -> str:
        """Such as "persistent-tma-overlap"."""
        return f"{self.schedule}-{self.loads}" + "-overlap" * self.overlap


VARIANTS = {
    v.name: v
    for loads in ("ptr", "tma")
    for v in (Variant("naive", loads), Variant("persistent", loads), Variant("persistent", loads, True))
}
"""Every kernel by its name, with the default warps and stages."""


def variant(schedule: str, loads: str, overlap: bool, warps: int, stages: int) -> Variant:
    """The variant that was asked for; naive has no next tile, so nothing to overlap with.

    Raises KernelError for a schedule that has no kernel, loads other than "tma" and "ptr", warps that are
    no power of two up to 32, or no stages.
    """
    if schedule not in KERNELS:
        raise KernelError(unknown("kernel for the schedule", schedule, KERNELS))
    if loads not in ("tma", "ptr"):
        raise KernelError(f"loads is {loads!r}; it must be 'tma' or 'ptr'")
    if warps not in (1, 2, 4, 8, 16, 32):
        raise KernelError(f"warps is {warps}; it must be a power of two up to 32")
    if stages < 1:
        raise KernelError(f"stages is {stages}; it must be at least 1")
    return Variant(schedule, loads, overlap and schedule == "persistent", warps, stages)


def on_this_machine(asked: Variant, problem: Problem) -> tuple[Variant, str]:
    """The variant that can run here, and one sentence why where it is not the one that was asked for."""
    why = no_tma(problem) if asked.loads == "tma" else ""
    return (replace(asked, loads="ptr"), why) if why else (asked, "")


def no_tma(problem: Problem) -> str:
    """Why TMA cannot load and store this problem's matrices here; empty where it can."""
    for name, size in (("K", problem.k), ("N", problem.n)):
        stride = size * DTYPES[problem.dtype].itemsize
        if stride % TMA_BYTES:
            return f"{name} = {size} makes rows of {stride} bytes, and TMA needs a multiple of {TMA_BYTES}"
    if not INTERPRETED and torch.cuda.get_device_capability() < (9, 0):
        return f"{torch.cuda.get_device_name()} has no TMA, which came with sm_90"
    return ""


def check(problem: Problem) -> None:
    """Raise KernelError unless the kernels can run `problem`."""
    if problem.dtype not in DTYPES:
        raise KernelError(f"the kernels multiply {', '.join(DTYPES)}; the problem's dtype is {problem.dtype}")
    for name, side in zip(("tile_m", "tile_n", "tile_k"), problem.tile, strict=True):
        if side < 16 or side & (side - 1):
            raise KernelError(f"{name} is {side}; a kernel's tile sides must be powers of two from 16")
    for name, size in (("M", problem.m), ("N", problem.n), ("K", problem.k)):
        if size > MAX_SIZE:
            raise KernelError(f"{name} is {size}; the kernels allow sizes up to {MAX_SIZE}")
    for name, rows, columns in (
        ("A", problem.tile_m, problem.k), ("B", problem.tile_k, problem.n), ("C", problem.tile_m, problem.n),
    ):  # fmt: skip
        if rows * columns >= 2**31:
            raise KernelError(
                f"{rows} rows of {name} have {rows * columns} elements; 2^31 or more are too many"
            )


def launcher(
    what: Variant,
    problem: Problem,
    matrices: Matrices,
    ctas: int,
    stamps: torch.Tensor | None = None,
    lag: int = LAG,
) -> Callable[[], None]:
    """A function that launches once: C = A · B, and its stamps where a place for them is given.

    `ctas`: how many thread blocks a persistent kernel has; naive has one per tile.
    `stamps`: int64 [tiles, WORDS], zero; see _clock.

    Launching raises KernelError where the tile needs more shared memory than the GPU has, or where this
    Triton cannot compile the kernel for it.
    """
    order, _, group = problem.order.partition(":")
    bm, bn, bk = problem.tile
    boxes = ((bm, bk), (bk, bn), (bm, bn))
    operands = list(matrices)
    if what.loads == "tma":
        operands = [
            TensorDescriptor.from_tensor(x, list(box)) for x, box in zip(matrices, boxes, strict=True)
        ]
    table = None if order in FORMULAS else torch.from_numpy(visit(problem)).to(matrices[0].device)
    constants = dict(
        BM=bm, BN=bn, BK=bk, ORDER=order, GROUP=int(group or 1), TMA=what.loads == "tma",
        RECORD=stamps is not None, num_warps=what.warps, num_stages=what.stages,
    )  # fmt: skip
    if what.schedule == "persistent":
        constants |= dict(OVERLAP=what.overlap, LAG=lag if what.overlap else 0)
    grid = (ctas if what.schedule == "persistent" else problem.tiles,)
    kernel = KERNELS[what.schedule]

    def launch() -> None:
        try:
            kernel[grid](*operands, table, stamps, problem.m, problem.n, problem.k, **constants)
        except triton.runtime.errors.OutOfResources as short:
            raise KernelError(
                f"tiles of {bm}x{bn}x{bk} in {problem.dtype} with {what.stages} stages need {short.required}"
                f" of {short.name}, and this GPU has {short.limit}; take smaller tiles or fewer stages"
            ) from None
        except RuntimeError as failed:
            if "PassManager" not in str(failed):
                raise
            version = f"Triton {triton.__version__}"
            raise KernelError(f"{version} cannot compile {what.name} for {problem} on this GPU") from None

    return launch
