"""What the film of busy SMs says follows from its traces and from the report that it is given."""

from copy import deepcopy

import numpy as np
import pytest

from tilesim import Device, Problem, simulate
from tilesim.errors import TraceError
from tilesim.ladder.reports import report
from tilesim_scenes.film.traces import shipped
from tilesim_scenes.story.ideas.busy_sms import clock_rise, queue_of, tell

SCHEDULES = ("naive", "persistent", "persistent-dynamic")
RECORDED = tuple(shipped(f"busy_sms/h200-{name}-busy20-4224x4096x4096-grouped8.npz") for name in SCHEDULES)
STORY = tell(RECORDED, report("busy_sms"))


def few(held: int, schedules: tuple[str, ...] = SCHEDULES):
    device = Device.named("h200", sms=4, busy_sms=held)
    return tuple(simulate(name, Problem(384, 1536, 512), device) for name in schedules)


@pytest.mark.parametrize("trace", RECORDED, ids=SCHEDULES)
def test_no_recorded_tile_ran_on_an_sm_that_was_held(trace):
    held = set(range(132)) - set(trace.device.free_sms)
    assert len(held) == trace.device.busy_sms == 20
    assert not held & set(trace.spans["sm"].tolist())
    assert len(set(trace.spans["sm"].tolist())) == 112


def test_the_blocks_that_queue_are_those_beyond_the_free_sms_and_begin_when_others_end():
    trace, queued = STORY.run, STORY.queued
    assert sorted(queued.blocks) == list(range(112, 132)) and trace.schedule == "persistent"
    spans = trace.spans
    for sm, begin in zip(queued.sms, queued.begins, strict=True):
        before = spans[(spans["sm"] == sm) & (spans["start"] < begin)]
        assert before["done"].max() <= begin
    assert STORY.idle[0] == 112 - 20


@pytest.mark.parametrize("schedule", ["naive", "persistent-dynamic"])
def test_where_nobody_owns_a_tile_no_block_queues(schedule):
    assert queue_of(RECORDED[SCHEDULES.index(schedule)]).blocks == ()


def test_the_growth_is_that_of_the_report():
    of = (4224, 4096, 4096)
    rows = [row for row in report("busy_sms")["rows"] if (row["m"], row["n"], row["k"]) == of]
    us = {(row["kernel"], row["busy_sms"]): row["us"] for row in rows}
    assert STORY.growth == tuple(us[name, 20] / us[name, 0] for name in SCHEDULES)
    assert float(STORY.number[1:]) == pytest.approx(STORY.growth[1], abs=0.005)
    assert STORY.growth[1] > 1.5 * max(STORY.growth[0], STORY.growth[2])


def test_figures_are_simulated_where_the_report_has_no_such_product():
    story = tell(few(1), report("busy_sms"))
    assert not story.from_report and story.measured == ()
    alone = [trace.makespan for trace in few(1)]
    usual = [simulate(name, Problem(384, 1536, 512), Device(4, name="h200")).makespan for name in SCHEDULES]
    assert story.growth == pytest.approx([a / b for a, b in zip(alone, usual, strict=True)])


def test_other_times_say_something_else():
    other = deepcopy(dict(report("busy_sms")))
    for row in other["rows"]:
        row["us"] = 100.0 + row["busy_sms"]
    story = tell(RECORDED, other)
    assert story.number == "×1.20" and len({story.finding, STORY.finding}) == 2
    assert story.sweep != STORY.sweep


def test_where_all_free_sms_are_needed_again_none_is_said_to_be_idle():
    half = Device.named("h200", busy_sms=66)
    traces = tuple(simulate(name, Problem(4224, 4096, 512), half) for name in SCHEDULES)
    story = tell(traces)
    assert story.idle[0] == 0 and "0" not in story.nobody_helps and story.bracket == "{length}"
    assert "92" in STORY.nobody_helps and "92" in STORY.bracket


def test_the_clock_rises_where_it_is_recorded_to():
    assert 0.05 < clock_rise(STORY.run, STORY.idle[1]) < 0.15 and "%" in STORY.apart
    assert clock_rise(few(1)[1], 10_000) == 0.0 and tell(few(1)).apart == ""


@pytest.mark.parametrize(
    ("traces", "says"),
    [
        (few(0), "as many SMs are held, 1 or more; here 0, 0, 0"),
        ((*few(1)[:2], few(2)[2]), "here 1, 1, 2"),
        (few(1, ("naive", "persistent-dynamic")), "naive, persistent-dynamic have no such blocks"),
    ],
)
def test_runs_that_do_not_show_it_are_refused_in_a_sentence(traces, says):
    with pytest.raises(TraceError, match=says):
        tell(traces)


def test_the_simulated_curves_rise_and_a_static_run_never_grows_less_than_a_dynamic_one():
    naive, static, dynamic = (np.array(points) for points in STORY.simulated)
    for points in (naive, static, dynamic):
        assert (np.diff(points[:, 1]) >= -0.01).all() and points[0].tolist() == [0, 1]
    assert (static[:, 1] >= dynamic[:, 1] - 0.02).all()
