"""Orders against formulas written a second time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import orders

from tilesim import Problem
from tilesim.errors import ProblemError
from tilesim.orders import rasterize

SIDES = st.integers(1, 40)


def visited(tiles_m, tiles_n, order):
    return rasterize(Problem(tiles_m, tiles_n, 1, tile=(1, 1, 1), order=order))


@given(SIDES, SIDES, orders())
def test_an_order_visits_each_tile_once(tiles_m, tiles_n, order):
    tiles = visited(tiles_m, tiles_n, order)
    assert tiles.dtype == np.int32
    assert sorted(tiles.tolist()) == list(range(tiles_m * tiles_n))


@given(SIDES, SIDES)
def test_row_major_and_column_major(tiles_m, tiles_n):
    assert visited(tiles_m, tiles_n, "row-major").tolist() == list(range(tiles_m * tiles_n))
    expected = [row * tiles_n + column for column in range(tiles_n) for row in range(tiles_m)]
    assert visited(tiles_m, tiles_n, "column-major").tolist() == expected


@given(SIDES, SIDES, st.integers(1, 50))
def test_grouped_is_tritons_tutorial(num_pid_m, num_pid_n, group_size_m):
    # As in Triton's tutorial 03-matrix-multiplication, program by program.
    expected = []
    for pid in range(num_pid_m * num_pid_n):
        num_pid_in_group = group_size_m * num_pid_n
        first_pid_m = pid // num_pid_in_group * group_size_m
        rows = min(num_pid_m - first_pid_m, group_size_m)
        pid_m = first_pid_m + (pid % num_pid_in_group) % rows
        pid_n = (pid % num_pid_in_group) // rows
        expected.append(pid_m * num_pid_n + pid_n)
    assert visited(num_pid_m, num_pid_n, f"grouped:{group_size_m}").tolist() == expected


@given(SIDES, SIDES)
def test_morton_interleaves_the_bits(tiles_m, tiles_n):
    def code(tile):
        row, column = divmod(tile, tiles_n)
        return int("".join(a + b for a, b in zip(f"{row:08b}", f"{column:08b}", strict=True)), 2)

    assert visited(tiles_m, tiles_n, "morton").tolist() == sorted(range(tiles_m * tiles_n), key=code)


@pytest.mark.parametrize("side", [1, 2, 4, 8, 16, 64])
def test_hilbert_moves_to_a_neighbour_at_every_step_and_finishes_one_quadrant_before_the_next(side):
    row, column = np.divmod(visited(side, side, "hilbert"), side)
    assert (np.abs(np.diff(row)) + np.abs(np.diff(column)) == 1).all()
    assert (row[0], column[0]) == (0, 0)
    assert sorted((row[-1], column[-1])) == [0, side - 1]
    if side > 1:
        quadrant = 2 * (row >= side // 2) + (column >= side // 2)
        assert (np.diff(quadrant) != 0).sum() == 3


@given(SIDES, SIDES, st.sampled_from(["morton", "hilbert"]))
def test_curves_skip_the_holes_of_the_enclosing_square(tiles_m, tiles_n, order):
    side = 1
    while side < max(tiles_m, tiles_n):
        side *= 2
    row, column = np.divmod(visited(side, side, order), side)
    inside = (row < tiles_m) & (column < tiles_n)
    assert visited(tiles_m, tiles_n, order).tolist() == (row * tiles_n + column)[inside].tolist()


@pytest.mark.parametrize(
    ("order", "sentence"),
    [
        ("hilbrt", "there is no order 'hilbrt'; did you mean 'hilbert'"),
        ("grouped", "'grouped' has 0 parameters; write it as 'grouped:G', such as 'grouped:8'"),
        ("grouped:8:8", "'grouped:8:8' has 2 parameters; write it as 'grouped:G', such as"),
        ("grouped:0", "'grouped:0' has the parameter '0'; it must be a whole number from 1"),
        ("grouped:x", "parameter 'x'"),
        ("grouped:²", "parameter '²'"),
        (f"grouped:{2**31}", "parameter '2147483648'"),
        ("grouped:" + "9" * 5000, "parameter '999"),
        ("row-major:2", "write it as 'row-major'"),
        (None, "order is None"),
    ],
)
def test_an_order_that_does_not_exist(order, sentence):
    with refused(sentence, ProblemError):
        Problem(1, 1, 1, order=order)
