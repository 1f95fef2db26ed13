"""What the film reduction says follows from the model and from the measurement that it is given."""

from copy import deepcopy

import pytest

from tilesim.errors import TilesimError
from tilesim.ladder.reports import report
from tilesim_scenes.story.ideas import reduction


def changed(change):
    """The shipped report with each row changed."""
    other = deepcopy(dict(report("reductions")))
    other["rows"] = [row | change(row) for row in other["rows"]]
    return other


def test_the_beats_are_47_and_12_and_the_gpu_counts_them():
    story = reduction.tell()
    assert story.beats == {"interleaved": 47, "sequential": 12}
    assert story.badge[1] == "counted"


def test_other_blocks_than_those_counted_are_of_the_model():
    assert reduction.tell(threads=512).badge[1] == "model"
    assert reduction.tell(threads=512).beats["interleaved"] > 47


def test_the_slowest_access_has_eight_lanes_at_each_of_four_banks():
    story = reduction.tell()
    assert "8" in story.queue and "4" in story.queue
    assert len(story.access.words) == 32 and len(set(story.access.banks.tolist())) == 4
    assert "32" in reduction.tell(threads=1024).queue


def test_the_longest_vector_is_the_one_that_is_told():
    story = reduction.tell()
    assert story.n == max(row["n"] for row in report("reductions")["rows"])
    assert float(story.number[1:]) == pytest.approx(story.us["interleaved"] / min(story.us.values()), abs=0.1)


def test_a_sum_is_as_fast_as_a_copy_only_where_it_is():
    told = reduction.tell()
    slow = reduction.tell(changed(lambda row: {"share_of_copy": 0.5}))
    assert told.finding != slow.finding and told.limit != slow.limit
    first = reduction.tell(changed(lambda row: {"us": 1.0 if row["name"] == "interleaved" else 2.0}))
    assert first.fastest == "interleaved" and first.finding not in (told.finding, slow.finding)


def test_what_the_banks_alone_win_is_told_only_where_they_do():
    assert "47→12" in reduction.tell().aside and "21%" in reduction.tell().aside
    alike = reduction.tell(changed(lambda row: {"us": 5.0}))
    assert "→" not in alike.aside


def test_one_wave_goes_over_the_whole_input():
    story = reduction.tell()
    assert (story.resident, story.blocks, story.turns) == (1056, 131072, 125)
    assert (story.turns - 1) * story.resident < story.blocks <= story.turns * story.resident


def test_a_report_without_a_step_is_refused():
    bare = deepcopy(dict(report("reductions")))
    bare["rows"] = [row for row in bare["rows"] if row["name"] != "shuffles"]
    with pytest.raises(TilesimError, match="no row of name shuffles"):
        reduction.tell(bare)


def test_a_sum_that_took_no_time_is_refused():
    with pytest.raises(TilesimError, match="says that interleaved took 0 µs"):
        reduction.tell(changed(lambda row: {"us": 0}))
