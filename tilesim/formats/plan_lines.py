"""Plan lines: what each thread block will do, in order, as text."""

from collections.abc import Iterator

import numpy as np

from tilesim.plans import Plan
from tilesim.problems import Problem

MORE = "..."
"""In place of the number, where thread blocks are left out."""


def blocks(plan: Plan, problem: Problem, most: int) -> Iterator[tuple[str, str]]:
    """Of the first `most` thread blocks, the number and the tiles, at most so many; then how many blocks are
    left out, and the shared queue.

    A tile is its number, with the K-steps where they are not all of the tile's: "3[0:16]".

    >>> from tilesim import Device, Problem, plan
    >>> problem = Problem(256, 768, 64)
    >>> list(blocks(plan("persistent", problem, Device(2)), problem, 4))
    [('0', '0 2 4'), ('1', '1 3 5')]
    """
    nothing = "from the shared queue" if len(plan.shared) else "none"
    for cta in range(min(plan.ctas, most)):
        rows = plan.segments[plan.offsets[cta] : plan.offsets[cta + 1]]
        yield str(cta), _tiles(rows, problem, most) or nothing
    if plan.ctas > most:
        yield MORE, f"{plan.ctas - most} more"
    if len(plan.shared):
        yield "shared queue", _tiles(plan.shared, problem, most)


def _tiles(rows: np.ndarray, problem: Problem, most: int) -> str:
    words = []
    for _, tile, k0, k1 in rows[:most].tolist():
        part = "" if (k0, k1) == (0, problem.k_steps) else f"[{k0}:{k1}]"
        words.append(f"{tile}{part}")
    return " ".join(words) + (f" ... ({len(rows)} in all)" if len(rows) > most else "")
