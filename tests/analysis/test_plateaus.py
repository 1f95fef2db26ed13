"""Plateaus of curves, made up and measured."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.analysis.memory_system import LEAST, TOLERANCE, Plateau, plateaus

NOISE = TOLERANCE / 2.1
"""Two points that lie so far from one level are still one plateau."""


@st.composite
def staircases(draw):
    """(levels with how many points each has, the curve): levels 20 % apart or more, at most noise between."""
    heights = [10.0]
    for _ in range(draw(st.integers(0, 4))):
        heights.append(heights[-1] * draw(st.floats(1.2, 3.0)))
    if draw(st.booleans()):
        heights.reverse()
    levels = [(height, draw(st.integers(LEAST, 9))) for height in heights]
    noise = st.floats(0, NOISE)
    values = [height * (1 + draw(noise)) for height, points in levels for _ in range(points)]
    return levels, [(2.0**i, value) for i, value in enumerate(values)]


@given(staircases(), st.randoms())
def test_each_level_of_a_staircase_is_a_plateau(made, random):
    levels, curve = made
    shuffled = list(curve)
    random.shuffle(shuffled)
    found = plateaus(shuffled)
    assert len(found) == len(levels)
    start = 0
    for (height, points), one in zip(levels, found, strict=True):
        assert (one.first, one.last) == (curve[start][0], curve[start + points - 1][0])
        assert height <= one.value <= height * (1 + NOISE)
        start += points


@given(st.lists(st.floats(1e-3, 1e6), max_size=40))
def test_what_every_plateau_is(values):
    curve = list(enumerate(values))
    found = plateaus(curve)
    for one in found:
        inside = values[int(one.first) : int(one.last) + 1]
        assert len(inside) >= LEAST
        assert max(inside) <= (1 + TOLERANCE) * min(inside)
        assert min(inside) <= one.value <= max(inside)
    assert all(one.last < other.first for one, other in pairwise(found))
    left = [True] * len(values)
    for one in found:
        left[int(one.first) : int(one.last) + 1] = [False] * int(one.last - one.first + 1)
    for i in range(len(values) - LEAST + 1):
        near = values[i : i + LEAST]
        assert not all(left[i : i + LEAST]) or max(near) > (1 + TOLERANCE) * min(near)


def test_a_slope_has_none():
    assert plateaus([(x, 1.03**x) for x in range(40)]) == ()
    assert plateaus([]) == ()


@pytest.mark.parametrize("up", [True, False])
def test_points_between_two_levels_are_of_neither(up):
    values = [10, 10, 10, 13, 17, 20, 20, 20] if up else [20, 20, 20, 17, 13, 10, 10, 10]
    found = plateaus(list(enumerate(values)))
    assert found == (Plateau(0, 2, values[0]), Plateau(5, 7, values[-1]))
