"""G thread blocks share all K-steps evenly, splitting tiles if necessary; by default a model chooses G."""

import numpy as np

from tilesim.devices.device import Device
from tilesim.errors import ScheduleError
from tilesim.orders import rasterize
from tilesim.plans import Plan, segments
from tilesim.problems import Problem
from tilesim.text import name_and_numbers, plural

MERGE_COST = 256
"""Merging a partial accumulator takes as long as this many multiply-adds per element."""


def stream_k(problem: Problem, device: Device, g: int | None = None) -> Plan:
    """`g` CTAs take even ranges of the order's K-steps; without g, as many as `grid_size` says.

    Basic Stream-K: arXiv 2301.03598. Raises ScheduleError for more CTAs than K-steps.
    """
    if g is not None:
        _check_k_steps(g, problem)
    ctas = g or grid_size(problem, device.slots)
    return Plan(even_ranges(rasterize(problem), problem.k_steps, ctas), ctas)


def shares(schedule: str, problem: Problem, slots: int) -> tuple[int, int]:
    """(tiles that thread blocks share, thread blocks) of persistent, stream-k[:G] or stream-k-hybrid[:2];
    raises ScheduleError for more thread blocks than run at once, which wait for each other, or than K-steps.
    """
    name, given = name_and_numbers(schedule)
    waves, left = divmod(problem.tiles, slots)
    if name == "persistent":
        return 0, min(problem.tiles, slots)
    if name == "stream-k-hybrid" and waves:
        return (left + slots if left else 0), slots
    if name == "stream-k" and given:
        (ctas,) = given
        if ctas > slots:
            raise ScheduleError(
                f"{schedule} has {ctas} thread blocks that wait for each other, and {slots} run at once"
            )
        _check_k_steps(ctas, problem)
        return problem.tiles, ctas
    return problem.tiles, grid_size(problem, slots)


def _check_k_steps(ctas: int, problem: Problem) -> None:
    total = problem.tiles * problem.k_steps
    if ctas > total:
        have = plural(total, "K-step")
        raise ScheduleError(
            f"stream-k:{ctas} needs a K-step for each of {ctas} thread blocks; this problem has {have}"
        )


def grid_size(problem: Problem, slots: int) -> int:
    """The cheapest number of CTAs, 1 to `slots`, by Stream-K's grid-size model (arXiv 2301.03598).

    cost(g) = a + b * [peers > 1] + c * steps + d * (peers - 1), with steps = ceil(total / g) K-steps per CTA
    and peers = ceil(k_steps / steps) CTAs per tile. In units of a K-step c = 1, and b = d = 256 / tile_k. The
    smallest g wins ties.
    """
    total, k_steps = problem.tiles * problem.k_steps, problem.k_steps
    steps = -(-total // np.arange(1, min(slots, total) + 1))
    peers = -(-k_steps // steps)
    merge = MERGE_COST / problem.tile_k
    return 1 + int(np.argmin(merge * (peers > 1) + steps + merge * (peers - 1)))


def even_ranges(tiles: np.ndarray, k_steps: int, ctas: int) -> np.ndarray:
    """The segments of `ctas` thread blocks that share `tiles` evenly: a SEGMENT array, sorted by CTA.

    Of all tiles' K-steps in sequence, CTA c takes [total * c // ctas, total * (c + 1) // ctas) (Stream-K,
    arXiv 2301.03598, figure 2b), backward, so that a tile's owner, its highest CTA, waits for what others do
    first.
    """
    total, ranges = len(tiles) * k_steps, np.arange(ctas)
    share, rest = divmod(total, ctas)
    begins = share * ranges + rest * ranges // ctas
    # A stable sort merges two ascending sequences quickly.
    cuts = np.sort(np.concatenate([np.arange(len(tiles)) * k_steps, begins[begins < total]]), kind="stable")
    cuts = cuts[np.diff(cuts, prepend=-1) > 0]
    cta = np.searchsorted(begins, cuts, side="right") - 1
    place = cuts // k_steps
    k0, k1 = cuts - place * k_steps, np.append(cuts, total)[1:] - place * k_steps
    return segments(cta, tiles[place], k0, k1)[np.lexsort((-cuts, cta))]
