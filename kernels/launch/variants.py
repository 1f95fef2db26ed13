"""Which kernels there are, and which of them can run a problem on this machine."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from tilesim.choice.kernels import BETWEEN
from tilesim.errors import shown, unknown, whole
from tilesim.problems import Problem
from tilesim.variants import LOADS, OWN, PLANNED, Variant

from ..errors import KernelError
from ..gemm.tile_ops import INTERPRETED
from .layouts import lines
from .operands import DTYPES, RESULTS

OWN_SCHEDULES = ("naive", "persistent")
"""The schedules that have a kernel of their own; the kernel `planned` runs any."""

WARPS = (1, 2, 4, 8, 16, 32)
MAX_STAGES = 32
"""K-steps that loads may run ahead; beyond six nothing was ever faster."""

TMA_BYTES = 16
"""TMA's addresses and row strides are multiples of this (CUDA driver API, cuTensorMapEncodeTiled)."""

FP8_CAPABILITY = (8, 9)
"""The compute capability whose tensor cores first multiply fp8 (CUDA C++ Programming Guide)."""

THREE_GROUPS = 192
"""The one tile_m that is no power of two, of `specialised` alone: a wgmma's rows for each of three groups."""

TWO_PARTS = tuple(BETWEEN)
"""Each tile_n that is no power of two, of `specialised` alone: 64 or 128 columns, and 32 or 64 more."""

MAX_SIZE = 2**30
"""Rows and columns are indexed with 32 bits."""


VARIANTS = {
    v.name: v
    for loads in ("ptr", "tma")
    for v in (Variant("naive", loads), Variant("persistent", loads), Variant("persistent", loads, True))
} | {"persistent-tma-overlap-split": Variant("persistent", overlap=True, stages=4, epilogue_subtiles=2)}
"""Every kernel of a schedule's own by its name, with the default warps and stages."""


UNSTAMPED = {
    "element": Variant("naive", "ptr", False, 1, 1, "element"),
    "uncoalesced": Variant("naive", "ptr", False, 8, 1, "uncoalesced"),
    "specialised": Variant("persistent", "tma", True, 8, 4, "specialised"),
    "ping-pong": Variant("persistent", "tma", True, 8, 6, "ping-pong"),
    "skinny": Variant("naive", "tma", False, 4, 5, "skinny"),
}
"""Kernels that cannot be recorded, by name, each with the warps and stages that suit its usual tile; the
warps of specialised and ping-pong are those that multiply."""

SCHEDULED = ("specialised",)
"""Those of them that run several schedules."""


def checked_variant(
    schedule: str,
    loads: str,
    overlap: bool,
    warps: int,
    stages: int,
    kernel: str = OWN,
    epilogue_subtiles: int = 1,
) -> Variant:
    """The variant of these values, which may come from a file; naive does not overlap whatever is asked.

    Raises KernelError for a schedule that has no kernel of its own where that was asked for, loads other than
    LOADS, warps other than WARPS, stages other than 1 to MAX_STAGES, or subtiles other than 1 and 2.
    """
    kernels = [OWN, PLANNED, *UNSTAMPED]
    for name, value in (("kernel", kernel), ("schedule", schedule), ("loads", loads)):
        if not isinstance(value, str):
            raise KernelError(f"{name} is {shown(value)}; it must be a text")
    if kernel not in kernels:
        raise KernelError(unknown("kernel", kernel, kernels))
    if kernel == OWN and schedule not in OWN_SCHEDULES:
        raise KernelError(
            f"{unknown('kernel for the schedule', schedule, OWN_SCHEDULES)}; the kernel '{PLANNED}' runs any"
        )
    if loads not in LOADS:
        raise KernelError(f"loads is {shown(loads)}; it must be {' or '.join(map(repr, LOADS))}")
    if not isinstance(overlap, bool):
        raise KernelError(f"overlap is {shown(overlap)}; it must be true or false")
    if whole("warps", warps, 1, WARPS[-1], KernelError) not in WARPS:
        raise KernelError(f"warps is {warps}; it must be a power of two up to {WARPS[-1]}")
    whole("stages", stages, 1, MAX_STAGES, KernelError)
    whole("epilogue_subtiles", epilogue_subtiles, 1, 2, KernelError)
    if kernel in UNSTAMPED:
        scheduled = schedule if kernel in SCHEDULED else UNSTAMPED[kernel].schedule
        return replace(UNSTAMPED[kernel], schedule=scheduled, warps=warps, stages=stages)
    overlap = overlap and (kernel == PLANNED or schedule == "persistent")
    return Variant(schedule, loads, overlap, warps, stages, kernel, epilogue_subtiles if overlap else 1)


def on_this_machine(
    asked: Variant, problem: Problem, operands: Sequence[torch.Tensor] = ()
) -> tuple[Variant, str]:
    """(the variant that can run here, why it is not the one asked for): the reason is a sentence, or empty.

    `operands`: A and B, where they are not row-major and dense at an address that torch allocated.
    """
    why = no_tma(problem, operands) if asked.loads == "tma" else ""
    return (replace(asked, loads="ptr"), why) if why else (asked, "")


def no_tma(problem: Problem, operands: Sequence[torch.Tensor] = ()) -> str:
    """Why TMA cannot load and store this problem's matrices here; empty where it can."""
    rows = {} if operands else {"K": (problem.k, DTYPES), "N": (problem.n, DTYPES)}
    for name, (size, kinds) in [*rows.items(), ("N", (problem.n, RESULTS))]:
        stride = size * kinds[problem.dtype].itemsize
        if stride % TMA_BYTES:
            return f"{name} = {size} makes rows of {stride} bytes, and TMA needs a multiple of {TMA_BYTES}"
    for name, x in zip("AB", operands, strict=False):
        view, _ = lines(x) or (x, False)
        stride = view.stride(0) * view.element_size()
        if stride % TMA_BYTES or view.stride(0) < view.shape[1]:
            return f"{name}'s lines begin {stride} bytes apart, and TMA needs a multiple of {TMA_BYTES}"
        if view.data_ptr() % TMA_BYTES:
            return f"{name}'s address is no multiple of {TMA_BYTES} bytes, and TMA needs one"
    if not INTERPRETED and torch.cuda.get_device_capability() < (9, 0):
        return f"{torch.cuda.get_device_name()} has no TMA, which came with sm_90"
    return ""


def check(problem: Problem) -> None:
    """Raise KernelError unless the kernels can run `problem`."""
    if problem.dtype not in DTYPES:
        raise KernelError(f"the kernels multiply {', '.join(DTYPES)}; the problem's dtype is {problem.dtype}")
    if problem.dtype == "fp8" and not INTERPRETED and torch.cuda.is_available():
        capability = torch.cuda.get_device_capability()
        if capability < FP8_CAPABILITY:
            raise KernelError(
                f"{torch.cuda.get_device_name()} is sm_{capability[0]}{capability[1]}, which cannot multiply"
                " fp8; that came with sm_89"
            )
    for name, side in zip(("tile_m", "tile_n", "tile_k"), problem.tile, strict=True):
        allowed = {"tile_m": (THREE_GROUPS,), "tile_n": TWO_PARTS}.get(name, ())
        if side < 16 or (side & (side - 1) and side not in allowed):
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
