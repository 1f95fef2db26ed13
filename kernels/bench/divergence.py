"""divergence: a branch and a loop that the lanes of a warp take in 1 to 32 ways, in cycles of an SM.

Both are PTX, and the paths come from memory, so no compiler can predict them. The paths of the branch
(brx.idx) compute different things and then add a constant of their own, an integer, so a lane's sum is exact
and shows what the lane did.
"""

from collections.abc import Sequence
from functools import partial
from itertools import cycle, product
from typing import Any

import numpy as np
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from ..errors import KernelError
from ..launch.job import Launch
from ..measure.machine import measuring
from ..measure.timing import in_turns, spread
from ..probes.spin import NOUNROLL, loop
from .counters import INSTRUCTIONS, profiled

LANES = 32
WAYS = 32
"""Paths of the branch."""
UNROLLED = 16
"""Operations between two branches of a loop."""
LENGTH = 1024
"""Dependent operations of a path, and multiply-adds of the tail."""
TURN = 64
"""Dependent multiply-adds per iteration of the loop, unrolled."""
MOST_TURNS = 1024
TAIL = 64
"""What a multiply-add of the tail adds; path w adds w + 1 in the end, and the loop 1 each time."""
OPERATIONS = {
    "add.rn.f32 x, x, one;\n": 1,
    "sub.rn.f32 x, x, one;\n": -1,
    "mul.rn.f32 x, x, one;\n": 0,
    "fma.rn.f32 x, x, one, one;\n": 1,
}
"""What paths 0 to 3 repeat, and the others in turn; by how much it changes x."""

STAMPS = np.dtype([(name, np.int64) for name in ("begin", "came", "went", "joined", "end")])
"""SM cycles before the ways, at the begin and end of a lane's own, after all of them, and after the tail."""


def adds(count: int, addend: int) -> str:
    return f"fma.rn.f32 x, x, one, {addend}.0;\n" * count


def piece(name: str, operation: str) -> str:
    return loop(NOUNROLL + operation * UNROLLED, LENGTH // UNROLLED, name)


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
    add.rn.f32 x, x, {addend}.0;
    bra join;
    """
_WAYS = "ways: .branchtargets {};\nbrx.idx asked, ways;\n{}".format(
    ", ".join(f"way{way}" for way in range(WAYS)),
    "".join(
        _WAY.format(way=way, piece=piece(f"again{way}", operation), addend=way + 1)
        for way, operation in zip(range(WAYS), cycle(OPERATIONS), strict=False)
    ),
)
_LOOP = f"mov.u64 came, %clock64;\n{loop(NOUNROLL + adds(TURN, 1), 'asked', 'turn')}mov.u64 went, %clock64;"
CODES = {
    "branch": _FRAME.format(code=_WAYS, tail=piece("last", adds(1, TAIL)), limit=WAYS),
    "loop": _FRAME.format(code=_LOOP, tail=piece("last", adds(1, TAIL)), limit=MOST_TURNS + 1),
}


@gluon.jit
def diverge(asked, sums, stamps, one, CODE: gl.constexpr):
    """asked: int32, sums: fp32, stamps: int64 of 5; one row per thread. `one`: the bits of 1.0."""
    gl.inline_asm_elementwise(
        CODE, "=r,l,l,l,r", [asked.to(gl.int64), sums.to(gl.int64), stamps.to(gl.int64), one],
        dtype=gl.int32, is_pure=False, pack=1,
    )  # fmt: skip


def expected(code: str, asked: np.ndarray) -> np.ndarray:
    """The integer sums that threads end with."""
    changes = np.array(list(OPERATIONS.values()))[asked % len(OPERATIONS)]
    own = LENGTH * changes + asked + 1 if code == "branch" else TURN * asked
    return np.arange(len(asked)) + own + LENGTH * TAIL


def launch(code: str, asked: np.ndarray) -> np.ndarray:
    """Launch one thread block whose threads request `asked`, int [threads], and return its STAMPS [threads].
    `asked` is a thread's path, below WAYS, or its iterations, at least 1. Raises KernelError for a wrong
    sum."""
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


TURNS = 32
"""Turns of the loop that the longest way does."""

METHOD = (
    "one thread block of 1 or 32 warps; each thread reads from memory which way it takes; cycles: from the"
    " first warp that begins to the last past the ways; tail_cycles: of the code that all have in common"
    f" after them; a way of the branch is {LENGTH} dependent operations: w = 0 to 3 add, subtract,"
    f" multiply, and multiply and add, and so on in turn; a turn of the loop is {TURN} multiply-adds; lane"
    " i, or warp i, is in way i % ways; in the branch each way is code of its own, in the loop way w does (w"
    f" + 1) / ways of {TURNS} turns; spans: of one warp's branch, begin and end of each way in the median"
    " launch; joined: the share of launches after which all lanes of a warp went on in one cycle; each"
    " launch's sums must be exact; {launches} launches of each in turn; issued, of_threads: instructions of"
    " one launch that warps executed, and that their active threads did, by Nsight Compute, else 0"
)


@measuring
def divergence(launches: int = 20) -> dict[str, Any]:
    """Time each split of a branch and a loop: "rows" and "spans". A row has code ("branch" or "loop"), ways,
    split, warps; length, the operations of a way or of a turn, and turns, of the lane that has most;
    cycles (the median), p20 and p80, and what METHOD explains."""
    one, many = cases()
    asked = one + many
    seen = in_turns(once(asked), launches)
    none = dict.fromkeys(INSTRUCTIONS, 0)
    counts = profiled("divergence", one, len(one), INSTRUCTIONS, "^diverge$") + [{}] * len(many)
    rows = [
        dict(zip(("code", "ways", "split", "warps"), case, strict=True))
        | figures(case[0], runs)
        | none
        | count
        for case, runs, count in zip(asked, seen, counts, strict=True)
    ]
    timed = [
        {"ways": ways, "spans": spans(ways, runs)}
        for (code, ways, _, _), runs in zip(one, seen[: len(one)], strict=True)
        if code == "branch"
    ]
    return {"method": METHOD.format(launches=launches), "rows": rows, "spans": timed}


def cases() -> tuple[list[tuple[str, int, str, int]], list[tuple[str, int, str, int]]]:
    """Code, ways, split (who takes the ways in turn) and warps: those of one warp, and those of 32."""
    each = list(product(("branch", "loop"), range(1, WAYS + 1)))
    one = [(code, ways, "lanes", 1) for code, ways in each]
    return one, [(code, ways, split, 32) for split in ("lanes", "warps") for code, ways in each]


def asked_of(code: str, ways: int, split: str, warps: int) -> np.ndarray:
    """What the threads of a block are asked to do: their way, or their turns; int [32 * warps]."""
    threads = np.arange(LANES * warps)
    way = (threads if split == "lanes" else threads // LANES) % ways
    return way if code == "branch" else -(-(way + 1) * TURNS // ways)


def figures(code: str, runs: list[np.ndarray]) -> dict[str, Any]:
    """The figures of launches of one case, from their STAMPS [threads]."""
    tail = [int(stamps["end"].max() - stamps["joined"].max()) for stamps in runs]
    together = [(np.ptp(stamps["joined"].reshape(-1, LANES), axis=1) == 0).all() for stamps in runs]
    return {
        "length": LENGTH if code == "branch" else TURN,
        "turns": 1 if code == "branch" else TURNS,
        **spread([taken(stamps) for stamps in runs], "cycles"),
        "tail_cycles": float(np.median(tail)),
        "joined": float(np.mean(together)),
    }


def taken(stamps: np.ndarray) -> int:
    """Cycles from the first lane that begins to the last past the ways, from STAMPS [threads]."""
    return int(stamps["joined"].max() - stamps["begin"].min())


def spans(ways: int, runs: list[np.ndarray]) -> list[list[int]]:
    """Begin and end of each way of one warp's branch, in cycles, in the median launch: way w is lane w's."""
    shown = sorted(runs, key=taken)[len(runs) // 2][:ways]
    return [[int(lane[name] - shown["begin"].min()) for name in ("came", "went")] for lane in shown]


def once(cases: Sequence[Any]) -> list[Launch]:
    return [partial(launch, code, asked_of(code, *case)) for code, *case in cases]
