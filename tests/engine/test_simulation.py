"""A run played once more: by its schedule, or by what its thread blocks did."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import costs, devices, planned

from tilesim import Costs, Device, Problem, simulate
from tilesim.engine.simulate import replay
from tilesim.errors import CostsError

HANDED_OUT = ("persistent-dynamic", "cluster-launch-control")
"""Schedules in which a run decides who does what."""


@given(planned(), devices(), costs(), st.integers(0, 9))
def test_a_registered_schedule_is_simulated(case, device, costs, seed):
    schedule, problem = case
    trace = simulate(schedule, problem, device, costs, seed)
    again = replay(trace, costs, seed)
    assert again.spans.tolist() == trace.spans.tolist()
    assert again.meta == trace.meta


@given(planned().filter(lambda case: case[0] not in HANDED_OUT), devices(), costs(), st.integers(0, 9))
def test_a_run_of_another_name_is_played_as_it_was(case, device, costs, seed):
    """Thread blocks may have other numbers, as those without work leave no trace."""
    schedule, problem = case
    trace = simulate(schedule, problem, device, costs, seed)
    again = replay(replace(trace, schedule="my kernel"), costs, seed)
    assert again.schedule == "my kernel"
    for name in set(trace.spans.dtype.names) - {"cta"}:
        assert again.spans[name].tolist() == trace.spans[name].tolist()


def test_segments_handed_out_while_running_stay_with_their_blocks():
    costs = Costs(k_step=100, jitter=0.3)
    trace = simulate("persistent-dynamic", Problem(1024, 1024, 256), Device(3), costs)
    again = replay(replace(trace, schedule="my kernel"), replace(costs, jitter=0))
    for cta in range(3):
        tiles = [run.spans["tile"][run.spans["cta"] == cta].tolist() for run in (trace, again)]
        assert tiles[0] == tiles[1]


@pytest.mark.parametrize("schedule", ["naive", "persistent"])
def test_default_costs_are_those_of_blocks_that_work_alike(schedule):
    trace = simulate(schedule, Problem(4096, 4096, 512), Device.named("h200"))
    again = replay(replace(trace, schedule="my kernel"))
    assert again.meta["costs"] == trace.meta["costs"]
    assert np.array_equal(again.spans["done"], trace.spans["done"])


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_a_seed_is_checked(seed):
    trace = replace(simulate("naive", Problem(8, 8, 8), Device(1)), schedule="my kernel")
    with pytest.raises(CostsError, match=f"the seed is {seed}"):
        replay(trace, seed=seed)
