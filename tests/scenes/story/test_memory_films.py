"""What coalescing and pipelining say follows from the measurement that they are given."""

from copy import deepcopy
from typing import Any

import pytest

from tilesim.ladder.reports import report
from tilesim_scenes.story.ideas import coalescing


def changed(bench: str, change: Any) -> dict[str, Any]:
    """The shipped report with each row changed."""
    other = deepcopy(dict(report(bench)))
    other["rows"] = [row | change(row) for row in other["rows"]]
    return other


def test_a_load_down_a_column_moves_a_sector_for_each_thread_and_one_along_rows_wastes_nothing():
    story = coalescing.tell()
    assert (story.down.first.sectors, story.down.first.lines) == (32, 32)
    assert story.down.first.moved == 8 * story.down.first.used
    assert story.along.first.moved == story.along.first.used == 512
    assert story.down.tile.sectors == 8 * story.along.tile.sectors


@pytest.mark.parametrize("dtype", ["fp32", "tf32"])
def test_the_loads_of_both_ways_take_each_element_of_the_tile_once(dtype):
    story = coalescing.tell(dtype=dtype)
    for way in (story.down, story.along):
        places = story.places(way)
        assert len(places) == len(way.addresses)
        covered = sum(rows * columns for _, _, rows, columns in places)
        assert covered == story.rows * story.columns
        assert way.shown.tolist() in way.addresses.tolist()


def test_the_number_is_the_ratio_of_the_times():
    story = coalescing.tell()
    assert float(story.number[1:]) == pytest.approx(story.down.us / story.along.us, abs=0.05)
    twice = changed(
        "coalescing", lambda row: {"us": row["us"] * (2 if row["kernel"] == "uncoalesced" else 1)}
    )
    other = coalescing.tell(twice)
    assert float(other.number[1:]) == pytest.approx(2 * story.down.us / story.along.us, abs=0.05)


def test_a_load_is_counted_only_where_the_counters_say_what_the_model_says():
    assert coalescing.tell().badge[1] == "counted"
    off = changed("coalescing", lambda row: {"sectors_per_request": row["sectors_per_request"] + 1})
    assert coalescing.tell(off).badge[1] == "model"
    bare = deepcopy(dict(report("coalescing")))
    for row in bare["rows"]:
        del row["sectors_per_request"]
    assert coalescing.tell(bare).badge[1] == "model"


def test_the_traffic_through_dram_is_told_only_where_the_faster_one_moves_more():
    story = coalescing.tell()
    assert story.aside.startswith(story.shape) and "9.8" in story.aside and "3.5" in story.aside
    alike = changed("coalescing", lambda row: {"dram_bytes": 10**9})
    assert coalescing.tell(alike).aside == story.shape
