"""Company: what main loops on an SM do to each other, as measured runs tell it. Part of calibration.

A K-step takes f(r) times as long beside r - 1 other main loops as one alone. Of two, one multiplies while the
other waits for its loads; of one alone nothing hides them. So how long that takes depends on what its loads
take: less where most slots of the device are idle, more where operands come from DRAM.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilesim.calibration.least_squares import least_squares
from tilesim.calibration.main_loops import MainLoops
from tilesim.costs import even_shares

LEAST_SPREAD = 0.02
"""Standard deviation of the share of a main loop that is alone on its SM, and, of those that are, of the idle
slots and of the operands from DRAM, below which nothing can be told of their effect."""

MOSTLY, LEAST_STEPS = 0.5, 0.25
"""The share of a main loop's time alone from which on it tells of K-steps alone, if so many of its K-steps
are left when those beside others are taken off: less would tell of the error in these."""

MOST_UNLOADED = 0.9
"""A K-step takes time, however idle the device is."""


@dataclass(frozen=True, slots=True)
class Company:
    """What main loops on an SM do to each other, as in Costs."""

    coresidency: tuple[float, ...]
    unloaded_latency: float = 0.0
    sole_exposed_dram: float = 0.0


def among(run: MainLoops, known: Company, cache: int) -> MainLoops:
    """`run` taken back: its ns as if every main loop had its SM to itself, while no slot of the device is
    idle and its operands are cached."""
    if len(known.coresidency) == 1:
        return run
    alone = 1 - known.unloaded_latency * run.idle + known.sole_exposed_dram * run.cold(cache)
    shared = (run.beside[:, 1:] / np.asarray(known.coresidency[1:])).sum(axis=1)
    ns = run.ns * (run.beside[:, 0] / alone + shared)
    return replace(run, ns=ns, full=known.coresidency[-1])


def company(runs: Sequence[MainLoops], cache: int) -> Company:
    """The Company of runs of blocks of one kind, behind a `cache` of so many bytes; whole tiles alone tell.

    How fast they advance beside 1, 2 ... other main loops comes from least squares of their speeds. What a
    K-step takes of those that mostly were alone comes from least squares of their time, of relative errors
    and with each run counting alike. f(r) is from 1, where nothing is shared, to r, where everything is.
    Where all were alone, or none, it cannot be told: r main loops then share their SM's rate.
    """
    most = runs[0].beside.shape[1]
    if most == 1:
        return Company(even_shares(most))
    seen = [_Whole.of(run, cache) for run in runs]
    beside = np.concatenate([one.beside for one in seen])
    if not len(beside) or beside[:, 0].std() < LEAST_SPREAD:
        return Company(even_shares(most))
    met = np.flatnonzero(beside.any(axis=0))
    left = [np.column_stack([one.beside[:, met], one.beside[:, :1] * one.waits]) for one in seen]
    right = np.concatenate([one.steps / one.ns for one in seen])
    speeds = np.zeros(most)
    speeds[met] = np.linalg.lstsq(np.concatenate(left), right, rcond=None)[0][: len(met)]
    k_step, unloaded_latency, sole_exposed_dram = _alone(seen, speeds)
    slower = [1 / (k_step * speed) if speed > 0 else most for speed in speeds[1:].tolist()]
    factors = [round(min(max(1.0, f), r), 4) for r, f in enumerate(slower, 2)]
    return Company((1.0, *map(float, factors)), round(unloaded_latency, 4), round(sole_exposed_dram, 4))


@dataclass(frozen=True, slots=True, eq=False)
class _Whole:
    """The main loops of a run that are all of their tile's, as in MainLoops. `waits`: what may change how
    long a K-step alone takes: the idle slots, negative, and the operands from DRAM; [segments, 2]."""

    ns: np.ndarray
    steps: np.ndarray
    beside: np.ndarray
    waits: np.ndarray

    @classmethod
    def of(cls, run: MainLoops, cache: int) -> "_Whole":
        rows = run.steps == run.trace.problem.k_steps
        waits = np.column_stack([-run.idle, run.cold(cache)])
        return cls(run.ns[rows], run.steps[rows], run.beside[rows], waits[rows])


def _alone(seen: Sequence[_Whole], speeds: np.ndarray) -> tuple[float, float, float]:
    """(k_step, unloaded_latency, sole_exposed_dram) of main loops alone on their SM, given how fast they are beside others."""
    left, right, waits = [], [], []
    for one in seen:
        share = one.beside[:, 0]
        steps = one.steps - one.ns * (one.beside[:, 1:] @ speeds[1:])
        rows = (share > MOSTLY) & (steps > LEAST_STEPS * one.steps)
        rate, each = (steps[rows] / (one.ns * share)[rows])[:, np.newaxis], one.waits[rows]
        weight = max(1, len(rate)) ** -0.5
        left.append(weight * rate * np.column_stack([np.ones(len(each)), each]))
        right.append(np.full(len(each), weight))
        waits.append(each)
    if not sum(map(len, left)):
        return 1 / float(speeds[0]), 0.0, 0.0
    told = (np.concatenate(waits).std(axis=0) > LEAST_SPREAD).tolist()
    found = least_squares(np.concatenate(left), np.concatenate(right), [True, *told])
    k_step, unloaded_latency, sole_exposed_dram = found.tolist()
    return k_step, min(unloaded_latency / k_step, MOST_UNLOADED), sole_exposed_dram / k_step
