"""The film of any trace: what it says is what the trace's rows say, whoever wrote the kernel."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from strategies import EVERY_SCHEDULE

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.analysis.time_account import account
from tilesim.formats.reader import read
from tilesim.metrics import utilization
from tilesim_scenes.story.traces.runs import tells_writes
from tilesim_scenes.story.traces.time_shares import CAUSES, longest_pause, shares, stretches
from tilesim_scenes.story.traces.trace import ROWS, bars_caption, finding, name_of, said_of_pause, tell

OWN = Path(__file__).parents[2] / "own_kernel.csv"
PROBLEM = Problem(384, 1536, 512)
COSTS = Costs(k_step=99, launch=100, prologue=300, tile_gap=80, epilogue=700, partial=60, merge=20, fixup=90)
DEVICES = [Device(1), Device(4), Device(4, 2), Device(30)]


def runs():
    for schedule in EVERY_SCHEDULE:
        for device in DEVICES:
            yield pytest.param(simulate(schedule, PROBLEM, device, COSTS), id=f"{schedule} {device}")


@pytest.mark.parametrize("trace", runs())
def test_stretches_follow_one_another_from_zero_to_the_end(trace):
    found = stretches(trace)
    assert (found.end > found.begin).all()
    for slot in np.unique(found.slot):
        mine = np.flatnonzero(found.slot == slot)
        mine = mine[np.argsort(found.begin[mine])]
        assert found.begin[mine[0]] == 0 and found.end[mine[-1]] == trace.makespan
        assert (found.begin[mine[1:]] == found.end[mine[:-1]]).all()


@pytest.mark.parametrize("trace", runs())
def test_shares_add_up_and_agree_with_the_account_of_time(trace):
    found, parts = shares(trace), account(trace)
    assert sum(found.values()) == pytest.approx(1)
    assert found["multiply"] == pytest.approx(utilization(trace))
    whole = trace.device.slots * trace.makespan
    of_cause = {"tail": ["tail"], "wait": ["wait"], "fix up": ["fix up"], "write": ["write", "last write"]}
    for cause, names in of_cause.items():
        assert found[cause] * whole == pytest.approx(sum(parts[name] for name in names))


@pytest.mark.parametrize("trace", runs())
def test_no_pause_is_longer_than_the_longest(trace):
    pause = longest_pause(trace)
    spans = trace.spans[(trace.spans["sm"] == pause.sm) & (trace.spans["slot"] == pause.place)]
    inside = (spans["start"] < pause.end) & (spans["drain"] > pause.begin)
    assert not inside.any()
    for sm, place in {(one["sm"], one["slot"]) for one in trace.spans}:
        mine = np.sort(trace.spans[(trace.spans["sm"] == sm) & (trace.spans["slot"] == place)], order="start")
        edges = np.append(mine["start"], trace.makespan) - np.append(0, mine["drain"])
        assert edges.max() <= pause.length


def test_a_foreign_kernel_s_largest_loss_is_its_tail_not_its_launches():
    story = tell(read(OWN))
    assert story.most == "tail" and story.pause.cause == "tail"
    assert story.shares["tail"] > 100 * story.shares["launch"]
    assert [cause for cause, _ in story.bars][:2] == ["multiply", "tail"]
    assert "launch" not in finding(story)
    assert story.name == "my matmul"


def test_the_rows_that_are_shown_are_the_file_s_and_of_several_sms():
    story = tell(read(OWN))
    spans = story.trace.spans[list(story.rows)]
    told = [",".join(str(one[name]) for name in ("tile", "sm", "start", "done")) for one in spans]
    assert list(story.lines[1:]) == told and list(story.rows) == sorted(story.rows)
    assert len(set(spans["sm"].tolist())) == len(story.rows) == ROWS


@pytest.mark.parametrize(("sms", "tiles", "rows"), [(1, 1, 1), (1, 16, ROWS), (2, 3, 3)])
def test_where_sms_are_few_the_first_rows_are_shown(sms, tiles, rows):
    story = tell(simulate("naive", Problem(128, 256 * tiles, 512), Device(sms), COSTS))
    assert story.rows == tuple(range(rows))


def test_a_run_without_a_pause():
    story = tell(simulate("naive", Problem(128, 512, 4, tile=(128, 128, 4)), Device(4), Costs.ideal()))
    assert story.pause is None and story.most is None
    assert [cause for cause, _ in story.bars] == ["multiply"]


def test_writing_that_was_not_stamped_is_not_called_multiplying():
    spans = simulate("naive", PROBLEM, Device(4), COSTS).spans.copy()
    told = Trace(PROBLEM, Device(4), "mine", spans, "measured", 32, {})
    spans["drain"] = spans["ready"] = spans["fixup"] = spans["done"]
    untold = Trace(PROBLEM, Device(4), "mine", spans, "measured", 32, {})
    assert tells_writes(told) and not tells_writes(untold)
    assert name_of(tell(told), "multiply") != name_of(tell(untold), "multiply")


def test_a_measured_launch_says_where_its_length_is_from():
    simulated = simulate("naive", PROBLEM, Device(4), Costs(k_step=99, launch=165))
    measured = replace(simulated, origin="measured", meta={})
    assert bars_caption(tell(measured)) != bars_caption(tell(simulated))


def test_it_says_so_too_where_a_launch_is_seen_in_the_longest_pause_alone():
    simulated = simulate(
        "naive", Problem(128, 256, 512), Device(1), Costs(k_step=9, launch=165, prologue=999)
    )
    story = tell(replace(simulated, origin="measured", meta={}))
    assert story.pause.causes == ("first load", "launch")
    unseen = replace(story, shares=story.shares | {"launch": 0.0})
    assert bars_caption(unseen) == bars_caption(story) != bars_caption(replace(unseen, pause=None))


def test_every_cause_has_a_name_and_a_finding():
    story = tell(simulate("naive", PROBLEM, Device(4), COSTS))
    assert len({name_of(story, cause) for cause in CAUSES}) == len(CAUSES)
    assert len({finding(replace(story, most=cause)) for cause in (None, *CAUSES[1:])}) == len(CAUSES)
    paused = (replace(story, pause=replace(story.pause, causes=(cause,))) for cause in CAUSES[1:])
    assert len(set(map(said_of_pause, paused))) == len(CAUSES) - 1
