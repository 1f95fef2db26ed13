"""What the benches of ideas ask for and make of it, as far as it shows without a GPU."""

import numpy as np
import on_device  # noqa: F401, before Triton
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.ideas.divergence import alternating
from tilesim_kernels.bench import divergence as ways
from tilesim_kernels.bench.divergence import MOST_TURNS, STAMPS, TURN, WAYS, expected


def test_one_warp_and_many_take_every_number_of_ways():
    one, many = ways.cases()
    assert {(code, count) for code, count, _, _ in one} == {
        (code, count) for code in ("branch", "loop") for count in range(1, WAYS + 1)
    }
    assert {(split, warps) for _, _, split, warps in one} == {("lanes", 1)}
    assert {(split, warps) for _, _, split, warps in many} == {("lanes", 32), ("warps", 32)}
    assert len({*one, *many}) == len(one + many)


@pytest.mark.parametrize("case", ways.cases()[1], ids=str)
def test_warps_that_agree_are_asked_for_one_thing_and_each_way_is_taken(case):
    code, count, split, _ = case
    asked = ways.asked_of(*case).reshape(32, 32)
    if split == "warps":
        assert (asked == asked[:, :1]).all()
    assert len(np.unique(asked)) == count
    if code == "branch":
        assert asked.min() == 0 and asked.max() < WAYS
    else:
        assert asked.min() >= 1 and asked.max() == ways.TURNS <= MOST_TURNS


def test_neighbouring_lanes_take_the_ways_in_turn_as_the_model_has_it():
    assert (ways.asked_of("branch", 5, "lanes", 1) == alternating(5)).all()


@given(st.sampled_from(["branch", "loop"]), st.integers(1, WAYS))
def test_what_lanes_are_left_with_tells_what_each_did(code, count):
    asked = ways.asked_of(code, count, "lanes", 1)
    sums = expected(code, asked)
    own = sums - np.arange(32)
    assert len(np.unique(own)) == len(np.unique(asked)) and sums.max() < 2**24  # exact in fp32
    if code == "loop":
        assert (np.diff(own[np.argsort(asked)]) % TURN == 0).all()


def test_the_spans_of_a_branch_are_its_lanes():
    stamps = np.zeros(32, STAMPS)
    stamps["begin"], stamps["came"], stamps["went"] = (
        100,
        110 + np.arange(32) % 2 * 50,
        150 + np.arange(32) % 2 * 50,
    )
    stamps["joined"], stamps["end"] = 210, 250
    slow = stamps.copy()
    slow["joined"] += 99
    assert ways.spans(2, [slow, stamps, stamps]) == [[10, 50], [60, 100]]
    assert ways.figures("branch", [stamps])["cycles"] == 110
    apart = stamps.copy()
    apart["joined"][3] += 1
    assert ways.figures("branch", [stamps, apart])["joined"] == 0.5
