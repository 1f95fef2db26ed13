"""Split-K and friends: with other devices and runs than its own."""

import pytest
from reading import faults
from watching import watch

from tilesim.cli.packages import scene_class

FRIENDS = scene_class("split-k-and-friends")
SMALL = {"m": 384, "n": 1536, "k": 512, "tile": "128x256x64"}


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
