"""Loads that run ahead: properties of every pipeline, and what a GPU measured with 1 to 4 stages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.ideas import pipelining
from tilesim.ladder.reports import report

STEPS, STAGES = st.integers(1, 40), st.integers(1, 8)
LOAD, MULTIPLY = st.integers(0, 5000), st.integers(1, 5000)


@given(STEPS, STAGES, LOAD, MULTIPLY)
def test_what_holds_of_any_pipeline(steps, stages, load, multiply):
    found, more = (pipelining.pipeline(steps, n, load, multiply) for n in (stages, stages + 1))
    rows = found.steps
    # A K-step is multiplied after it has arrived, and a buffer filled after it has been emptied.
    assert (rows["multiply"] >= rows["loaded"]).all() and (rows["loaded"] - rows["load"] == load).all()
    assert (rows["load"][stages:] >= rows["done"][:-stages]).all()
    # The tensor cores multiply one K-step at a time, or stand still.
    assert (rows["done"] - rows["multiply"] == multiply).all() and (found.bubbles >= 0).all()
    assert found.makespan == found.bubbles.sum() + steps * multiply
    # Another stage never makes anything later.
    assert all((more.steps[name] <= rows[name]).all() for name in rows.dtype.names)


@given(STAGES, LOAD, MULTIPLY)
def test_the_long_run_takes_what_the_formula_says(stages, load, multiply):
    cycle = max(1, stages - 1)
    ends = pipelining.pipeline(12 * stages, stages, load, multiply).steps["done"]
    assert (ends[-1] - ends[-1 - cycle]) / cycle == pytest.approx(pipelining.k_step(stages, load, multiply))


@given(LOAD, MULTIPLY, STAGES)
def test_load_and_multiply_are_found_again_in_k_steps(load, multiply, stages):
    measured = {n: pipelining.k_step(n, load, multiply) for n in (1, 1 + stages)}
    if load >= 1 and stages * multiply >= load:
        assert pipelining.times(measured) == (load, multiply)
        assert pipelining.times(dict(reversed(measured.items()))) == (load, multiply)


def test_a_gpu_s_k_steps_are_never_faster_than_the_model_and_at_most_a_sixth_slower():
    measured = {row["stages"]: row["k_step_ns"] for row in report("pipelining")["rows"]}
    load, multiply = pipelining.times(measured)
    ratios = [ns / pipelining.k_step(stages, load, multiply) for stages, ns in measured.items()]
    assert len(ratios) == 4 and all(0.999 < ratio < 7 / 6 for ratio in ratios)


def test_the_tensor_cores_rate_is_what_the_fastest_k_step_comes_near():
    """128 x 256 x 64 products at 4,096 FLOP a cycle and SM: NVIDIA H100 whitepaper V1.04, table 2."""
    cycles = min(row["k_step_cycles"] for row in report("pipelining")["rows"])
    assert 1 < cycles / (2 * 128 * 256 * 64 / 4096) < 1.1
