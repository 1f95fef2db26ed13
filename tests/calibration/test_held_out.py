"""Recorded runs that no cost was fitted to: simulated, they are as long as they were."""

from pathlib import Path

import numpy as np

import tilesim
from tilesim import Trace
from tilesim.analysis.compare import compare
from tilesim.engine.simulate import replay

DATA = Path(tilesim.__file__).parent / "data"


def test_they_are_repeated():
    """In SM cycles, half of them within 1.5 %, nine of ten within 6.5 %, all within 15 %."""
    held_out = [Trace.load(path) for path in sorted((DATA / "held_out").glob("*.npz"))]
    errors = [abs(compare(replay(trace), trace).run_cycles.error) for trace in held_out]
    assert len(errors) >= 50
    assert np.quantile(errors, 0.5) < 0.015
    assert np.quantile(errors, 0.9) < 0.065
    assert max(errors) < 0.15
