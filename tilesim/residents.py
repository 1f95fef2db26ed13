"""What blocks that share an SM do to each other's main loops, as traces show it. Part of calibration."""

from collections.abc import Sequence

import numpy as np

from tilesim.costs import even_shares
from tilesim.traces import Trace

LEAST_SPREAD = 0.02
"""Standard deviation of the share of time alone on the SM, and of solitude there, below which co-residency
and relief cannot be fitted."""


def coresidency(traces: Sequence[Trace]) -> tuple[tuple[float, ...], float]:
    """(f, relief): f(1), f(2) ... from how fast K-steps of whole tiles advance beside 0, 1 ... other main
    loops of the SM, and how much faster where the rest of the device is idle, too.

    f(r) is from 1, where nothing is shared, to r, where everything is. Where none ever was alone it cannot be
    told: r main loops then share their SM's rate. Relief is told where the solitude of lone ones varies.
    """
    beside, solitude = (np.concatenate(each) for each in zip(*map(shares, traces), strict=True))
    factors, relief = list(even_shares(beside.shape[1])), 0.0
    steps = np.concatenate([trace.spans["k1"] - trace.spans["k0"] for trace in traces])
    whole = np.concatenate([np.full(len(trace.spans), trace.problem.k_steps) for trace in traces]) == steps
    beside, solitude = beside[whole], solitude[whole]
    if len(beside) and beside[:, 0].std() > LEAST_SPREAD:
        ns = np.concatenate([trace.spans["drain"] - trace.spans["start"] for trace in traces])
        seen = np.flatnonzero(beside.any(axis=0))
        alone = beside[:, 0] > 0.5
        varies = bool(alone.any() and solitude[alone].std() > LEAST_SPREAD)
        columns = np.column_stack([beside[:, seen], *[solitude] * varies])
        speeds = np.linalg.lstsq(columns, (steps / np.maximum(1, ns))[whole], rcond=None)[0]
        for r, speed in zip(seen.tolist(), speeds.tolist(), strict=False):
            factors[r] = min(max(1.0, speeds[0] / speed), r + 1.0)
        relief = max(0.0, float(speeds[-1] / speeds[0])) * varies
    return tuple(round(f, 4) for f in factors), round(relief, 4)


def shares(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(share, solitude) of each main loop: float64, shapes [spans, ctas_per_sm] and [spans].

    The share of it with r + 1 main loops on its SM; and what share of the device's slots is idle while it is
    alone there, the mean over all of it, 0 where an SM has one slot. One that is over within a step of the
    clock counts as alone.
    """
    spans, most = trace.spans, trace.device.ctas_per_sm
    share, solitude = np.zeros((len(spans), most)), np.zeros(len(spans))
    if most == 1:
        share[:] = 1.0
        return share, solitude
    busy = _busy(trace)
    for sm in np.unique(spans["sm"]):
        rows = np.flatnonzero(spans["sm"] == sm)
        start, drain = spans["start"][rows], spans["drain"][rows]
        times, at = np.unique(np.concatenate([start, drain]), return_inverse=True)
        began, ended = at[: len(rows)], at[len(rows) :]
        running = np.cumsum(
            np.bincount(began, minlength=len(times)) - np.bincount(ended, minlength=len(times))
        )
        for r in range(most):
            passed = np.append(0, np.cumsum(np.where(running[:-1] == r + 1, np.diff(times), 0)))
            share[rows, r] = passed[ended] - passed[began]
        idle = times - np.interp(times, *busy)
        passed = np.append(0, np.cumsum(np.where(running[:-1] == 1, np.diff(idle), 0)))
        solitude[rows] = passed[ended] - passed[began]
    share[~share.any(axis=1), 0] = 1.0
    total = share.sum(axis=1)
    return share / total[:, np.newaxis], solitude / total


def _busy(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(times, ns): for how long, until then, all slots together had been multiplying, over their number."""
    spans = trace.spans
    times, at = np.unique(np.concatenate([spans["start"], spans["drain"]]), return_inverse=True)
    change = np.repeat([1, -1], len(spans))
    running = np.cumsum(np.bincount(at, change))[:-1]
    return times, np.append(0, np.cumsum(running * np.diff(times))) / trace.device.slots
