"""Residents: which main loops of a trace share their SM, and for how long. Part of calibration."""

import numpy as np

from tilesim.traces import Trace


def shares(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(share, idle) of each main loop: float64, shapes [spans, ctas_per_sm] and [spans].

    The share of it with r + 1 main loops on its SM; and what share of the device's slots is idle while it is
    alone there, 0 where it never is or an SM has one slot. One that is over within a step of the clock counts
    as alone.
    """
    spans, most = trace.spans, trace.device.ctas_per_sm
    share, idle = np.zeros((len(spans), most)), np.zeros(len(spans))
    if most == 1:
        share[:] = 1.0
        return share, idle
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
        free = times - np.interp(times, *busy)
        passed = np.append(0, np.cumsum(np.where(running[:-1] == 1, np.diff(free), 0)))
        idle[rows] = passed[ended] - passed[began]
    share[~share.any(axis=1), 0] = 1.0
    idle /= np.maximum(1.0, share[:, 0])
    return share / share.sum(axis=1, keepdims=True), idle


def _busy(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(times, ns): for how long, until then, all slots together had been multiplying, over their number."""
    spans = trace.spans
    times, at = np.unique(np.concatenate([spans["start"], spans["drain"]]), return_inverse=True)
    change = np.repeat([1, -1], len(spans))
    running = np.cumsum(np.bincount(at, change))[:-1]
    return times, np.append(0, np.cumsum(running * np.diff(times))) / trace.device.slots
