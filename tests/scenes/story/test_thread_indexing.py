"""What thread_indexing says follows from the model and from the reports that it is given."""

from copy import deepcopy

import numpy as np
import pytest

from tilesim.errors import TilesimError
from tilesim.ladder.reports import report
from tilesim_scenes.story.ideas.thread_indexing import (
    CELL,
    COLUMNS,
    LINE,
    PLAIN,
    ROWS,
    SWAPPED,
    mine_of,
    tell,
)


def test_the_threads_that_are_named_take_the_cell_that_is_shown():
    line, plain, swapped = (mine_of(launch) for launch in (LINE, PLAIN, SWAPPED))
    assert divmod(line.block[0] * 256 + line.thread[0], COLUMNS) == CELL
    assert (plain.block[1] * 8 + plain.thread[1], plain.block[0] * 32 + plain.thread[0]) == CELL
    assert (swapped.block[0] * 32 + swapped.thread[0], swapped.block[1] * 8 + swapped.thread[1]) == CELL
    assert "5×256+100 = 1,380" in tell().in_one_dimension[1]


@pytest.mark.parametrize("stride", [0, 2, 32, 8192])
def test_both_ways_take_every_cell_once_and_have_the_same_sum(stride):
    story = tell(stride=stride)
    for way in (story.near, story.far):
        taken = way.rows * COLUMNS + way.columns
        assert sorted(taken.ravel().tolist()) == list(range(ROWS * COLUMNS))
        assert story.values[way.rows, way.columns].sum() == story.values.sum()
        assert (way.rows[way.warp], way.columns[way.warp]) and way.rows.shape[1] == 32
        mine = np.argwhere((way.rows[way.warp] == CELL[0]) & (way.columns[way.warp] == CELL[1]))
        assert len(mine) == 1


def test_neighbours_lie_a_cell_apart_and_with_the_axes_swapped_a_row():
    assert (tell().near.apart, tell().far.apart) == (4, 4 * COLUMNS)
    assert tell(stride=8).far.apart == 32


def test_the_race_is_of_the_sum_and_the_number_of_the_product():
    took = {row["stride"]: row["us"] for row in report("thread_indexing")["rows"]}
    story = tell()
    assert (story.sum.near, story.sum.far) == (took[1], took[8192])
    assert f"{took[8192] / took[1]:.1f}" in story.race and story.race not in story.number
    assert {story.cost.near, story.cost.far} <= {row["us"] for row in report("coalescing")["rows"]}
    assert story.number == f"×{story.cost.far / story.cost.near:.1f}" == "×5.3"
    assert f"×{took[8192] / took[1]:.1f}" in story.aside
    assert "product" in story.finding and "product" not in tell(stride=16).finding


def test_with_a_stride_race_and_number_are_of_the_sum():
    took = {row["stride"]: row["us"] for row in report("thread_indexing")["rows"]}
    assert tell(stride=16).sum.times == tell(stride=16).cost.times == pytest.approx(took[16] / took[1])
    other = deepcopy(dict(report("thread_indexing")))
    other["rows"] = [row | {"us": row["us"] * (1 + (row["stride"] == 16))} for row in other["rows"]]
    assert tell(other, stride=16).cost.times == pytest.approx(2 * took[16] / took[1])


@pytest.mark.parametrize("stride", [1, 3, 64])
def test_a_stride_that_was_not_measured_is_refused_in_a_sentence(stride):
    with pytest.raises(TilesimError, match=f"no neighbours {stride} cells apart; choose from 2, 4"):
        tell(stride=stride)
