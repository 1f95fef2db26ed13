"""A branch and a loop in which the lanes of a warp may diverge, with timestamps of each lane.

Both are PTX, and the paths come from memory, so no compiler can predict them. The branch is indexed
(brx.idx), with WAYS paths that differ in a constant; each is a loop of dependent multiply-adds. The loop does
as many iterations of these as a lane requests. Afterwards all lanes execute a common tail. Addends are
integers, so a lane's sum is exact and shows what the lane did.
"""

import numpy as np
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from ..errors import KernelError

LANES = 32
WAYS = 32
"""Paths of the branch."""
UNROLLED = 16
"""Multiply-adds between two branches of a loop."""
LENGTH = 1024
"""Dependent multiply-adds of a path, and of the tail."""
TURN = 64
"""Dependent multiply-adds per iteration of the loop, unrolled."""
MOST_TURNS = 1024
TAIL = 64
"""What a multiply-add of the tail adds; path w adds w + 1, and the loop 1."""

STAMPS = np.dtype([(name, np.int64) for name in ("begin", "came", "went", "joined", "end")])
"""SM cycles before the divergent code, at the begin and end of a lane's own path, after all paths, and after
the tail."""


def adds(count: int, addend: int) -> str:
    """PTX of `count` dependent multiply-adds."""
    return f"fma.rn.f32 x, x, one, {addend}.0;\n" * count


def piece(name: str, addend: int) -> str:
    """PTX of LENGTH multiply-adds in a loop."""
    return f"""mov.u32 left, {LENGTH // UNROLLED};
    {name}:
    .pragma "nounroll";
    {adds(UNROLLED, addend)}
    sub.u32 left, left, 1;
    setp.ne.u32 on, left, 0;
    @on bra {name};
    """


_FRAME = """{{
    .reg .pred on;
    .reg .b32 tid, asked, left;
    .reg .b64 at, begin, came, went, joined, ended;
    .reg .f32 x, one;
    mov.u32 tid, %tid.x;
    mad.wide.u32 at, tid, 4, $1;
    ld.global.u32 asked, [at];
    cvt.rn.f32.u32 x, tid;
    mov.b32 one, $4;
    setp.lt.u32 on, asked, {limit};
    bar.red.and.pred on, 0, on;
    @!on bra over;
    mov.u64 begin, %clock64;
    {code}
    join:
    mov.u64 joined, %clock64;
    {tail}
    mov.u64 ended, %clock64;
    mad.wide.u32 at, tid, 4, $2;
    st.global.f32 [at], x;
    mad.wide.u32 at, tid, 40, $3;
    st.global.u64 [at], begin;
    st.global.u64 [at + 8], came;
    st.global.u64 [at + 16], went;
    st.global.u64 [at + 24], joined;
    st.global.u64 [at + 32], ended;
    over:
    mov.u32 $0, 0;
    }}"""

_WAY = """way{way}:
    mov.u64 came, %clock64;
    {piece}
    mov.u64 went, %clock64;
    bra join;
    """

BRANCH = _FRAME.format(
    code="ways: .branchtargets {};\nbrx.idx asked, ways;\n{}".format(
        ", ".join(f"way{way}" for way in range(WAYS)),
        "".join(_WAY.format(way=way, piece=piece(f"again{way}", way + 1)) for way in range(WAYS)),
    ),
    tail=piece("last", TAIL),
    limit=WAYS,
)
LOOP = _FRAME.format(
    code=f"""mov.u64 came, %clock64;
    turn:
    .pragma "nounroll";
    {adds(TURN, 1)}
    sub.u32 asked, asked, 1;
    setp.ne.u32 on, asked, 0;
    @on bra turn;
    mov.u64 went, %clock64;
    """,
    tail=piece("last", TAIL),
    limit=MOST_TURNS + 1,
)
CODES = {"branch": BRANCH, "loop": LOOP}


@gluon.jit
def diverge(asked, sums, stamps, one, CODE: gl.constexpr):
    """asked: int32, sums: fp32, stamps: int64 of 5; one row per thread. `one`: the bits of 1.0."""
    gl.inline_asm_elementwise(
        CODE, "=r,l,l,l,r", [asked.to(gl.int64), sums.to(gl.int64), stamps.to(gl.int64), one],
        dtype=gl.int32, is_pure=False, pack=1,
    )  # fmt: skip


def expected(code: str, asked: np.ndarray) -> np.ndarray:
    """The integer sums that threads end with.

    >>> expected("branch", np.array([0, 1])).tolist(), expected("loop", np.array([1, 2])).tolist()
    ([66560, 67585], [65600, 65665])
    """
    own = LENGTH * (asked + 1) if code == "branch" else TURN * asked
    return np.arange(len(asked)) + own + LENGTH * TAIL


def launch(code: str, asked: np.ndarray) -> np.ndarray:
    """Launch one thread block whose threads request `asked`, int [threads], and return its STAMPS [threads].

    `asked` is a thread's path, below WAYS, or its iterations, at least 1. Raises KernelError for a wrong sum.
    """
    threads = len(asked)
    given = torch.tensor(asked, dtype=torch.int32, device="cuda")
    sums = torch.full((threads,), torch.nan, device="cuda")
    stamps = torch.zeros(threads, len(STAMPS), dtype=torch.int64, device="cuda")
    one = int(np.float32(1).view(np.int32))
    diverge[(1,)](given, sums, stamps, one, CODE=CODES[code], num_warps=threads // LANES)
    wrong = sums.cpu().numpy() != expected(code, asked)
    if wrong.any():
        raise KernelError(f"{wrong.sum()} of {threads} threads computed a wrong sum in the {code}")
    return stamps.cpu().numpy().view(STAMPS)[:, 0]
