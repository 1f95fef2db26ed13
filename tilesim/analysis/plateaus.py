"""Plateaus of a curve: ranges of footprints over which a latency or bandwidth stays the same."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

TOLERANCE = 0.05
"""The largest value of a plateau may exceed its smallest by this fraction."""
LEAST = 3
"""Adjacent points that a plateau needs."""


class Plateau(NamedTuple):
    """The range from `first` to `last`, inclusive, and its median `value`."""

    first: float
    last: float
    value: float


def plateaus(points: Sequence[tuple[float, float]]) -> tuple[Plateau, ...]:
    """The plateaus of a curve of points (x, y), y > 0, in order of x.

    The longest run of adjacent points within TOLERANCE comes first (the flattest, if several are as long);
    the points on both sides of it are searched in the same way. A plateau has at least LEAST points.

    >>> plateaus([(1, 10.0), (2, 10.1), (4, 10.0), (8, 17.0), (16, 20.0), (32, 20.2), (64, 20.1)])
    (Plateau(first=1, last=4, value=10.0), Plateau(first=16, last=64, value=20.1))
    """
    points = sorted(points)
    best: tuple[int, float, int] | None = None
    for i in range(len(points)):
        low = high = points[i][1]
        for j in range(i, len(points)):
            low, high = min(low, points[j][1]), max(high, points[j][1])
            if high > (1 + TOLERANCE) * low:
                break
            found = j - i + 1, low / high, -i
            if found[0] >= LEAST and (best is None or found > best):
                best = found
    if best is None:
        return ()
    first = -best[2]
    last = first + best[0] - 1
    value = median(y for _, y in points[first : last + 1])
    one = Plateau(points[first][0], points[last][0], value)
    return (*plateaus(points[:first]), one, *plateaus(points[last + 1 :]))
