"""From a product to launches of the kernels that only sm_90 can run: specialised and ping_pong."""

import re
from dataclasses import replace
from typing import Any

import torch
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from tilesim.choice.candidates import Candidate
from tilesim.choice.kernels import PIECE
from tilesim.choice.sharing import early, grid
from tilesim.devices.device import Device
from tilesim.devices.facts import REFERENCE
from tilesim.devices.hardware import Hardware
from tilesim.problems import Problem
from tilesim.schedules.stream_k import grid_size
from tilesim.variants import Variant

from ..errors import KernelError
from ..gemm.ping_pong import ping_pong
from ..gemm.specialised import specialised
from ..gemm.tile_ops import INTERPRETED
from .job import operands_of
from .layouts import layout as layout_of
from .layouts import lines
from .operands import DTYPES as OPERANDS
from .operands import RESULTS, Matrices
from .variants import THREE_GROUPS, no_tma

DTYPES = {torch.float16: gl.float16, torch.bfloat16: gl.bfloat16, torch.float8_e4m3fn: gl.float8e4nv}
"""wgmma takes 16-bit operands in either major order; fp8 must lie along K."""

SCHEDULES = re.compile(r"persistent|stream-k(:[1-9]\d{0,5})?|stream-k-hybrid(:2)?")
"""What `specialised` runs."""

WARPGROUP_WARPS = 4
"""Warps of a warpgroup; each holds 16 rows of a wgmma's accumulator (PTX ISA 9.0, section 9.7.15)."""

MAX_WGMMA_N = 256
"""Columns of a wgmma's accumulator (PTX ISA 9.0, section 9.7.15)."""

MAX_GROUP_N = 192
"""Columns of tiles that three groups sum, whose threads have fewer registers."""

WGMMA_M = 64
"""Rows of a wgmma's accumulator, over the warps of a warpgroup."""

MAX_ACCUMULATORS = 128
"""fp32 accumulators of a thread; with more, an epilogue runs out of registers."""

SMEM_BYTES = 227 * 1024
"""Shared memory that a thread block can have on sm_90 (CUDA C++ Programming Guide, table 30)."""

BARRIER_BYTES = 1024
"""Shared memory set aside for mbarriers and for what Triton itself keeps there."""


def require(variant: Variant, problem: Problem) -> None:
    """Raise KernelError where `variant` cannot compute `problem` here."""
    why = _why_not(variant, problem)
    if why:
        raise KernelError(why)
    needed = smem_bytes(variant, problem)
    if needed > SMEM_BYTES:
        raise KernelError(
            f"{variant.kernel} needs {needed} bytes of shared memory for {variant.stages} stages of"
            f" {'x'.join(map(str, problem.tile))}, and sm_90 has {SMEM_BYTES}; take fewer stages or smaller"
            " tiles"
        )
    if INTERPRETED:
        raise KernelError(f"{variant.kernel} is written in Gluon, which Triton's interpreter cannot run")
    if torch.cuda.get_device_capability()[0] != 9:
        raise KernelError(
            f"{variant.kernel} needs wgmma, which {torch.cuda.get_device_name()} has not: sm_90 alone"
        )
    why = no_tma(problem)
    if why:
        raise KernelError(f"{variant.kernel} loads by TMA alone, and {why}")


def can_multiply(variant: Variant, problem: Problem) -> bool:
    """Whether wgmma can compute such a tile with such warps in such a dtype, on any GPU that has it."""
    return not _why_not(variant, problem)


def swapped(problem: Problem) -> bool:
    """Whether `specialised` computes the transposed tile: where it has fewer rows than a wgmma."""
    return problem.tile_m < WGMMA_M


def groups(problem: Problem) -> int:
    """Consumer groups of `specialised`: as many partitions of warps, each with its own rows of the tile."""
    return 3 if problem.tile_m == THREE_GROUPS else 1


def rest(problem: Problem) -> int:
    """Columns of a tile beyond the largest power of two, which `specialised` sums by themselves."""
    return problem.tile_n - (1 << problem.tile_n.bit_length() - 1)


def _why_not(variant: Variant, problem: Problem) -> str:
    bm, bn, _ = problem.tile
    cooperative = variant.kernel == "specialised"
    warps = variant.warps if cooperative else WARPGROUP_WARPS  # that share a tile
    least = 16 if cooperative else 64
    if problem.dtype not in ("fp16", "bf16", "fp8"):
        return f"{variant.kernel} multiplies fp16, bf16 and fp8; the problem's dtype is {problem.dtype}"
    if variant.warps != 8 and not (cooperative and variant.warps == 4):
        allowed = "4 or 8" if cooperative else "8, four in each group"
        return f"{variant.kernel} has {variant.warps} multiplying warps; it must be {allowed}"
    swap = cooperative and swapped(problem)
    if rest(problem) and (not cooperative or swap or variant.schedule != "persistent"):
        return f"tile_n is {bn}, which `specialised` alone can have, on whole tiles of 64 rows or more"
    rows, columns = (bn, bm) if swap else (bm, bn)
    if cooperative and groups(problem) == 3:
        if warps != 4 or not 64 <= bn <= MAX_GROUP_N:
            return (
                f"{variant.kernel} sums tiles of {THREE_GROUPS} rows by three groups of 4 warps, with tile_n"
                f" 64 to {MAX_GROUP_N}; this one has {warps} warps and tile_n {bn}"
            )
    elif (
        rows % (16 * warps) or not least <= columns <= MAX_WGMMA_N or bm * bn > MAX_ACCUMULATORS * 32 * warps
    ):
        m, n = ("tile_n", "tile_m") if swap else ("tile_m", "tile_n")
        return (
            f"{variant.kernel} with {variant.warps} warps cannot sum tiles of {bm}x{bn}; {m} must be a"
            f" multiple of {16 * warps}, {n} {least} to {MAX_WGMMA_N}, and a tile has at most"
            f" {MAX_ACCUMULATORS * 32 * warps} elements"
        )
    if cooperative:
        return _why_not_scheduled(variant.schedule)
    return ""


def _why_not_scheduled(schedule: str) -> str:
    if SCHEDULES.fullmatch(schedule):
        return ""
    return f"specialised runs persistent, stream-k[:G] and stream-k-hybrid[:2]; the schedule is {schedule}"


def shared_tiles(variant: Variant, problem: Problem, device: Device) -> tuple[int, int]:
    """(tiles of the order that thread blocks share, thread blocks): the schedule's plan in two numbers.

    Raises KernelError for more thread blocks than run at once, which wait for each other, or than K-steps.
    """
    slots = device.sms - device.busy_sms
    name, _, argument = variant.schedule.partition(":")
    waves, left = divmod(problem.tiles, slots)
    if name == "persistent" or (name == "stream-k-hybrid" and waves and not left):
        return 0, min(problem.tiles, slots)
    if name == "stream-k-hybrid" and waves:
        return left + slots, slots
    if name == "stream-k" and argument:
        ctas = int(argument)
        if ctas > slots:
            raise KernelError(
                f"specialised has {ctas} thread blocks that wait for each other, and {slots} run at once"
            )
        if ctas > problem.tiles * problem.k_steps:
            raise KernelError(
                f"{variant.schedule} needs a K-step for each thread block, and {problem.m}x{problem.n}x"
                f"{problem.k} has {problem.tiles * problem.k_steps}"
            )
        return problem.tiles, ctas
    return problem.tiles, grid_size(problem, slots)


def epilogue_subtiles(variant: Variant, problem: Problem) -> int:
    """Epilogue subtiles of a tile: as few as fit into shared memory beside the stages."""
    if variant.kernel == "ping-pong":
        return 4
    if swapped(problem):
        return 1
    if rest(problem):
        return problem.tile_n // PIECE
    return 1 if _smem_bytes(variant, problem, 1) <= SMEM_BYTES else 2


def launched_early(variant: Variant, problem: Problem, device: Device) -> bool:
    """Whether it is launched while its predecessor ends; see tilesim.choice.sharing."""
    one = Candidate(variant, problem, residents=1)
    hardware = Hardware.named(device.name or REFERENCE, problem.dtype)
    return early(one, grid(one, device), device, hardware)


def smem_bytes(variant: Variant, problem: Problem) -> int:
    """Bytes of shared memory of a thread block."""
    return _smem_bytes(variant, problem, epilogue_subtiles(variant, problem))


def stages_that_fit(variant: Variant, problem: Problem, available: int = SMEM_BYTES) -> int:
    """As many stages as fit into so many bytes of shared memory."""
    stages = 0
    while smem_bytes(replace(variant, stages=stages + 1), problem) <= available:
        stages += 1
    return stages


def _smem_bytes(variant: Variant, problem: Problem, subtiles: int) -> int:
    bm, bn, bk = problem.tile
    buffers = 4 if variant.kernel == "ping-pong" else 2 if rest(problem) else 1
    stages = variant.stages * (bm + bn) * bk * OPERANDS[problem.dtype].itemsize
    return stages + buffers * bm * bn // subtiles * RESULTS[problem.dtype].itemsize + BARRIER_BYTES


def kernel_and_arguments(
    variant: Variant, problem: Problem, matrices: Matrices
) -> tuple[Any, list[TensorDescriptor | None], dict[str, Any]]:
    """The kernel, its first arguments, TMA descriptors of A, B and C, and its constants and launch options.

    Raises KernelError for matrices that TMA cannot load.
    """
    if variant.loads != "tma":
        raise KernelError(f"{variant.kernel} loads by TMA alone, and these operands it cannot load")
    bm, bn, bk = problem.tile
    subtiles = epilogue_subtiles(variant, problem)
    if problem.dtype == "fp8" and layout_of(*matrices[:2]) != "nt":
        raise KernelError(f"{variant.kernel} multiplies fp8 along K: A row-major and B column-major")
    if variant.kernel != "specialised":
        operands, layout = operands_of(
            replace(variant, epilogue_subtiles=subtiles), problem, ping_pong, matrices, descriptor
        )
        constants = layout | dict(BM=bm, BN=bn, BK=bk, STAGES=variant.stages)
        return ping_pong, operands, constants | dict(num_warps=WARPGROUP_WARPS)
    narrow = rest(problem)
    pieces = (bn - narrow) // PIECE if narrow else subtiles
    boxes = replace(problem, tile=(bm // groups(problem), bn - narrow, bk))
    operands, layout = operands_of(
        replace(variant, epilogue_subtiles=pieces), boxes, specialised, matrices, descriptor
    )
    operands.append(_narrow_box(matrices[1], bk, narrow) if narrow else None)
    constants = layout | dict(BM=bm, BN=bn, BK=bk, STAGES=variant.stages)
    constants |= dict(EPILOGUE_SUBTILES=subtiles, SWAP=swapped(problem), REST=narrow)
    constants |= dict(GROUPS=groups(problem), num_warps=variant.warps)
    return specialised, operands, constants


def _narrow_box(b: torch.Tensor, rows: int, columns: int) -> TensorDescriptor:
    """A TMA descriptor of B, which has lines, in boxes of so many of its rows and columns."""
    view, trans = lines(b) or (b, False)
    return descriptor(view, [columns, rows] if trans else [rows, columns])


def descriptor(x: torch.Tensor, block: list[int]) -> TensorDescriptor:
    """A TMA descriptor of x in boxes [rows, columns], in the layout that wgmma reads."""
    return TensorDescriptor.from_tensor(
        x, block, gl.NVMMASharedLayout.get_default_for(block, DTYPES[x.dtype])
    )
