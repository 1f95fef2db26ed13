"""What blocks that share an SM do to each other's main loops, as traces show it. Part of calibration."""

from collections.abc import Sequence

import numpy as np

from tilesim.costs import even_shares
from tilesim.traces import Trace

LEAST_SPREAD = 0.02
"""Standard deviation of the share of time alone on the SM, below which co-residency cannot be fitted."""


def coresidency(traces: Sequence[Trace]) -> tuple[float, ...]:
    """f(1), f(2) ... from how fast K-steps of whole tiles advance beside 0, 1 ... other main loops of the SM.

    f(r) is from 1, where nothing is shared, to r, where everything is. Where none ever was alone it cannot be
    told: r main loops then share their SM's rate.
    """
    beside = np.concatenate([shares(trace) for trace in traces])
    factors = list(even_shares(beside.shape[1]))
    steps = np.concatenate([trace.spans["k1"] - trace.spans["k0"] for trace in traces])
    whole = np.concatenate([np.full(len(trace.spans), trace.problem.k_steps) for trace in traces]) == steps
    beside = beside[whole]
    if len(beside) and beside[:, 0].std() > LEAST_SPREAD:
        ns = np.concatenate([trace.spans["drain"] - trace.spans["start"] for trace in traces])
        seen = np.flatnonzero(beside.any(axis=0))
        speed = np.linalg.lstsq(beside[:, seen], (steps / np.maximum(1, ns))[whole], rcond=None)[0]
        for r, slower in zip(seen.tolist(), (speed[0] / speed).tolist(), strict=True):
            factors[r] = min(max(1.0, slower), r + 1.0)
    return tuple(round(f, 4) for f in factors)


def shares(trace: Trace) -> np.ndarray:
    """The share of each main loop with r + 1 main loops on its SM: float64, shape [spans, ctas_per_sm].

    One that is over within a step of the clock counts as alone.
    """
    spans, most = trace.spans, trace.device.ctas_per_sm
    share = np.zeros((len(spans), most))
    if most == 1:
        share[:] = 1.0
        return share
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
    share[~share.any(axis=1), 0] = 1.0
    return share / share.sum(axis=1, keepdims=True)
