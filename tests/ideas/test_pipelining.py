"""Loads that run ahead: properties of every pipeline, and what a GPU measured with 1 to 4 stages."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.ideas import pipelining
from tilesim.ladder.reports import report

STEPS, STAGES = st.integers(1, 40), st.integers(1, 8)
LOAD, MULTIPLY = st.integers(0, 5000), st.integers(1, 5000)


@given(STEPS, STAGES, LOAD, MULTIPLY)
def test_a_k_step_is_multiplied_after_it_has_arrived_and_one_at_a_time(steps, stages, load, multiply):
    found = pipelining.pipeline(steps, stages, load, multiply)
    rows = found.steps
    assert (rows["multiply"] >= rows["loaded"]).all() and (rows["loaded"] - rows["load"] == load).all()
    assert (rows["done"] - rows["multiply"] == multiply).all() and (found.bubbles >= 0).all()


@given(STEPS, STAGES, LOAD, MULTIPLY)
def test_a_buffer_is_filled_only_after_it_has_been_emptied(steps, stages, load, multiply):
    rows = pipelining.pipeline(steps, stages, load, multiply).steps
    assert (rows["load"][stages:] >= rows["done"][:-stages]).all()


@given(STEPS, STAGES, LOAD, MULTIPLY)
def test_the_tensor_cores_multiply_or_stand_still(steps, stages, load, multiply):
    found = pipelining.pipeline(steps, stages, load, multiply)
    assert found.makespan == found.bubbles.sum() + steps * multiply


@given(STEPS, STAGES, LOAD, MULTIPLY)
def test_another_stage_never_makes_anything_later(steps, stages, load, multiply):
    fewer, more = (pipelining.pipeline(steps, n, load, multiply).steps for n in (stages, stages + 1))
    assert all((more[name] <= fewer[name]).all() for name in fewer.dtype.names)


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


def test_a_gpu_s_k_steps_are_never_faster_than_the_model_and_at_most_a_sixth_slower():
    measured = {row["stages"]: row["k_step_ns"] for row in report("pipelining")["rows"]}
    load, multiply = pipelining.times(measured)
    ratios = [ns / pipelining.k_step(stages, load, multiply) for stages, ns in measured.items()]
    assert len(ratios) == 4 and all(0.999 < ratio < 7 / 6 for ratio in ratios)


def test_the_tensor_cores_rate_is_what_the_fastest_k_step_comes_near():
    """128 x 256 x 64 products at 4,096 FLOP a cycle and SM: NVIDIA H100 whitepaper V1.04, table 2."""
    cycles = min(row["k_step_cycles"] for row in report("pipelining")["rows"])
    assert 1 < cycles / (2 * 128 * 256 * 64 / 4096) < 1.1


def test_times_do_not_depend_on_the_order_of_the_measurements():
    assert pipelining.times({4: 10.0, 1: 25.0}) == pipelining.times({1: 25.0, 4: 10.0}) == (15, 10)
    assert np.isclose(pipelining.k_step(2, 15, 10), 15)
