"""Recorded runs that no cost was fitted to: simulated, they are as long as they were."""

from pathlib import Path

import numpy as np
import pytest

import tilesim
from tilesim import Trace
from tilesim.analysis.compare import compare
from tilesim.default_costs import shipped
from tilesim.engine.simulate import replay

DATA = Path(tilesim.__file__).parent / "data"


@pytest.fixture(scope="module")
def held_out():
    return [Trace.load(path) for path in sorted((DATA / "held_out").glob("*.npz"))]


def shape(trace):
    return trace.schedule, trace.problem.m, trace.problem.n, trace.problem.k, trace.problem.tile


def test_no_shape_that_was_fitted_is_held_out(held_out):
    fitted = {name for entry in shipped("h200") for name in entry.names}
    assert fitted == {path.name for path in (DATA / "traces").glob("*.npz")}
    known = {shape(Trace.load(DATA / "traces" / name)) for name in fitted}
    assert not known & set(map(shape, held_out))


def test_they_are_repeated(held_out):
    """In SM cycles, half of them within 2 %, nine of ten within 6 %, all within 20 %."""
    errors = [abs(compare(replay(trace), trace).run_cycles.error) for trace in held_out]
    assert len(errors) >= 50
    assert np.quantile(errors, 0.5) < 0.02
    assert np.quantile(errors, 0.9) < 0.06
    assert max(errors) < 0.2
