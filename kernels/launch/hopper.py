"""From a product to launches of the kernels that only sm_90 can run: specialised and ping_pong."""

from dataclasses import replace
from typing import Any

import torch
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from tilesim.problems import Problem

from ..errors import KernelError
from ..gemm.ping_pong import ping_pong
from ..gemm.specialised import specialised
from ..gemm.tile_ops import INTERPRETED
from .job import operands_of
from .operands import Matrices
from .variants import Variant, no_tma

DTYPES = {torch.float16: gl.float16, torch.bfloat16: gl.bfloat16}
"""wgmma takes 16-bit operands in either major order; others would have to be stored along K."""

GROUP_WARPS = 4
"""Of a warpgroup, each of whose warps has 16 rows of a wgmma's sums (PTX ISA 9.0, section 9.7.15)."""

MOST_COLUMNS = 256
"""Of a wgmma's accumulator (same place)."""

MOST_SUMS = 128
"""fp32 accumulators of a thread, beside which an epilogue has registers enough."""

ROOM = 227 * 1024
"""Bytes of shared memory that a thread block can have on sm_90 (CUDA C++ Programming Guide, table 30)."""

BARRIERS = 1024
"""Bytes set aside for barriers and what Triton itself keeps in shared memory."""


def require(what: Variant, problem: Problem) -> None:
    """Raise KernelError where `what` cannot compute `problem` here."""
    why = _why_not(what, problem)
    if why:
        raise KernelError(why)
    if ring(what, problem) > ROOM:
        raise KernelError(
            f"{what.kernel} needs {ring(what, problem)} bytes of shared memory for {what.stages} stages of"
            f" {'x'.join(map(str, problem.tile))}, and sm_90 has {ROOM}; take fewer stages or smaller tiles"
        )
    if INTERPRETED:
        raise KernelError(f"{what.kernel} is written in Gluon, which Triton's interpreter cannot run")
    if torch.cuda.get_device_capability()[0] != 9:
        raise KernelError(
            f"{what.kernel} needs wgmma, which {torch.cuda.get_device_name()} has not: sm_90 alone"
        )
    why = no_tma(problem)
    if why:
        raise KernelError(f"{what.kernel} loads by TMA alone, and {why}")


def can_multiply(what: Variant, problem: Problem) -> bool:
    """Whether tile, warps and dtype are such that wgmma can do it, wherever it is."""
    return not _why_not(what, problem)


def _why_not(what: Variant, problem: Problem) -> str:
    bm, bn, _ = problem.tile
    together = what.kernel == "specialised"
    warps = what.warps if together else GROUP_WARPS  # that share a tile
    least = 16 if together else 64
    if problem.dtype not in ("fp16", "bf16"):
        return f"{what.kernel} multiplies fp16 and bf16; the problem's dtype is {problem.dtype}"
    if what.warps != 8 and not (together and what.warps == 4):
        allowed = "4 or 8" if together else "8, four in each group"
        return f"{what.kernel} has {what.warps} multiplying warps; it must be {allowed}"
    if bm % (16 * warps) or not least <= bn <= MOST_COLUMNS or bm * bn > MOST_SUMS * 32 * warps:
        return (
            f"{what.kernel} with {what.warps} warps cannot sum tiles of {bm}x{bn}; tile_m must be a multiple"
            f" of {16 * warps}, tile_n {least} to {MOST_COLUMNS}, and a tile has at most"
            f" {MOST_SUMS * 32 * warps} elements"
        )
    return ""


def parts(what: Variant, problem: Problem) -> int:
    """In how many parts a tile goes through its room: as few as fit beside the ring."""
    if what.kernel == "ping-pong":
        return 4
    return 1 if _bytes(what, problem, 1) <= ROOM else 2


def ring(what: Variant, problem: Problem) -> int:
    """Bytes of shared memory of a thread block."""
    return _bytes(what, problem, parts(what, problem))


def stages_that_fit(what: Variant, problem: Problem, room: int = ROOM) -> int:
    """As many stages as `room` bytes of shared memory hold, 0 where it holds none."""
    stages = 0
    while ring(replace(what, stages=stages + 1), problem) <= room:
        stages += 1
    return stages


def _bytes(what: Variant, problem: Problem, parts: int) -> int:
    bm, bn, bk = problem.tile
    rooms = 4 if what.kernel == "ping-pong" else 1
    return 2 * (what.stages * (bm + bn) * bk + rooms * bm * bn // parts) + BARRIERS


def call(
    what: Variant, problem: Problem, matrices: Matrices
) -> tuple[Any, list[TensorDescriptor], dict[str, Any]]:
    """The kernel, its descriptors of A, B and C, and its constants and options.

    Raises KernelError for matrices that its descriptors cannot describe.
    """
    if what.loads != "tma":
        raise KernelError(f"{what.kernel} loads by TMA alone, and these operands it cannot load")
    bm, bn, bk = problem.tile
    share = parts(what, problem)
    kernel = specialised if what.kernel == "specialised" else ping_pong
    operands, layout = operands_of(replace(what, parts=share), problem, kernel, matrices, descriptor)
    constants = layout | dict(BM=bm, BN=bn, BK=bk, STAGES=what.stages, launch_pdl=True)
    if what.kernel == "specialised":
        return kernel, operands, constants | dict(PARTS=share, num_warps=what.warps)
    return kernel, operands, constants | dict(num_warps=GROUP_WARPS)


def descriptor(x: torch.Tensor, box: list[int]) -> TensorDescriptor:
    """A TMA descriptor of x in boxes [rows, columns], in the layout that wgmma reads."""
    return TensorDescriptor.from_tensor(x, box, gl.NVMMASharedLayout.get_default_for(box, DTYPES[x.dtype]))
