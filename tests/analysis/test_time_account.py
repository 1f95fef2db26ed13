"""The account of a run's time: its parts are exact for any run, and known for runs made by hand."""

from dataclasses import replace

import pytest
import strategies
from hypothesis import given
from recordings import recording

from tilesim import Costs, Device, Problem, simulate
from tilesim.analysis.time_account import (
    PARTS,
    PAUSE,
    account,
    difference,
    difference_by_sm,
    over_a_write,
)

NAIVE, PERSISTENT = (recording(f"{name}-4096x4096x512-grouped8") for name in ("naive", "persistent"))


@given(strategies.planned(), strategies.devices(), strategies.costs())
def test_parts_add_up_and_only_what_a_write_does_can_be_a_gain(asked, device, costs):
    run = simulate(*asked, device, costs)
    whole = account(run)
    assert sum(whole.values()) == run.device.slots * run.makespan
    assert min(ns for part, ns in whole.items() if part != "slowed by a write") >= 0


@given(strategies.planned(), strategies.devices(), strategies.costs(), strategies.costs())
def test_differences_add_up_over_parts_and_sms(asked, device, costs, others):
    schedule, problem = asked
    runs = simulate(schedule, problem, device, costs), simulate("persistent", problem, device, others)
    whole, by_sm, free = difference(*runs), difference_by_sm(*runs), list(device.free_sms)
    assert sum(whole.values()) == pytest.approx(runs[0].makespan - runs[1].makespan, abs=1e-3)
    for part in PARTS:
        # What a write takes is rounded to a nanosecond once for each SM.
        assert by_sm[part][free].mean() == pytest.approx(whole[part], abs=2)


@pytest.mark.parametrize(
    ("schedule", "cost", "part"),
    [
        ("naive", "launch", "launch"), ("naive", "prologue", "first load"), ("naive", "epilogue", "write"),
        ("persistent", "tile_gap", "hand over"),
    ],
)  # fmt: skip
def test_what_a_cost_adds_between_two_tiles_is_in_its_part(schedule, cost, part):
    problem, device = Problem(64, 64 * 3, 16, tile=(64, 64, 16)), Device(1)
    runs = [simulate(schedule, problem, device, Costs(100, **{cost: ns})) for ns in (70, 20)]
    assert difference(*runs)[part] == 2 * 50


def test_main_loops_over_a_write_are_held_against_the_pace_of_the_others():
    problem, device = Problem(64, 64 * 3, 16, tile=(64, 64, 16)), Device(1)
    costs = Costs(100, epilogue=50, overlap=True, epilogue_overlap_penalty=30)
    run = simulate("persistent", problem, device, costs)
    assert over_a_write(run).sum() == 2
    assert account(run)["slowed by a write"] == 2 * 30


def test_a_slot_without_work_is_all_tail():
    run = simulate("naive", Problem(64, 64, 16, tile=(64, 64, 16)), Device(2), Costs(100))
    busy = simulate("naive", Problem(64, 64, 16, tile=(64, 64, 16)), Device(1), Costs(100))
    assert account(run) == account(busy) | {"tail": account(busy)["tail"] + run.makespan}


def test_waiting_for_partials_is_a_part_of_its_own():
    run = recording("stream-k-1408x3840x4096-grouped8")
    waits = run.spans["ready"] - run.spans["drain"]
    assert account(run)["wait"] == waits.sum() > 0


def test_on_the_h200_shorter_pauses_win_more_than_the_clocks_say_as_main_loops_run_over_writes():
    found = difference(NAIVE, PERSISTENT)
    pauses = sum(found[part] for part in PAUSE)
    assert pauses > 1.4 * (NAIVE.makespan - PERSISTENT.makespan)
    assert min(found, key=found.get) == "slowed by a write" and found["slowed by a write"] < -2000


def test_a_run_against_itself_differs_in_nothing():
    assert set(difference(NAIVE, replace(NAIVE)).values()) == {0.0}
