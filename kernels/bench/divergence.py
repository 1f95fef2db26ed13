"""divergence: a branch and a loop that the lanes of a warp take in 1 to 32 ways, in cycles of an SM."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ..ideas.divergence import LANES, LENGTH, TURN, WAYS, launch
from ..launch.job import Launch
from ..measure.machine import measuring
from ..measure.timing import in_turns
from .counters import INSTRUCTIONS, profiled

TURNS = 32
"""Turns of the loop that the longest way does."""
SPLITS = ("lanes", "warps")
"""Who takes the ways in turn: neighbouring lanes, or whole warps."""
MANY_WARPS = 32

METHOD = (
    "one thread block of 1 or 32 warps; each thread reads from memory which way it takes, and stamps"
    " %clock64 before and after; cycles: from the first warp that begins to the last past the ways;"
    " tail_cycles: of the code that all have in common after them; a way of the branch is {length}"
    " dependent multiply-adds, a turn of the loop {turn}; lane i, or warp i, is in way i % ways; in the"
    " branch each way is code of its own, in the loop way w does (w + 1) / ways of {turns} turns; spans: of"
    " one warp's branch, begin and end of each way in cycles, in the median launch; joined: the share of"
    " launches after which all lanes of a warp went on in one cycle; each launch's sums must be exact;"
    " {launches} launches of each in turn, after one that is not timed; issued, of_threads: instructions of"
    " one launch that warps executed, and that their active threads did, by Nsight Compute, 0 where it"
    " reads no counters"
)


@measuring
def divergence(launches: int = 20) -> dict[str, Any]:
    """Time each split of a branch and a loop, in JSON values: "machine", "method", "rows" and "spans".

    A row has code ("branch" or "loop"), ways, split, warps; length, the multiply-adds of a way or of a turn,
    and turns, of the lane that has most; cycles (the median), p20 and p80, tail_cycles, joined, and for one
    warp issued and of_threads (see METHOD). Spans are those of one warp's branch, by ways.
    """
    one, many = cases()
    asked = one + many
    seen = in_turns([partial(launch, case[0], asked_of(*case)) for case in asked], launches)
    none = dict.fromkeys(INSTRUCTIONS, 0)
    counts = profiled("divergence", one, len(one), INSTRUCTIONS, "^diverge$") or [none] * len(one)
    counts += [none] * len(many)
    method = METHOD.format(length=LENGTH, turn=TURN, turns=TURNS, launches=launches)
    rows = [
        dict(zip(("code", "ways", "split", "warps"), case, strict=True)) | figures(case[0], runs) | count
        for case, runs, count in zip(asked, seen, counts, strict=True)
    ]
    timed = [
        {"ways": ways, "spans": spans(ways, runs)}
        for (code, ways, _, _), runs in zip(one, seen[: len(one)], strict=True)
        if code == "branch"
    ]
    return {"method": method, "rows": rows, "spans": timed}


def cases() -> tuple[list[tuple[str, int, str, int]], list[tuple[str, int, str, int]]]:
    """Code, ways, split and warps of each row: those of one warp, and those of many."""
    each = list(product(("branch", "loop"), range(1, WAYS + 1)))
    one = [(code, ways, "lanes", 1) for code, ways in each]
    return one, [(code, ways, split, MANY_WARPS) for split in SPLITS for code, ways in each]


def asked_of(code: str, ways: int, split: str, warps: int) -> np.ndarray:
    """What the threads of a block are asked to do: their way, or their turns; int [32 * warps].

    >>> asked_of("branch", 4, "lanes", 1)[:6].tolist(), asked_of("loop", 2, "warps", 2)[[0, 31, 32]].tolist()
    ([0, 1, 2, 3, 0, 1], [16, 16, 32])
    """
    threads = np.arange(LANES * warps)
    way = (threads if split == "lanes" else threads // LANES) % ways
    return way if code == "branch" else -(-(way + 1) * TURNS // ways)


def figures(code: str, runs: list[np.ndarray]) -> dict[str, Any]:
    """The figures of launches of one case, from their STAMPS [threads].

    >>> stamps = np.zeros(32, [(name, int) for name in ("begin", "came", "went", "joined", "end")])
    >>> stamps["joined"], stamps["end"] = 50, 90
    >>> [figures("branch", [stamps])[name] for name in ("cycles", "tail_cycles", "joined")]
    [50.0, 40.0, 1.0]
    """
    p20, median, p80 = np.quantile([taken(stamps) for stamps in runs], (0.2, 0.5, 0.8)).tolist()
    tail = [int(stamps["end"].max() - stamps["joined"].max()) for stamps in runs]
    together = [(np.ptp(stamps["joined"].reshape(-1, LANES), axis=1) == 0).all() for stamps in runs]
    return {
        "length": LENGTH if code == "branch" else TURN,
        "turns": 1 if code == "branch" else TURNS,
        "cycles": median,
        "p20": p20,
        "p80": p80,
        "tail_cycles": float(np.median(tail)),
        "joined": float(np.mean(together)),
    }


def taken(stamps: np.ndarray) -> int:
    """Cycles from the first lane that begins to the last past the ways, from STAMPS [threads]."""
    return int(stamps["joined"].max() - stamps["begin"].min())


def spans(ways: int, runs: list[np.ndarray]) -> list[list[int]]:
    """Begin and end of each way of one warp's branch, in cycles, in the median launch: way w is lane w's."""
    shown = sorted(runs, key=taken)[len(runs) // 2][:ways]
    return [
        [int(lane["came"] - shown["begin"].min()), int(lane["went"] - shown["begin"].min())] for lane in shown
    ]


def once(cases: Sequence[Any]) -> list[Launch]:
    """The launch of each case."""
    return [partial(launch, code, asked_of(code, *case)) for code, *case in cases]
