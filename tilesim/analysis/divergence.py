"""Divergence: by how much time one run of a problem lags behind another, at each instant.

At any instant both runs have done some share of the work. The lag is how much later one of them had first
done it, so a pause that both make is no lag. The work is each segment's K-steps, spread evenly over the time
in which it holds its slot, from issue to done. Of K-steps multiplied there are none while all slots write or
launch, so a lag in them would jump up and down at the end of each wave; finished tiles come in bursts, too.

Time counts from the first multiply: a measured trace does not show what came before.
"""

from collections.abc import Sequence

import numpy as np

from tilesim.traces import Trace


def since_first_multiply(trace: Trace) -> Trace:
    """The trace as a recorder sees a run: nothing is issued before the first multiply, which is its zero."""
    spans = trace.spans.copy()
    spans["issue"] = np.maximum(spans["issue"], spans["start"].min())
    return Trace(trace.problem, trace.device, trace.schedule, spans, trace.origin, trace.tick_ns, trace.meta)


def on_one_clock(traces: Sequence[Trace]) -> list[Trace]:
    """Traces to be seen together: those of both origins from their first multiply on, as a recorder sees a
    run.

    >>> [trace.makespan for trace in on_one_clock([_example(), _example()])]
    [2000, 2000]
    """
    both = len({trace.origin for trace in traces}) > 1
    return [since_first_multiply(trace) if both else trace for trace in traces]


ROUNDING = 1e-12
"""Of a share of all work."""


def time_lag(simulated: Trace, measured: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(times, lags): the time lag of the measured run, ns, and when, ns after the first multiply: float64
    [n].

    It is negative while the simulation is behind. Between two of the times it is linear. It ends, with the
    longer of the runs, at the difference of the two.

    >>> slow = _example(k_step=1500)
    >>> [values.round(1).tolist() for values in time_lag(_example(), slow)]
    [[0.0, 1000.0, 1500.0, 2000.0, 3000.0], [0.0, 333.3, 500.0, 666.7, 1000.0]]
    """
    runs = _work(simulated), _work(measured)
    # It bends where either run does, and where the one behind passes a bend of the other.
    bends = [at for at, _ in runs] + [
        _reached(other, share) for (_, share), other in zip(runs, reversed(runs), strict=True)
    ]
    times = np.unique(np.concatenate(bends))
    # Both have done this much by then.
    shares = np.minimum(*(np.interp(times, *work) for work in runs))
    return times, _reached(runs[1], shares) - _reached(runs[0], shares)


def _work(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(times, shares): the share of the work that is done, linear between its bends: float64, shape [n]."""
    spans, first = trace.spans, trace.spans["start"].min()
    end = spans["done"] - first
    begin = np.minimum(np.maximum(0, spans["issue"] - first), end - 1)
    rate = (spans["k1"] - spans["k0"]) / (end - begin)
    times, at = np.unique(np.concatenate([begin, end]), return_inverse=True)
    rates = np.cumsum(np.bincount(at, np.concatenate([rate, -rate])))[:-1]
    done = np.append(0.0, np.cumsum(np.maximum(0.0, rates) * np.diff(times)))
    return times.astype(float), done / done[-1]


def _reached(work: tuple[np.ndarray, np.ndarray], shares: np.ndarray) -> np.ndarray:
    """When a run has first done each of `shares`, ns: float64, shape [shares]."""
    times, done = work
    # A share that was rounded up would be reached only after a pause.
    after = np.maximum(1, np.searchsorted(done, shares - ROUNDING))
    before = after - 1
    part = (shares - done[before]) / (done[after] - done[before])
    return times[before] + part * (times[after] - times[before])


def _example(k_step: float = 1000) -> Trace:
    """3 tiles of one K-step on 2 SMs."""
    from tilesim import Costs, Device, Problem, simulate

    return simulate("naive", Problem(128, 384, 4, tile=(128, 128, 4)), Device(2), Costs(k_step=k_step))
