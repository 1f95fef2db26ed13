"""Pairs: two steps of the kernel ladder at every problem at which both were measured."""

from collections.abc import Iterable
from typing import NamedTuple

from tilesim.errors import ReportError
from tilesim.ladder.file import ladders
from tilesim.ladder.steps import Ladder, LadderStep


class Pair(NamedTuple):
    """One kernel and another, at the same problem."""

    before: LadderStep
    after: LadderStep

    @property
    def gain(self) -> float:
        """How many times as fast the other is."""
        return self.before.us / self.after.us

    @property
    def shape(self) -> tuple[int, int, int]:
        """M, N, K."""
        return self.after.m, self.after.n, self.after.k

    @property
    def sizes(self) -> str:
        """The problem as films write it.

        >>> pairs(shipped(), "warp-specialized", "ping-pong")[0].sizes
        '8192×8192×512'
        """
        return "×".join(map(str, self.shape))


def shipped() -> Ladder:
    """The first ladder that ships with tilesim. Raises ReportError where none does."""
    found = ladders()
    if not found:
        raise ReportError("no kernel ladder ships with tilesim; `tilesim bench ladder` measures one")
    return found[0]


def pairs(ladder: Ladder, before: str, after: str) -> list[Pair]:
    """Two kernels, by name, at every problem that has both: the largest gain first.

    Raises ReportError where no problem has both.
    """
    step = {(row.name, row.m, row.n, row.k, row.dtype): row for row in ladder.rows}
    found = [
        Pair(row, step[after, *problem])
        for (name, *problem), row in step.items()
        if name == before and (after, *problem) in step
    ]
    if not found:
        raise ReportError(f"the ladder has no problem at which both {before} and {after} were measured")
    return sorted(found, key=lambda pair: pair.gain, reverse=True)


def bar_groups(found: Iterable[Pair], before: str, after: str) -> dict[str, list[tuple[str, float, str]]]:
    """{problem: bars} of pairs, in TFLOP/s as the first heading says: (name, rate, kind) of either kernel.

    The faster one is "measured" green, the slower one "quiet"; `before` and `after` are their names.
    """
    groups = {}
    for pair in found:
        kinds = ("quiet", "measured") if pair.gain > 1 else ("measured", "quiet")
        heading = pair.sizes if groups else f"{pair.sizes}, TFLOP/s"
        groups[heading] = list(
            zip((before, after), (pair.before.tflops, pair.after.tflops), kinds, strict=True)
        )
    return groups
