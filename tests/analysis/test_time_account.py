"""The account of a run's time: its parts are exact for any run, and known for runs made by hand."""

from dataclasses import replace
from importlib.resources import files

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.analysis.time_account import (
    PARTS,
    PAUSE,
    account,
    difference,
    difference_by_sm,
    loop_pace,
    over_a_write,
)


def shipped(name):
    return Trace.load(str(files("tilesim").joinpath(f"data/traces/h200-{name}.npz")))


NAIVE, PERSISTENT = (shipped(f"{name}-4096x4096x512-grouped8") for name in ("naive", "persistent"))
RUNS = strategies.planned().flatmap(
    lambda asked: st.builds(
        simulate, st.just(asked[0]), st.just(asked[1]), strategies.devices(), strategies.costs()
    )
)


@given(RUNS)
def test_the_parts_of_any_run_add_up_to_all_slot_time(run):
    assert sum(account(run).values()) == run.device.slots * run.makespan


@given(RUNS)
def test_only_what_a_write_does_to_main_loops_can_be_a_gain(run):
    parts = account(run)
    assert min(ns for part, ns in parts.items() if part != "slowed by a write") >= 0


@given(RUNS)
def test_the_accounts_of_single_sms_add_up_to_that_of_all(run):
    pace = loop_pace(run)
    alone = [account(run, pace, frozenset({sm})) for sm in run.device.free_sms]
    whole = account(run, pace)
    for part in PARTS:
        # What a write takes is rounded to a nanosecond once for each SM.
        assert sum(parts[part] for parts in alone) == pytest.approx(whole[part], abs=run.device.sms)


@given(st.data())
def test_the_differences_of_any_two_runs_add_up_to_that_of_their_makespans(data):
    schedule, problem = data.draw(strategies.planned())
    runs = [
        simulate(name, problem, data.draw(strategies.devices()), data.draw(strategies.costs()))
        for name in (schedule, "persistent")
    ]
    assert sum(difference(*runs).values()) == pytest.approx(runs[0].makespan - runs[1].makespan, abs=1e-3)


@given(st.data())
def test_the_difference_of_each_sm_is_that_of_the_sm_alone(data):
    schedule, problem = data.draw(strategies.planned())
    device, costs = data.draw(strategies.devices()), data.draw(strategies.costs())
    runs = [simulate(name, problem, device, costs) for name in (schedule, "persistent")]
    found = difference_by_sm(*runs)
    for sm in device.free_sms:
        assert {part: found[part][sm] for part in PARTS} == difference(*runs, frozenset({sm}))


@pytest.mark.parametrize(
    ("cost", "part"), [("launch", "launch"), ("prologue", "first load"), ("epilogue", "write")]
)
def test_what_a_cost_adds_between_two_tiles_is_in_the_part_of_its_name(cost, part):
    problem, device = Problem(64, 64 * 3, 16, tile=(64, 64, 16)), Device(1)
    runs = [simulate("naive", problem, device, Costs(100, **{cost: ns})) for ns in (70, 20)]
    assert difference(*runs)[part] == 2 * 50


def test_a_blocks_own_next_tile_is_handed_over():
    problem, device = Problem(64, 64 * 3, 16, tile=(64, 64, 16)), Device(1)
    runs = [simulate("persistent", problem, device, Costs(100, tile_gap=ns)) for ns in (70, 20)]
    assert difference(*runs)["hand over"] == 2 * 50


def test_main_loops_over_a_write_are_held_against_the_pace_of_the_others():
    problem, device = Problem(64, 64 * 3, 16, tile=(64, 64, 16)), Device(1)
    run = simulate(
        "persistent", problem, device, Costs(100, epilogue=50, overlap=True, epilogue_overlap_penalty=30)
    )
    assert over_a_write(run).sum() == 2
    assert account(run)["slowed by a write"] == 2 * 30


def test_a_slot_without_work_is_all_tail():
    run = simulate("naive", Problem(64, 64, 16, tile=(64, 64, 16)), Device(2), Costs(100))
    assert account(run, sms=frozenset({1}))["tail"] == run.makespan


def test_waiting_for_partials_is_a_part_of_its_own():
    run = shipped("stream-k-1408x3840x4096-grouped8")
    waits = run.spans["ready"] - run.spans["drain"]
    assert account(run)["wait"] == waits.sum() > 0


def test_on_the_h200_shorter_pauses_win_more_than_the_clocks_say():
    found = difference(NAIVE, PERSISTENT)
    pauses = sum(found[part] for part in PAUSE)
    assert pauses > 1.4 * (NAIVE.makespan - PERSISTENT.makespan)


def test_on_the_h200_the_rest_goes_into_main_loops_over_a_write():
    found = difference(NAIVE, PERSISTENT)
    assert min(found, key=found.get) == "slowed by a write"
    assert found["slowed by a write"] < -2000


def test_a_run_against_itself_differs_in_nothing():
    assert set(difference(NAIVE, replace(NAIVE)).values()) == {0.0}
