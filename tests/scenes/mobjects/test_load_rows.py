"""Loads over time look like what the model says, wherever they stand."""

import numpy as np
import pytest
from manim import RIGHT, UP

from tilesim.ideas.loop_unrolling import flights
from tilesim_scenes.mobjects.models.warps.load_rows import LoadRows

APART, AT_ONCE = flights(4, 1, 100), flights(4, 4, 100)


def rows_of(loads, until=500.0):
    return LoadRows(loads, until, width=10, height=4)


@pytest.mark.parametrize("loads", [APART, AT_ONCE], ids=["one by one", "together"])
def test_a_load_is_as_long_as_its_latency_and_ends_in_its_value(loads):
    rows = rows_of(loads).show(500)
    for load, value, (left, come, _) in zip(rows.loads, rows.values, loads.tolist(), strict=True):
        bar = load.points[:16]
        assert bar[:, 0].min() == pytest.approx(rows.at(left)[0])
        assert bar[:, 0].max() == pytest.approx(rows.at(come)[0])
        assert value.get_left()[0] == pytest.approx(rows.at(come)[0])


def test_how_many_are_under_way():
    assert [rows_of(APART).under_way(t) for t in (50, 150, 450)] == [1, 1, 0]
    assert [rows_of(AT_ONCE).under_way(t) for t in (2, 50, 106, 450)] == [1, 4, 2, 0]


def test_nothing_is_drawn_before_it_leaves():
    rows = rows_of(APART).show(50)
    assert len(rows.loads[0].points) and not len(rows.loads[1].points) and not len(rows.values[0].points)
    assert rows.loads[0].points[:, 0].max() == pytest.approx(rows.at(50)[0])


def test_time_is_stretched_and_what_happened_moves_with_it():
    rows = rows_of(APART, until=200).show(150)
    rows.stretch(500).interpolate_mobject(1.0)
    there = rows_of(APART, until=500).show(150)
    assert rows.until == pytest.approx(500)
    np.testing.assert_allclose(rows.loads[0].points, there.loads[0].points)


def test_moved_it_is_drawn_where_it_stands():
    rows, there = rows_of(AT_ONCE).show(80), rows_of(AT_ONCE).shift(RIGHT + 2 * UP).show(80)
    rows.shift(RIGHT + 2 * UP)
    np.testing.assert_allclose(rows.loads[2].points, there.loads[2].points)
