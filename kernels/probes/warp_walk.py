"""warp_walk: where each warp of a thread block is in its program, and which warps share a part of their SM.

A warp walks through PARTS and reads the clock of its SM after each, behind a branch that waits for what the
part made. The barrier at the end counts warps, as a warp may read the clock before a barrier without a result
lets it go on. Warps that share a part of an SM share its scheduler, which issues one instruction a cycle.
"""

import numpy as np
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from ..errors import KernelError
from .spin import loop

PARTS = ("load", "multiply", "load", "multiply", "wait for all")
WARPS, MULTIPLIES = 8, 256
CLOCKS = len(PARTS) + 1
FACTOR, TERM = 0.75, 0.125
"""A multiply: x = FACTOR x + TERM, which fp32 holds exactly."""

TOLERANCE = 1e-5
LINE_WORDS, SECOND_LINE = 1024, 512
"""fp32 from one warp's first line to the next warp's, and from its first line to its second."""

_LOAD = """ld.volatile.global.f32 y, [from + {offset}];
        add.f32 x, x, y;
        setp.gt.f32 never, x, 0f7F000000;
        @never bra over;
        mov.u64 t{at}, %clock64;"""
_FOUR = "fma.rn.f32 x, x, 0f3F400000, 0f3E000000;" * 4
_MULTIPLY = """{turns}
        setp.gt.f32 never, x, 0f7F000000;
        @never bra over;
        mov.u64 t{at}, %clock64;"""
WALK = f"""{{
        .reg .pred first, never, on;
        .reg .b32 tid, cta, warp, lane, row, left;
        .reg .b64 at, from, t0, t1, t2, t3, t4, t5;
        .reg .f32 x, y;
        mov.u64 t0, %clock64;
        mov.u32 tid, %tid.x;
        mov.u32 cta, %ctaid.x;
        shr.u32 warp, tid, 5;
        and.b32 lane, tid, 31;
        mad.lo.u32 row, cta, {WARPS}, warp;
        mad.wide.u32 from, row, {4 * LINE_WORDS}, $2;
        mad.wide.u32 from, lane, 4, from;
        mov.f32 x, 0f00000000;
        {_LOAD.format(offset=0, at=1)}
        {_MULTIPLY.format(turns=loop(_FOUR, MULTIPLIES // 4, "again2"), at=2)}
        {_LOAD.format(offset=4 * SECOND_LINE, at=3)}
        {_MULTIPLY.format(turns=loop(_FOUR, MULTIPLIES // 4, "again4"), at=4)}
        setp.eq.u32 on, left, 0;
        bar.red.popc.u32 left, 0, on;
        setp.ne.u32 never, left, {32 * WARPS};
        @never bra over;
        mov.u64 t5, %clock64;
        mad.wide.u32 at, row, {8 * CLOCKS}, $1;
        setp.eq.u32 first, lane, 0;
        @first st.global.v2.u64 [at], {{t0, t1}};
        @first st.global.v2.u64 [at + 16], {{t2, t3}};
        @first st.global.v2.u64 [at + 32], {{t4, t5}};
        over:
        mad.lo.u32 row, row, 32, lane;
        mad.wide.u32 at, row, 4, $3;
        st.global.f32 [at], x;
        mov.u32 $0, 0;
        }}"""


@gluon.jit
def walk(stamps, data, out, ASM: gl.constexpr):
    """Each warp walks through PARTS. stamps: int64 [blocks, WARPS, CLOCKS]. data: fp32, LINE_WORDS for each
    warp. out: fp32 [blocks, WARPS, 32], what each lane made."""
    at = [stamps.to(gl.int64), data.to(gl.int64), out.to(gl.int64)]
    gl.inline_asm_elementwise(ASM, "=r,l,l,l", at, dtype=gl.int32, is_pure=False, pack=1)


def walked(launches: int, blocks: int) -> np.ndarray:
    """When warps were through with each part, in cycles of their SM from the block's first: int64 [launches *
    blocks, WARPS, CLOCKS]. Raises KernelError where a warp made something else than its reference in
    float64."""
    data = torch.rand(blocks * WARPS, LINE_WORDS, device="cuda")
    out = torch.empty(blocks, WARPS, 32, device="cuda")
    stamps = torch.zeros(launches, blocks, WARPS, CLOCKS, dtype=torch.int64, device="cuda")
    sweep = torch.zeros(2 * torch.cuda.get_device_properties().L2_cache_size, dtype=torch.int8, device="cuda")
    for run in stamps:
        sweep.add_(1)  # so that the lines come from far
        walk[(blocks,)](run, data, out, ASM=WALK, num_warps=WARPS)
    _check(out.cpu().numpy().reshape(-1, 32), reference(data.cpu().numpy()))
    seen = stamps.cpu().numpy().reshape(-1, WARPS, CLOCKS)
    return seen - seen[:, :, :1].min(axis=1, keepdims=True)


def reference(data: np.ndarray) -> np.ndarray:
    """What the lanes of each warp make of data [warps, LINE_WORDS]: float64 [warps, 32]."""
    x = np.zeros((len(data), 32))
    for first in SECOND_LINE * np.arange(2):
        x += data[:, first : first + 32]
        for _ in range(MULTIPLIES):
            x = FACTOR * x + TERM
    return x


CHAINS, TURNS = 8, 512
"""Multiplies that wait for none of the others, and how often each is done."""

PARTNERS = 16
"""Warps of the block of which two work."""

_CHAINS = "".join(f"fma.rn.f32 x{i}, x{i}, 0f3F400000, 0f3E000000;\n" for i in range(CHAINS))
_SUM = "".join(f"add.f32 x0, x0, x{i};\n" for i in range(1, CHAINS))
MULTIPLY_BESIDE = f"""{{
        .reg .pred on, mine;
        .reg .b32 tid, warp, left;
        .reg .b64 at, t0, t1;
        .reg .f32 {", ".join(f"x{i}" for i in range(CHAINS))};
        mov.u32 tid, %tid.x;
        shr.u32 warp, tid, 5;
        setp.eq.u32 mine, warp, 0;
        setp.eq.or.u32 mine, warp, $2, mine;
        bar.sync 0;
        @!mine bra over;
        cvt.rn.f32.u32 x0, tid;
        {" ".join(f"mov.f32 x{i}, x0;" for i in range(1, CHAINS))}
        mov.u64 t0, %clock64;
        {loop(_CHAINS * 8, TURNS // 8)}
        mov.u64 t1, %clock64;
        {_SUM}
        sub.u64 t1, t1, t0;
        mad.wide.u32 at, tid, 16, $1;
        st.global.u64 [at], t1;
        st.global.f32 [at + 8], x0;
        over:
        mov.u32 $0, 0;
        }}"""


@gluon.jit(do_not_specialize=["partner"])
def multiply_beside(stamps, partner, ASM: gl.constexpr):
    """Warp 0 and the partner multiply, and the others leave. stamps: int64 [threads, 2], cycles and, as fp32,
    the sum of the chains."""
    gl.inline_asm_elementwise(
        ASM, "=r,l,r", [stamps.to(gl.int64), partner], dtype=gl.int32, is_pure=False, pack=1
    )


def beside(launches: int) -> np.ndarray:
    """Cycles of warp 0 while each of PARTNERS warps multiplies, too; beside itself, which is alone, first:
    int64 [launches, PARTNERS]. Raises KernelError where the chains' sum is not what it must be."""
    stamps = torch.zeros(launches, PARTNERS, 32 * PARTNERS, 2, dtype=torch.int64, device="cuda")
    for run in stamps:
        for partner, mine in enumerate(run):
            multiply_beside[(1,)](mine, partner, ASM=MULTIPLY_BESIDE, num_warps=PARTNERS)
    seen = stamps.cpu().numpy()[:, :, 0]
    made = np.ascontiguousarray(seen[..., 1]).view(np.float32)[..., ::2]
    _check(made, np.full(made.shape, CHAINS * TERM / (1 - FACTOR)))
    return seen[..., 0]


def _check(made: np.ndarray, reference: np.ndarray) -> None:
    error = float(np.abs(made - reference).max())
    if not error <= TOLERANCE:
        raise KernelError(
            f"a warp is off by {error:.1e} of its reference in float64, at most {TOLERANCE:.0e} is allowed"
        )
