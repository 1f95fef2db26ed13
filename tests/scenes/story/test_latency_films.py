"""What latency_hiding says follows from the measurement that it is given."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from tilesim.errors import LadderError
from tilesim.ladder.reports import report
from tilesim_scenes.story.ideas import latency_hiding


def changed(**parts: Any) -> dict[str, Any]:
    """The shipped report of latency-hiding with some parts changed: functions of a row."""
    other = deepcopy(dict(report("latency_hiding")))
    for name, change in parts.items():
        other[name] = [one | change(one) for one in other[name]]
    return other


@pytest.mark.parametrize("warps, counts", [(16, [1, 2, 4, 8, 16]), (2, [1, 2]), (12, [1, 2, 4, 8, 12])])
def test_steps_double_up_to_the_warps_that_are_asked_for(warps, counts):
    steps = latency_hiding.tell(warps=warps).steps
    assert [step.warps for step in steps] == counts
    assert all(step.asked.shape[0] == step.warps for step in steps)


@pytest.mark.parametrize("warps", [2, 7, 32])
def test_all_warps_are_under_way_when_the_lanes_begin(warps):
    for step in latency_hiding.tell(warps=warps).steps:
        assert (step.asked[:, 0] <= 0).all() and (step.came > step.asked).all()
        assert (step.asked[:, 1:] >= step.came[:, :-1]).all()


def test_lanes_have_something_to_show_as_long_as_they_are_shown():
    story = latency_hiding.tell(warps=32)
    assert all(step.came.max(axis=1).min() > 0.9 * story.until for step in story.steps)


def test_the_lanes_tell_of_the_rate_that_was_measured_without_stamps():
    for step in latency_hiding.tell(warps=32).steps:
        turns = np.diff(step.asked, axis=1).mean()
        assert latency_hiding.MOVED * step.warps / turns == pytest.approx(step.rate, rel=0.25)


def test_the_number_is_the_ratio_of_the_rates():
    story = latency_hiding.tell()
    assert float(story.number[1:]) == pytest.approx(story.steps[-1].rate / story.steps[0].rate, abs=0.05)
    half = {True: 0.5, False: 1.0}
    slow = changed(rows=lambda row: {"bytes_per_clock": row["bytes_per_clock"] * half[row["warps"] == 1]})
    assert float(latency_hiding.tell(slow).number[1:]) == pytest.approx(2 * story.gain, abs=0.06)


def test_nothing_won_is_said_where_nothing_is_won():
    flat = changed(
        rows=lambda row: {"bytes_per_clock": 5.0},
        blocks=lambda row: {"k_step_ns": 400.0 * row["blocks"]},
    )
    told, shipped = latency_hiding.tell(flat), latency_hiding.tell()
    assert told.finding != shipped.finding and told.two_blocks != shipped.two_blocks
    assert told.number == "×1.0"


def test_longer_waits_are_said_only_of_those_that_are_longer():
    story = latency_hiding.tell()
    assert "×" not in story.more(story.steps[1]) and "×1.8" in story.more(story.steps[-1])
    assert "1.8" in story.aside
    even = latency_hiding.tell(changed(rows=lambda row: {"wait": {"p20": 1, "p50": 800, "p80": 2000}}))
    assert "×" not in even.more(even.steps[-1]) and even.aside == ""


def test_littles_law_gives_the_warps_that_fill_memory():
    story = latency_hiding.tell()
    assert story.needed == pytest.approx(story.most / story.all_sms[1])
    assert f"{story.needed:.0f} warps" in story.law


def test_lines_under_way_follow_from_rate_and_latency():
    story = latency_hiding.tell()
    other = deepcopy(dict(report("latency_hiding")))
    other["host"]["latency_ns"] *= 2
    assert latency_hiding.tell(other).lines_of_host == pytest.approx(2 * story.lines_of_host)
    assert story.lines_of_sm == story.threads * 32 / 64


def test_two_blocks_share_the_sm_that_one_has_alone():
    story = latency_hiding.tell()
    assert story.blocks[2, 3] == story.each[2, 3] / 2 and story.blocks[1, 3] == story.each[1, 3]
    assert f"{story.each[1, 3] / (story.each[2, 3] / 2):.2f}" in story.two_blocks


def test_a_report_without_the_warps_that_are_asked_for_is_refused():
    other = deepcopy(dict(report("latency_hiding")))
    other["lanes"] = other["lanes"][:40]
    with pytest.raises(LadderError, match="no row of sms 132, warps 16"):
        latency_hiding.tell(other)
