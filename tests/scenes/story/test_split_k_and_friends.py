"""Six schedules on a bad tail: what each says follows from its run."""

from dataclasses import replace
from importlib.resources import as_file, files

import numpy as np
import pytest

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.metrics import splits_tiles
from tilesim_scenes.story.traces.split_k_and_friends import LAUNCH_CONTROL, handed, launch_control, tell

PROBLEM, DEVICE = Problem(1408, 6912, 4096, order="grouped:8"), Device.named("h200")
SCHEDULES = ("naive", "split-k:2", "stream-k", "stream-k-hybrid", "persistent-dynamic")


def shipped(name):
    path = f"data/split_k_and_friends/h200-{name.replace(':', '')}-1408x6912x4096-grouped8.npz"
    with as_file(files("tilesim").joinpath(path)) as file:
        return Trace.load(file)


MEASURED = tuple(map(shipped, SCHEDULES))
STORY = tell((*MEASURED, launch_control(PROBLEM, DEVICE)))


def test_the_shipped_runs_are_of_one_product_one_kernel_and_one_gpu():
    assert {trace.problem for trace in MEASURED} == {PROBLEM}
    assert [trace.schedule for trace in MEASURED] == list(SCHEDULES)
    assert {trace.meta["kernel"] for trace in MEASURED} == {"planned-tma-overlap"}
    assert len({trace.meta["gpu"] for trace in MEASURED}) == 1


def test_33_of_297_tiles_are_left_over_and_99_sms_wait_for_them():
    assert (PROBLEM.tiles, STORY.left_over, STORY.plain.idle.sms) == (297, 33, 99)
    assert STORY.plain.has_tail and "33" in STORY.question


def test_the_hybrid_wins_and_has_no_tail_while_those_of_whole_tiles_stay():
    by = {one.base: one for one in STORY.runs}
    assert STORY.winner is by["stream-k-hybrid"]
    assert not by["stream-k-hybrid"].has_tail and not by["stream-k"].has_tail
    for base in ("persistent-dynamic", LAUNCH_CONTROL):
        assert by[base].tail >= 0.8 * STORY.plain.tail
    assert [one.partials for one in STORY.runs] == [0, 297, 99, 99, 0, 0]


def test_what_is_simulated_does_not_race_against_what_is_measured():
    assert [one.measured for one in STORY.runs] == [True] * 5 + [False]
    instant = launch_control(PROBLEM, DEVICE, Costs.ideal())
    assert tell((*MEASURED, replace(instant))).winner.base == "stream-k-hybrid"


def test_each_run_says_what_it_does_in_a_sentence_of_its_own():
    said = [STORY.says(one) for one in STORY.runs]
    assert len(set(said)) == len(said)
    assert "297" in said[1] and "%" in said[2]


def test_where_k_steps_are_as_fast_stream_k_pays_in_partial_sums():
    ideal = tell([simulate(name, PROBLEM, DEVICE, Costs.ideal()) for name in ("naive", "stream-k")])
    assert "99" in ideal.says(ideal.runs[1]) and "%" not in ideal.says(ideal.runs[1])


def test_where_waves_fill_nothing_beats_whole_tiles():
    full = Problem(1408, 3072, 4096)
    assert full.tiles == 132
    costs = replace(Costs.ideal(), epilogue=500, fixup=500)
    told = tell([simulate(name, full, DEVICE, costs) for name in ("naive", "split-k:2")])
    assert told.winner is told.plain and told.finding != STORY.finding and told.verdict != STORY.verdict
    assert told.elsewhere is None and "132 tiles" in told.question and "left" not in told.question


def test_elsewhere_the_winner_loses():
    whole, cut = STORY.elsewhere
    assert cut > whole and f"{cut:.0f}" in STORY.aside


@pytest.mark.parametrize("trace", MEASURED, ids=SCHEDULES)
def test_partial_sums_go_to_the_block_that_finishes_their_tile(trace):
    pairs = handed(trace)
    assert bool(pairs) == splits_tiles(trace) and len(pairs) <= 10
    for giver, owner in np.array(pairs).reshape(-1, 2):
        one, other = trace.spans[giver], trace.spans[owner]
        assert one["tile"] == other["tile"] and one["cta"] < other["cta"]
        assert one["done"] <= other["done"]


def test_launch_control_is_the_device_s_own_where_it_has_it():
    own = launch_control(PROBLEM, Device.named("b200"))
    assert own.origin == "simulated" and own.device.sms == 148
    assert own.makespan == simulate(LAUNCH_CONTROL, PROBLEM, Device.named("b200")).makespan
