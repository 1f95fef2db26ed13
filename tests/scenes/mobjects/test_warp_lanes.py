"""The lanes of a warp look like what it issued, wherever they stand."""

import numpy as np
import pytest
from manim import PI, RIGHT, UP

from tilesim.ideas.divergence import alternating, branch, loop, together
from tilesim_scenes.mobjects.models.warp_lanes import WarpLanes


def lanes_of(issued):
    spans = np.stack([issued.ends - issued.instructions, issued.ends], axis=1)
    return WarpLanes(issued.masks, spans, until=float(issued.ends[-1]), width=8, height=4)


def area(points):
    """Of rectangles, in units."""
    boxes = np.reshape(points, (-1, 16, 3))
    return float(np.prod(np.ptp(boxes, axis=1)[:, :2], axis=1).sum())


ISSUED = {
    "branch": branch(alternating(4), [10] * 4).then(together(5)),
    "every lane": branch(alternating(32), [3] * 32),
    "loop": loop(range(1, 33), 2),
}


@pytest.mark.parametrize("issued", ISSUED.values(), ids=list(ISSUED))
def test_what_is_filled_is_what_lanes_did(issued):
    lanes = lanes_of(issued)
    lanes.show(lanes.until)
    whole = 8 * 4 * 0.8
    assert area(lanes.work.points) == pytest.approx(whole * issued.efficiency)


def test_the_warp_rides_at_the_clock_and_its_masked_lanes_are_hollow():
    lanes = lanes_of(ISSUED["branch"])
    for t, busy in ((5, range(0, 32, 4)), (15, range(1, 32, 4)), (42, range(32))):
        lanes.show(t)
        assert lanes.warp.get_x() == pytest.approx(lanes.at(t)[0])
        lit = [
            n
            for n, dot in enumerate(lanes.warp.dots)
            if dot.fill_color == lanes.warp.dots[busy[0]].fill_color
        ]
        assert lit == list(busy)


def test_moved_and_turned_it_is_drawn_where_it_stands():
    lanes = lanes_of(ISSUED["loop"])
    there = lanes_of(ISSUED["loop"]).shift(3 * RIGHT + UP)
    lanes.show(20)
    lanes.shift(3 * RIGHT + UP)
    there.show(20)
    np.testing.assert_allclose(there.work.points, lanes.work.points, atol=1e-9)
    turned = lanes_of(ISSUED["loop"])
    turned.ground.rotate(PI / 2)
    turned.show(turned.until)
    assert turned.work.height == pytest.approx(8) and turned.work.width < 4


def test_before_anything_is_issued_nothing_is_filled():
    lanes = lanes_of(ISSUED["branch"])
    assert not len(lanes.work.points) and not len(lanes.waiting.points)
