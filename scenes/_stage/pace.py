"""Pace: how a film's time runs over a trace's, with slow motion where the interesting thing is short."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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

    def slowest(self) -> tuple[float, float, float]:
        """(from, to, ratio): the film seconds of the slow motion, and how much slower it is than the rest."""
        slope = np.diff(self.trace_ns) / np.diff(self.film_s)
        moving = np.flatnonzero(slope > 0)
        slow = moving[np.argmin(slope[moving])]
        return float(self.film_s[slow]), float(self.film_s[slow + 1]), float(slope.max() / slope[slow])


def pace(end_ns: float, opening_s: float, run_s: float, slow: tuple[float, float], slow_s: float) -> Pace:
    """Stand still for `opening_s`, then run from 0 to `end_ns` in `run_s`, `slow_s` of it over `slow`.

    An empty or uneventful `slow` interval gives an even pace.

    >>> p = pace(10_000, 2, 8, slow=(3_000, 4_000), slow_s=3.5)
    >>> p.at(1), p.at(3.5), p.at(5.25), p.at(10), p.at(12)
    (0.0, 3000.0, 3500.0, 10000.0, 10000.0)
    >>> p.when(3_500)
    5.25
    """
    low, high = max(0.0, slow[0]), min(end_ns, slow[1])
    even = run_s * max(0.0, high - low) / end_ns
    if high <= low or slow_s <= even:
        return Pace(np.array([0.0, opening_s, opening_s + run_s]), np.array([0.0, 0.0, end_ns]))
    rate = (end_ns - (high - low)) / (run_s - slow_s)
    before = opening_s + low / rate
    film_s = np.array([0.0, opening_s, before, before + slow_s, opening_s + run_s])
    trace_ns = np.array([0.0, 0.0, low, high, end_ns])
    distinct = np.append(True, np.diff(film_s) > 0)
    return Pace(film_s[distinct], trace_ns[distinct])


def fade(film_s: float, start: float, end: float, ramp: float = 0.3) -> float:
    """Opacity of what is on screen from `start` to `end`, fading in and out over `ramp` seconds.

    >>> fade(1.0, 1.0, 5.0), fade(1.15, 1.0, 5.0), fade(3.0, 1.0, 5.0), fade(5.0, 1.0, 5.0)
    (0.0, 0.5, 1.0, 0.0)
    """
    return float(np.clip(min(film_s - start, end - film_s) / ramp, 0.0, 1.0).round(6))
