"""What divergence says follows from the measurement that it is given."""

import json
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from tilesim.errors import ReportError
from tilesim.ladder.reports import read, report, row
from tilesim_scenes.story.ideas.divergence import tell


def changed(change: Any) -> dict[str, Any]:
    """The shipped report with each row changed."""
    other = deepcopy(dict(report("divergence")))
    other["rows"] = [row | change(row) for row in other["rows"]]
    return other


def many(row: Any, split: str) -> bool:
    return (row["code"], row["split"], row["warps"]) == ("branch", split, 32)


@pytest.mark.parametrize("ways", [2, 3, 4, 17, 32])
def test_each_way_has_its_own_lanes_and_its_own_time(ways):
    story = tell(ways=ways)
    timed = story.branch
    assert sorted(timed.ways) == [-1, *range(ways)] and timed.ways[-1] == -1
    for way, mask in zip(timed.ways[:-1], timed.masks, strict=False):
        assert np.flatnonzero(mask).tolist() == list(range(way, 32, ways))
    assert timed.masks[-1].all() and (np.diff(timed.spans.ravel()) >= 0).all()
    lengths = np.diff(timed.spans[:-1], axis=1)
    assert lengths.max() < 1.05 * lengths.min()


def test_the_loops_lanes_leave_one_after_another():
    timed = tell().loop
    assert timed.masks.sum(axis=1).tolist() == list(range(32, 0, -1))
    assert np.diff(timed.spans, axis=1).std() < 1e-6 and timed.active.startswith("16.5 of 32")
    assert timed.end == row(report("divergence"), code="loop", warps=1, ways=32)["cycles"]


def test_a_step_stands_where_its_way_ran():
    turned = deepcopy(dict(report("divergence")))
    spans = next(one for one in turned["spans"] if one["ways"] == 4)["spans"]
    spans.reverse()
    assert tell(turned).branch.ways == (3, 2, 1, 0, -1)
    assert tell(turned).branch.masks[0].nonzero()[0].tolist() == list(range(3, 32, 4))


def test_the_number_is_what_disagreeing_lanes_cost():
    story = tell()
    assert float(story.number[1:]) == pytest.approx(story.lanes / story.warps, abs=0.05)
    assert 3.8 < story.lanes / story.warps < 4.1 and "every way" in story.finding
    twice = tell(changed(lambda row: {"cycles": row["cycles"] * (2 if many(row, "lanes") else 1)}))
    assert twice.lanes == 2 * story.lanes and twice.warps == story.warps


def test_the_finding_is_another_where_lanes_may_disagree_for_nothing():
    same = tell(changed(lambda row: {"cycles": 9000.0 if row["warps"] == 32 else row["cycles"]}))
    assert same.number == "×1.0" and same.finding != tell().finding


def test_that_sorted_lanes_lose_nothing_is_said_only_where_it_is_so():
    worse = changed(lambda row: {"cycles": row["cycles"] * (1.2 if row["ways"] > 1 else 1)})
    assert tell(worse).sorted_lanes != tell().sorted_lanes


def test_that_lanes_go_on_together_is_said_only_where_they_did():
    assert tell(changed(lambda row: {"joined": 0.5})).behind != tell().behind


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda row: {"cycles": 0}, "a branch in 4 ways took 0 cycles"),
        (lambda row: {"length": 0}, "length of a row of the report is 0"),
        (lambda row: {"tail_cycles": -5}, "must follow one another"),
        (lambda row: {"ways": 5}, "the report has no row of"),
    ],
)
def test_a_report_that_cannot_be_is_refused(change, says):
    with pytest.raises(ReportError, match=says):
        tell(changed(change))


def test_ways_without_spans_are_refused():
    other = deepcopy(dict(report("divergence")))
    other["spans"] = [one for one in other["spans"] if one["ways"] != 4]
    with pytest.raises(ReportError, match="no row of ways 4"):
        tell(other)
    other["spans"] = [{"ways": 4, "spans": [[0, 5]]}]
    with pytest.raises(ReportError, match="begin and end of each of 4 ways"):
        tell(other)


def test_the_report_that_ships_says_where_it_was_measured_and_is_read_as_anybodys(tmp_path):
    found = report("divergence")
    assert found["machine"]["gpu"] == "NVIDIA H200" and found["method"]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(found))
    assert read(path, "divergence") == found
