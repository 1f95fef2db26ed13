"""Divergence: how far one run of a problem lags behind another at each moment.

The lag is how much later one run reached the share of the work that both have done. A segment's K-steps count
as spread evenly from issue to done: multiplied K-steps alone would make the lag jump at the end of each wave.
Time counts from the first multiply, where a measured trace begins.
"""

from collections.abc import Sequence

import numpy as np

from tilesim.traces import Trace


def since_first_multiply(trace: Trace) -> Trace:
    """The trace as a recorder would see it: nothing is issued before the first multiply, which is at 0."""
    spans = trace.spans.copy()
    spans["issue"] = np.maximum(spans["issue"], spans["start"].min())
    return Trace(trace.problem, trace.device, trace.schedule, spans, trace.origin, trace.tick_ns, trace.meta)


def on_one_clock(traces: Sequence[Trace]) -> list[Trace]:
    """Traces for a joint view; if both origins occur, each starts at its first multiply."""
    both = len({trace.origin for trace in traces}) > 1
    return [since_first_multiply(trace) if both else trace for trace in traces]


ROUNDING = 1e-12
"""As a fraction of all work."""


def time_lag(simulated: Trace, measured: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(times, lags): how far the measured run lags, in ns, at ns after the first multiply: both float64 [n].

    Negative where the simulation is behind, linear between the times; the last is the difference in length.
    """
    runs = _work(simulated), _work(measured)
    # The lag bends where either run does, and where the later one reaches a bend of the other.
    bends = [at for at, _ in runs] + [
        _reached(other, share) for (_, share), other in zip(runs, reversed(runs), strict=True)
    ]
    times = np.unique(np.concatenate(bends))
    shares = np.minimum(*(np.interp(times, *work) for work in runs))
    return times, _reached(runs[1], shares) - _reached(runs[0], shares)


def _work(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(times, shares): the share of work done, linear between these points: float64 [n]."""
    spans, first = trace.spans, trace.spans["start"].min()
    end = spans["done"] - first
    begin = np.minimum(np.maximum(0, spans["issue"] - first), end - 1)
    rate = (spans["k1"] - spans["k0"]) / (end - begin)
    times, at = np.unique(np.concatenate([begin, end]), return_inverse=True)
    rates = np.cumsum(np.bincount(at, np.concatenate([rate, -rate])))[:-1]
    done = np.append(0.0, np.cumsum(np.maximum(0.0, rates) * np.diff(times)))
    return times.astype(float), done / done[-1]


def _reached(work: tuple[np.ndarray, np.ndarray], shares: np.ndarray) -> np.ndarray:
    """When a run first reached each of `shares`, ns: float64 [shares]."""
    times, done = work
    # Without the tolerance, a share that was rounded up would be reached only after the next pause.
    after = np.maximum(1, np.searchsorted(done, shares - ROUNDING))
    before = after - 1
    part = (shares - done[before]) / (done[after] - done[before])
    return times[before] + part * (times[after] - times[before])
