"""y = a * x + y with a chosen number of warps per thread block, each of which waits for its own loads.

In a round, a warp requests 16 bytes of x and of y per thread, waits for both, and stores; other warps must
hide its wait. The clock is read before the loads and behind a branch that waits for their values, and
recorded either in every round or only in the first and last, which does not slow rounds down.

Blocks always have 32 warps, of which the surplus exits at once, so one program measures any number of warps.
Warps are assigned to the SM's four partitions in turn.
"""

import numpy as np
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from ..errors import KernelError

WARPS = 32
"""Warps per thread block, and the most that can work."""
VALUES = 128
"""Values of x and of y per round of a warp: four fp32 per thread."""
ASKED = 2 * 4 * VALUES
"""Bytes that a warp loads per round; it stores half as many."""

_AXPY = """{{
    .reg .pred on, first, over;
    .reg .b32 tid, cta, ctas, warp, lane, left, row, step;
    .reg .b64 x, y, at, seen, asked, came, begun, ns, sm, next;
    .reg .f32 x0, x1, x2, x3, y0, y1, y2, y3;
    mov.u64 begun, %clock64;
    mov.u32 tid, %tid.x;
    mov.u32 cta, %ctaid.x;
    mov.u32 ctas, %nctaid.x;
    mov.u32 left, $7;
    shr.u32 warp, tid, 5;
    and.b32 lane, tid, 31;
    setp.eq.u32 first, lane, 0;
    setp.ge.u32 over, warp, $6;
    @over bra gone;
    mad.lo.u32 row, cta, $6, warp;
    mul.lo.u32 row, row, 32;
    add.u32 row, row, lane;
    mad.wide.u32 x, row, 16, $1;
    mad.wide.u32 y, row, 16, $2;
    mul.lo.u32 step, ctas, $6;
    mul.wide.u32 next, step, 512;
    mad.lo.u32 row, cta, $6, warp;
    mad.wide.u32 at, row, 32, $3;
    mul.lo.u32 step, left, 16;
    mad.wide.u32 seen, row, step, $4;
    again:
    mov.u64 asked, %clock64;
    ld.global.cg.v4.f32 {{x0, x1, x2, x3}}, [x];
    ld.global.cg.v4.f32 {{y0, y1, y2, y3}}, [y];
    fma.rn.f32 y0, x0, $5, y0;
    fma.rn.f32 y1, x1, $5, y1;
    fma.rn.f32 y2, x2, $5, y2;
    fma.rn.f32 y3, x3, $5, y3;
    setp.gt.f32 over, y0, 0f7F7FFFFF;
    @over bra done;
    mov.u64 came, %clock64;
    st.global.v4.f32 [y], {{y0, y1, y2, y3}};
    {stamping}
    add.u64 x, x, next;
    add.u64 y, y, next;
    sub.u32 left, left, 1;
    setp.ne.u32 on, left, 0;
    @on bra again;
    done:
    mov.u32 tid, %smid;
    cvt.u64.u32 sm, tid;
    cvt.u64.u32 ns, left;
    @first st.global.v2.u64 [at], {{sm, ns}};
    @first st.global.v2.u64 [at + 16], {{begun, came}};
    gone:
    mov.u32 $0, 0;
    }}"""
EACH_ROUND = _AXPY.format(stamping="@first st.global.v2.u64 [seen], {asked, came}; add.u64 seen, seen, 16;")
ENDS_ONLY = _AXPY.format(stamping="")


@gluon.jit(do_not_specialize=["warps", "rounds", "a"])
def axpy(x, y, ends, stamps, a, warps, rounds, WORK: gl.constexpr):
    """x, y: fp32 [rounds, blocks, warps, VALUES]. ends: int64 [blocks, warps, 4]: SM, rounds left, begin,
    end. stamps: int64 [blocks, warps, rounds, 2]: cycles of a request and of its answer."""
    gl.inline_asm_elementwise(
        WORK, "=r,l,l,l,l,f,r,r",
        [x.to(gl.int64), y.to(gl.int64), ends.to(gl.int64), stamps.to(gl.int64), a, warps, rounds],
        dtype=gl.int32, is_pure=False, pack=1,
    )  # fmt: skip


def vectors(blocks: int, warps: int, rounds: int, random: torch.Generator) -> tuple[torch.Tensor, ...]:
    """x and y, random halves up to 8, so that a * x + y is exact: fp32 [rounds, blocks, warps, VALUES]."""
    shape = (rounds, blocks, warps, VALUES)
    made = (torch.randint(-16, 17, shape, generator=random, device=random.device) for _ in "xy")
    return tuple(one.float() / 2 for one in made)


def launch(
    x: torch.Tensor, y: torch.Tensor, a: float, stamped: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Launch once over `vectors`, updating y; returns `ends` and `stamps` of `axpy`."""
    rounds, blocks, warps, _ = x.shape
    ends = torch.full((blocks, warps, 4), -1, dtype=torch.int64, device=x.device)
    stamps = torch.zeros(blocks, warps, rounds if stamped else 1, 2, dtype=torch.int64, device=x.device)
    work = EACH_ROUND if stamped else ENDS_ONLY
    axpy[(blocks,)](x, y, ends, stamps, a, warps, rounds, WORK=work, num_warps=WARPS)
    return ends, stamps


def cycles(ends: np.ndarray) -> np.ndarray:
    """Cycles of each block, from its first warp's begin to its last warp's end: int64 [blocks]. Raises
    KernelError if a warp did not finish, or blocks shared an SM."""
    sm, left, begin, end = np.moveaxis(ends, -1, 0)
    if (left != 0).any():
        raise KernelError(f"{(left != 0).sum()} of {left.size} warps did not finish their rounds")
    if len(np.unique(sm)) != len(sm) or (sm != sm[:, :1]).any():
        raise KernelError(f"{len(sm)} thread blocks need an SM each, but had {len(np.unique(sm))}")
    if (end <= begin).any():
        raise KernelError("a clock of this GPU stopped or went backward while warps ran")
    return end.max(axis=1) - begin.min(axis=1)
