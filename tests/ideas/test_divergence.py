"""What a warp issues when its lanes do not agree: properties, and the literature's figures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.ideas.divergence import alternating, branch, loop
from tilesim.ladder.reports import report

LENGTHS = st.lists(st.integers(0, 50), min_size=1, max_size=32)


@st.composite
def branches(draw):
    """(ways, lengths): up to 32 lanes, each in one of some ways."""
    lengths = draw(LENGTHS)
    return draw(st.lists(st.integers(0, len(lengths) - 1), min_size=1, max_size=32)), lengths


@given(branches())
def test_a_branch_costs_the_ways_that_are_taken_and_each_lane_does_its_own(asked):
    ways, lengths = asked
    found = branch(ways, lengths)
    assert found.issued == sum(lengths[way] for way in set(ways))
    assert found.of_lanes == sum(lengths[way] for way in ways)
    assert (found.masks.sum(axis=0) == 1).all()  # each lane in exactly one step
    assert found.of_lanes <= found.issued * len(ways)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=32), st.integers(0, 20))
def test_a_loop_runs_as_long_as_its_longest_lane(turns, length):
    found = loop(turns, length)
    assert found.issued == length * max(turns) and found.of_lanes == length * sum(turns)
    for lane, wanted in enumerate(turns):
        assert found.instructions[found.masks[:, lane]].sum() == length * wanted
    assert (np.diff(found.masks.sum(axis=1)) < 0).all()  # lanes only ever leave


def with_all_lanes(found, instructions):
    """(issued, active lanes) where all lanes of a warp also execute some instructions together."""
    issued = found.issued + instructions
    return issued, (found.of_lanes + 32 * instructions) / issued


def test_nothing_issued_is_nobody_at_work():
    assert loop([0, 0], 5).active == 0 and loop([0, 0], 5).efficiency == 0


@pytest.fixture(scope="module")
def counted():
    """The rows of one warp, by code and ways, as they ship."""
    return {(row["code"], row["ways"]): row for row in report("divergence")["rows"] if row["warps"] == 1}


def test_the_counters_of_a_gpu_say_that_each_way_is_issued_once(counted):
    """Instructions that are common to all ways, and then as many more for each."""
    issued = np.array([counted["branch", ways]["issued"] for ways in range(1, 33)])
    each = int(np.median(np.diff(issued)))
    assert (np.abs(np.diff(issued) - each) <= 1).all()
    for ways in range(1, 33):
        expected, active = with_all_lanes(branch(alternating(ways), [each] * ways), issued[0] - each)
        row = counted["branch", ways]
        assert row["issued"] == pytest.approx(expected, rel=1e-4)
        assert row["of_threads"] / row["issued"] == pytest.approx(active, rel=0.01)


@pytest.mark.parametrize("ways", [1, 2, 3, 8, 32])
def test_the_counters_of_a_gpu_say_that_a_loop_runs_as_long_as_its_longest_lane(counted, ways):
    one, row = counted["loop", 1], counted["loop", ways]
    assert row["issued"] == pytest.approx(one["issued"], rel=0.01)  # a lane's turns change nothing of it
    turns = -(-(alternating(ways) + 1) * row["turns"] // ways)
    each = 67  # a turn's multiply-adds, and the three instructions of the loop
    _, active = with_all_lanes(loop(turns, each), one["issued"] - each * one["turns"])
    assert row["of_threads"] / row["issued"] == pytest.approx(active, rel=0.02)


def test_a_warp_takes_as_long_as_the_ways_that_it_issues_and_warps_that_agree_as_one(counted):
    cycles = np.array([counted["branch", ways]["cycles"] for ways in range(1, 33)])
    assert np.diff(cycles) == pytest.approx(np.diff(cycles).mean(), rel=0.05)
    assert cycles[-1] / cycles[0] == pytest.approx(32, rel=0.05)
    agree = [row["cycles"] for row in report("divergence")["rows"]
             if (row["code"], row["split"], row["warps"]) == ("branch", "warps", 32)]  # fmt: skip
    assert len(agree) == 32 and max(agree) < 1.01 * min(agree)
    assert all(row["joined"] == 1 for row in report("divergence")["rows"])
