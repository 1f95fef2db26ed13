"""Reduction, and split-K and friends: with other parameters, devices and runs than their own."""

import pytest
from reading import faults
from watching import watch

from tilesim.cli.packages import scene_class
from tilesim.errors import TilesimError

REDUCTION, FRIENDS = (scene_class(name) for name in ("reduction", "split-k-and-friends"))
SMALL = {"m": 384, "n": 1536, "k": 512, "tile": "128x256x64"}


@pytest.mark.parametrize("warps", [1, 32])
def test_blocks_of_one_warp_and_of_the_most_climb_their_trees(warps):
    assert not faults(watch(REDUCTION, "square", {"warps": warps}))


@pytest.mark.parametrize(
    ("warps", "says"), [(3, "are 96; they must be"), (0, "from 1 to 32"), (64, "from 1")]
)
def test_a_block_that_climbs_no_tree_is_refused_in_a_sentence(warps, says):
    with pytest.raises(TilesimError, match=says):
        REDUCTION.checked({"warps": warps})


@pytest.mark.parametrize("settings", [SMALL | {"sms": 4}, {"device": "b200"}])
def test_six_schedules_are_simulated_for_any_product_and_device(settings):
    seen = watch(FRIENDS, "wide", settings, moving="sms" in settings)
    assert not faults(seen)
    assert {trace.origin for trace in seen.scene.traces} == {"simulated"} and len(seen.scene.traces) == 6


def test_by_default_five_runs_are_measured_and_launch_control_is_simulated():
    traces = FRIENDS().traces_of({})
    assert [trace.origin for trace in traces] == ["measured"] * 5 + ["simulated"]
    assert {trace.problem.title for trace in traces} == {FRIENDS.default.problem.title}


def test_costs_that_are_given_are_those_of_all_six():
    traces = FRIENDS().traces_of({"costs": "ideal"})
    assert [trace.makespan for trace in traces] == [192_000, 160_000, 144_000, 144_000, 192_000, 192_000]
