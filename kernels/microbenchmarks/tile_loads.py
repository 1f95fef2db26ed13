"""Loads of operand tiles into shared memory, one or more in flight, without any multiplication.

A stage is what a K-step of a product loads: a box of [BM, 64] and one of [BN, 64] in bf16, with rows of 128
bytes. A thread block has `stages` buffers and requests the next stage as soon as one arrives. "tma": one
thread requests a box from the TMA unit, and an mbarrier signals its arrival. "cp.async": 256 threads request
16 bytes at a time; a wait and a block barrier follow.
"""

from dataclasses import dataclass

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper
from triton.experimental.gluon.language.nvidia.ampere import async_copy

from ..errors import KernelError
from ..gemm.stages import descriptor, next_stage, tma_load
from ..probes.spin import clocks
from .stamping import Launch, block_barrier, read_stamps, stamp, stamp_buffer, sum_of_rounds

COLUMNS = 64
"""bf16 values per row: 128 bytes, the widest swizzle."""

WIDTH = gl.constexpr(COLUMNS)
WARPS = {"tma": 1, "cp.async": 8}


@gluon.jit
def next_row(row, left, round, groups, ROWS: gl.constexpr):
    """(first row of the stage after the one at `row`, stages left in this round)."""
    row += groups * ROWS
    left -= 1
    if left == 0:
        left = round
        row -= round * groups * ROWS
    return row, left


@gluon.jit
def added(smem):
    """The sum of a box's bits, 16 at a time."""
    by_thread: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [gl.num_warps(), 1], [1, 0])
    bits = smem.load(by_thread).to(gl.int16, bitcast=True).to(gl.int32)
    return gl.sum(gl.sum(bits, 1), 0)


@gluon.jit
def copy_box(x, row, smem, ROWS: gl.constexpr):
    """Request the box of ROWS rows that begins at `row`, 16 bytes per thread at a time."""
    by_thread: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [gl.num_warps(), 1], [1, 0])
    rows = gl.arange(0, ROWS, gl.SliceLayout(1, by_thread))
    columns = gl.arange(0, WIDTH, gl.SliceLayout(0, by_thread))
    corner = x + row.to(gl.int64) * WIDTH
    async_copy.async_copy_global_to_shared(smem, corner + (rows[:, None] * WIDTH + columns[None, :]))


@gluon.jit
def ask(a, b, row, smem_a, smem_b, full, BM: gl.constexpr, BN: gl.constexpr, TMA: gl.constexpr):
    """Request the stage that begins at `row`."""
    if TMA:
        hopper.mbarrier.expect(full, 2 * (BM + BN) * WIDTH)
        tma_load(a, [row, 0], full, smem_a)
        tma_load(b, [row + BM, 0], full, smem_b)
    else:
        copy_box(a, row, smem_a, BM)
        copy_box(a, row + BM, smem_b, BN)


@gluon.jit(do_not_specialize=["loads", "round"])
def load_stages(
    stamps, a, b, loads, round,
    BM: gl.constexpr, BN: gl.constexpr, STAGES: gl.constexpr, CHECKED: gl.constexpr, TMA: gl.constexpr,
):  # fmt: skip
    """Load `loads` stages of a dense matrix [rows, COLUMNS] in bf16. a and b are TMA descriptors of it with
    boxes of BM and BN rows, or both its address. CHECKED: sum all values."""
    layout_a: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BM, WIDTH], gl.bfloat16)
    layout_b: gl.constexpr = gl.NVMMASharedLayout.get_default_for([BN, WIDTH], gl.bfloat16)
    smem_a = gl.allocate_shared_memory(gl.bfloat16, [STAGES, BM, WIDTH], layout_a)
    smem_b = gl.allocate_shared_memory(gl.bfloat16, [STAGES, BN, WIDTH], layout_b)
    full = smem_a  # which cp.async does not use
    if TMA:
        full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], hopper.mbarrier.MBarrierLayout())
        for i in gl.static_range(STAGES):
            hopper.mbarrier.init(full.index(i), count=1)
        hopper.fence_async_shared()
    block_barrier()
    begin, begin_ns = clocks()
    groups = gl.num_programs(1)
    row = gl.program_id(1) * (BM + BN)
    left = round
    for i in range(gl.minimum(loads, STAGES) if TMA else STAGES):
        if TMA or i < loads:
            ask(a, b, row, smem_a.index(i), smem_b.index(i), full.index(i), BM, BN, TMA)
            row, left = next_row(row, left, round, groups, BM + BN)
        if not TMA:
            async_copy.commit_group()
    total = gl.to_tensor(0)
    stage = 0
    phase = 0
    for i in range(loads):
        if TMA:
            hopper.mbarrier.wait(full.index(stage), phase)
        else:
            async_copy.wait_group(STAGES - 1)
            block_barrier()
        if CHECKED:
            total += added(smem_a.index(stage)) + added(smem_b.index(stage))
            if TMA:
                hopper.fence_async_shared()
            block_barrier()
        if i + STAGES < loads:
            ask(a, b, row, smem_a.index(stage), smem_b.index(stage), full.index(stage), BM, BN, TMA)
            row, left = next_row(row, left, round, groups, BM + BN)
        if not TMA:
            async_copy.commit_group()
        stage, phase = next_stage(stage, phase, STAGES)
    stamp(stamps, begin, begin_ns, total)


@dataclass(frozen=True, slots=True)
class TileLoads:
    """Stages of BM and BN rows, `stages` of them in flight in each of `blocks` thread blocks. Each group of
    `together` neighbors repeats after `round` stages."""

    by: str
    tile: tuple[int, int]
    stages: int
    blocks: int
    round: int
    together: int = 1

    @property
    def stage_bytes(self) -> int:
        return sum(self.tile) * 2 * COLUMNS

    @property
    def footprint(self) -> int:
        """Bytes."""
        return self.stage_bytes * (self.blocks // self.together) * self.round


class TileLoading:
    """The memory of TileLoads, the first of `words`, int16, and launches over it."""

    def __init__(self, asked: TileLoads, words: torch.Tensor) -> None:
        self.asked = asked
        self.words = words[: asked.footprint // 2]
        self.sums = self.words.view(asked.round, -1).sum(dim=1).tolist()
        x = self.words.view(torch.bfloat16).view(-1, COLUMNS)
        tma = asked.by == "tma"
        self.operands = [descriptor(x, [rows, COLUMNS]) if tma else x for rows in asked.tile]

    def start(self, loads: int, checked: bool = False) -> torch.Tensor:
        """Launch `loads` stages per block; returns their stamps, yet to be written. `checked` sums them."""
        asked, stamps = self.asked, stamp_buffer(self.asked.blocks)
        bm, bn = asked.tile
        load_stages[(asked.together, asked.blocks // asked.together)](
            stamps, *self.operands, loads, asked.round, BM=bm, BN=bn, STAGES=asked.stages, CHECKED=checked,
            TMA=asked.by == "tma", num_warps=WARPS[asked.by],
        )  # fmt: skip
        return stamps

    def launch(self, loads: int) -> Launch:
        return read_stamps(self.start(loads).cpu().numpy())

    def check(self, loads: int) -> None:
        """Raise KernelError if the sum of all blocks' stages is wrong."""
        asked, seen = self.asked, read_stamps(self.start(loads, checked=True).cpu().numpy())
        if (seen.checksum - sum_of_rounds(self.sums, loads, asked.together)) % 2**32:
            raise KernelError(f"tiles of {asked.stage_bytes} bytes loaded by {asked.by} are wrong")
