"""The reduction ladder: five kernels that sum a vector, each improving on the previous one by one idea.

After Mark Harris, "Optimizing Parallel Reduction in CUDA" (NVIDIA, 2007), and, for the shuffles, Justin
Luitjens, "Faster Parallel Reductions on Kepler" (NVIDIA, 2014). Each thread block sums its values of x [n],
and the kernel is launched again on these sums until one is left.

The two trees are PTX, because Triton's tile language turns tl.sum into shuffles, and Gluon turns its views of
shared memory into ldmatrix and stmatrix and makes threads without a pair repeat others' work.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import triton
import triton.language as tl

THREADS, WARPS = 256, 8
"""Threads per block, for which the trees are written, and their warps; each thread loads one value."""

ADDED = 8
"""Blocks of input that a thread block adds while loading, from `unrolled` on."""

BLOCK, LOADS = tl.constexpr(THREADS), tl.constexpr(ADDED)
"""The same in kernels."""

TREE = """{{
    .shared .align 4 .b32 held[256];
    .reg .pred mine, more;
    .reg .b32 tid, base, own, other, stride;
    .reg .f32 a, b;
    mov.u32 tid, %tid.x;
    mov.u32 base, held;
    mad.lo.u32 own, tid, 4, base;
    st.shared.f32 [own], $1;
    mov.u32 stride, {first};
    level:
    bar.sync 0;
    {pair}
    mad.lo.u32 other, stride, 4, own;
    @mine ld.shared.f32 a, [own];
    @mine ld.shared.f32 b, [other];
    @mine add.f32 a, a, b;
    @mine st.shared.f32 [own], a;
    {following}
    @more bra level;
    setp.eq.u32 mine, tid, 0;
    @mine st.global.f32 [$2], a;
    mov.u32 $0, 0;
    }}"""
"""A tree over one word of each thread: its first stride; whether a thread has a pair at a stride, and where;
and the following stride, if there is more to add."""

NEIGHBORS = tl.constexpr(
    TREE.format(
        first=1,
        pair="""mul.lo.u32 own, tid, stride;
    shl.b32 own, own, 1;
    setp.lt.u32 mine, own, 256;
    mad.lo.u32 own, own, 4, base;""",
        following="shl.b32 stride, stride, 1; setp.lt.u32 more, stride, 256;",
    )
)

HALVES = tl.constexpr(
    TREE.format(
        first=128,
        pair="setp.lt.u32 mine, tid, stride;",
        following="shr.u32 stride, stride, 1; setp.ne.u32 more, stride, 0;",
    )
)


@triton.jit
def add_up(value, total, TREE: tl.constexpr):
    """Store the sum of value [THREADS] at `total`, by a TREE."""
    tl.inline_asm_elementwise(
        TREE, "=r,f,l", [value, total.to(tl.int64)], dtype=tl.int32, is_pure=False, pack=1
    )


@triton.jit
def load(x, first, n):
    """x[first : first + THREADS], one value per thread, zeros from n on."""
    offsets = first + tl.arange(0, BLOCK)
    return tl.load(x + offsets, mask=offsets < n, other=0.0)  # [THREADS]


@triton.jit
def load_and_add(x, first, n):
    """The sum of ADDED blocks of input from `first` on, thread by thread. A thread has all its loads in
    flight before the first addition needs a value."""
    value = load(x, first, n)  # [THREADS]
    for i in tl.static_range(1, LOADS):
        value += load(x, first + i * BLOCK, n)
    return value


# x: fp32 [n]. sums: fp32 [blocks], written: each of as many values as the step's `values_per_block`.


@triton.jit(do_not_specialize=["n"])
def interleaved(x, sums, n):
    """At stride s, from 1 to 128, thread t adds word 2st + s to word 2st, so a warp's addresses are 2s words
    apart and fall into few of the 32 banks. One operand of the whole tree takes 47 wavefronts."""
    block = tl.program_id(0)
    add_up(load(x, block.to(tl.int64) * BLOCK, n), sums + block, NEIGHBORS)


@triton.jit(do_not_specialize=["n"])
def sequential(x, sums, n):
    """At stride s, from 128 down to 1, thread t adds word t + s to word t. A warp reads 32 adjacent words,
    one from each bank, and warps without a pair touch no memory. One operand takes 12 wavefronts."""
    block = tl.program_id(0)
    add_up(load(x, block.to(tl.int64) * BLOCK, n), sums + block, HALVES)


@triton.jit(do_not_specialize=["n"])
def unrolled(x, sums, n):
    block = tl.program_id(0)
    add_up(load_and_add(x, block.to(tl.int64) * (LOADS * BLOCK), n), sums + block, HALVES)


@triton.jit(do_not_specialize=["n"])
def shuffles(x, sums, n):
    """tl.sum becomes shfl.sync.bfly, five for the lanes and, through shared memory, three for the warps."""
    block = tl.program_id(0)
    value = load_and_add(x, block.to(tl.int64) * (LOADS * BLOCK), n)  # [THREADS]
    tl.store(sums + block, tl.sum(value, 0))


@triton.jit(do_not_specialize=["n"])
def multi_block(x, sums, n):
    """Two launches sum any length. Which block takes a value depends only on the number of blocks."""
    block = tl.program_id(0)
    chunk = LOADS * BLOCK
    value = tl.zeros((BLOCK,), tl.float32)
    for first in range(block.to(tl.int64) * chunk, n, tl.num_programs(0).to(tl.int64) * chunk):
        value += load_and_add(x, first, n)
    tl.store(sums + block, tl.sum(value, 0))


@dataclass(frozen=True, slots=True)
class ReductionStep:
    """A kernel whose thread blocks sum `values_per_block` values each, at a time if only one `wave` runs.
    `why`: how it improves on the previous step, in a sentence."""

    name: str
    why: str
    kernel: Any
    values_per_block: int
    wave: bool = False


STEPS = (
    ReductionStep(
        "interleaved", "a tree in shared memory adds neighbors first, so that up to eight lanes share a bank",
        interleaved, THREADS,
    ),
    ReductionStep(
        "sequential", "the tree adds halves, so that a warp reads adjacent words and no lanes share a bank",
        sequential, THREADS,
    ),
    ReductionStep(
        "unrolled",
        f"each thread block adds {ADDED} blocks of input while loading, and needs one tree for all",
        unrolled, ADDED * THREADS,
    ),
    ReductionStep(
        "shuffles", "lanes exchange their sums in registers, with two barriers instead of the tree's eight",
        shuffles, ADDED * THREADS,
    ),
    ReductionStep(
        "multi-block",
        "one wave of thread blocks strides over the whole input, and one block adds up their sums",
        multi_block, ADDED * THREADS, wave=True,
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Summing:
    """A vector's sum as launches: `launch()` writes all of `sums`, of which the last is the total."""

    launch: Callable[[], None]
    sums: torch.Tensor
    stages: int = 1


def launches(step: ReductionStep, n: int, slots: int) -> list[tuple[int, int]]:
    """(values, thread blocks) of each launch that sums n values if `slots` blocks run at once."""
    made = []
    while not made or n > 1:
        blocks = -(-n // step.values_per_block)
        if step.wave:
            blocks = 1 if made else min(blocks, slots)
        made.append((n, blocks))
        n = blocks
    return made


def summing(step: ReductionStep, x: torch.Tensor, slots: int) -> Summing:
    """The sum of x [n], fp32 and dense, by the kernel of `step`, with memory for the sums of `launches`."""
    made = launches(step, len(x), slots)
    sums = torch.empty(sum(blocks for _, blocks in made), dtype=torch.float32, device=x.device)
    stages = sums.split([blocks for _, blocks in made])
    calls = [
        partial(step.kernel[(blocks,)], source, stage, n, num_warps=WARPS)
        for (n, blocks), source, stage in zip(made, (x, *stages), stages, strict=False)
    ]

    def launch() -> None:
        for call in calls:
            call()

    return Summing(launch, sums, len(calls))
