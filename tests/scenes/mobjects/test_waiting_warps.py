"""WaitingWarps: what they show follows the instant alone, and each answer has its place below."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.ideas.latency_hiding import requests
from tilesim_scenes.mobjects.models.warps.waiting_warps import WaitingWarps, places


def lanes(warps=4) -> WaitingWarps:
    made = requests(warps, 6, latency=700, interval=100)
    return WaitingWarps(made["ask"], made["answer"], arriving=100, until=2400, width=12, height=5)


@pytest.mark.parametrize("warps", [1, 4, 16])
def test_an_instant_looks_the_same_whatever_was_shown_before(warps):
    one, other = lanes(warps), lanes(warps)
    for t in (2400, 0, 800):
        one.show(t)
    other.show(800)
    for shown, fresh in ((one.waits, other.waits), (one.answers, other.answers)):
        assert np.array_equal(shown.points, fresh.points)


def test_nothing_is_there_at_first_and_only_what_has_begun_later():
    shown = lanes()
    assert not len(shown.waits.points) and not len(shown.answers.points)
    for t in (300, 900, 2400):
        shown.show(t)
        assert shown.waits.points[:, 0].max() <= shown.x(t) + 1e-9


def test_a_landed_answer_is_as_long_below_as_in_its_lane():
    shown = lanes(1).show(2400)
    boxes = shown.answers.points.reshape(-1, 16, 3)
    width = np.ptp(boxes[:, :, 0], axis=1)
    assert width == pytest.approx(shown.x(100) - shown.x(0))
    below = boxes[:, :, 1].max(axis=1) <= shown.all.get_top()[1] + 1e-9
    assert below.sum() == 3


def test_lanes_moved_and_scaled_draw_where_they_stand():
    shown = lanes().scale(0.5).shift([1.0, -0.5, 0.0])
    shown.show(2400)
    assert shown.waits.get_left()[0] == pytest.approx(shown.x(0), abs=0.05)
    assert shown.answers.get_bottom()[1] == pytest.approx(shown.all.get_bottom()[1])


@given(st.lists(st.integers(1, 2000), min_size=1, max_size=30), st.integers(1, 200))
def test_places_follow_one_another_and_none_is_before_its_answer(came, arriving):
    came = np.array(came)[:, None]
    found = places(came, arriving)
    assert (found >= came - arriving).all()
    assert (np.diff(np.sort(found, axis=0), axis=0) >= arriving).all()
