"""Pace: how a film's time runs over a trace's, with slow motion where the interesting thing is short."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FASTEST = 2.5
"""Faster than the mean by more than this, a film would seem to jump."""
RAMP = 0.3
"""Seconds in which something fades in or out."""


@dataclass(frozen=True, slots=True, eq=False)
class Pace:
    """A non-decreasing piecewise linear map from film seconds to trace ns, given by its knots."""

    film_s: np.ndarray
    trace_ns: np.ndarray

    def at(self, film_s: float) -> float:
        """The instant of the trace, ns, that is on screen at `film_s`."""
        return float(np.interp(film_s, self.film_s, self.trace_ns))

    def when(self, trace_ns: float) -> float:
        """The film second at which the instant `trace_ns` is first reached."""
        reached = int(np.searchsorted(self.trace_ns, trace_ns))
        if reached == 0 or reached == len(self.film_s):
            return float(self.film_s[min(reached, len(self.film_s) - 1)])
        low, high = self.trace_ns[reached - 1], self.trace_ns[reached]
        share = (trace_ns - low) / (high - low)
        return float(self.film_s[reached - 1] + share * (self.film_s[reached] - self.film_s[reached - 1]))


def pace(
    end_ns: float,
    opening_s: float,
    run_s: float,
    slow: tuple[float, float] = (0.0, 0.0),
    slow_s: float = 0.0,
    least: Sequence[tuple[float, float]] = (),
) -> Pace:
    """Stand still for `opening_s`, then go from 0 to `end_ns` in `run_s`, `slow_s` or more of it over `slow`.

    `least` has (from ns, seconds), in order: from each of these instants to the next, or to the end, so many
    seconds go by at least. The rest goes at one speed, at most FASTEST times the mean. Where all that needs
    more than `run_s`, each gets its share of it.

    >>> p = pace(10_000, 2, 8, slow=(3_000, 4_000), slow_s=3.5)
    >>> [round(p.at(second), 3) for second in (1, 3.5, 5.25, 10, 12)]
    [0.0, 3000.0, 3500.0, 10000.0, 10000.0]
    >>> round(p.when(3_500), 3)
    5.25
    >>> pace(10_000, 2, 8, least=[(0, 2), (8_000, 4)]).film_s.round(3).tolist()
    [0.0, 2.0, 6.0, 10.0]
    """
    low, high = max(0.0, slow[0]), min(end_ns, slow[1])
    since = np.array([start for start, _ in least], float)
    needed = np.array([0.0, *(seconds for _, seconds in least)])
    edges = np.unique(np.clip([0.0, *since, *((low, high) if low < high else ()), end_ns], 0.0, end_ns))
    length, middle = np.diff(edges), (edges[1:] + edges[:-1]) / 2
    inside = (low < middle) & (middle < high)
    owner = np.searchsorted(since, middle)

    def spent(rate: float) -> np.ndarray:
        """Film seconds of each piece between two edges, where nothing runs faster than `rate`, ns/s."""
        seconds = np.maximum(length / rate, inside * slow_s * length / max(1.0, high - low))
        total = np.bincount(owner, seconds, len(needed))
        return seconds * np.maximum(1.0, needed / np.where(total > 0, total, 1.0))[owner]

    slowest, fastest = end_ns / run_s, FASTEST * end_ns / run_s
    for _ in range(60):
        rate = (slowest + fastest) / 2
        slowest, fastest = (rate, fastest) if spent(rate).sum() > run_s else (slowest, rate)
    seconds = spent(fastest)
    film_s = opening_s + np.append(0.0, np.cumsum(seconds)) * (run_s / seconds.sum())
    return Pace(np.append(0.0, film_s), np.append(0.0, edges))


def fade(film_s: float, start: float, end: float) -> float:
    """Opacity of what is on screen from `start` to `end`, fading in and out over RAMP.

    >>> fade(1.0, 1.0, 5.0), fade(1.15, 1.0, 5.0), fade(3.0, 1.0, 5.0), fade(5.0, 1.0, 5.0)
    (0.0, 0.5, 1.0, 0.0)
    """
    return round(max(0.0, min(1.0, (film_s - start) / RAMP, (end - film_s) / RAMP)), 6)
