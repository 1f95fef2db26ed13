"""Recorded runs that no cost was fitted to: simulated, they are as long as they were."""

import numpy as np
from recordings import DATA

from tilesim import Trace
from tilesim.analysis.compare import compare
from tilesim.engine.simulate import replay
from tilesim.plans import splits_tiles


def test_they_are_repeated():
    """In SM cycles: plans of whole tiles within 1.35 % in the mean and 6 % at most, others 4.2 % and 15 %."""
    held_out = [Trace.load(path) for path in sorted((DATA / "held_out").glob("*.npz"))]
    errors = np.array([compare(replay(trace), trace).run_cycles.error for trace in held_out])
    split = np.array([splits_tiles(trace.spans, trace.problem) for trace in held_out])
    assert len(errors) >= 50
    for kind, mean, most in ((~split, 0.0135, 0.06), (split, 0.042, 0.15)):
        assert np.abs(errors[kind]).mean() < mean and np.abs(errors[kind]).max() < most
    assert np.quantile(np.abs(errors), 0.5) < 0.0125
    assert np.quantile(np.abs(errors), 0.9) < 0.055
    assert abs(errors[~split].mean()) < 0.005  # neither too fast nor too slow
