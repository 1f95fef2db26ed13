"""Models in motion, warps, buffers and barriers look like what the models say."""

from typing import Any

import numpy as np
import pytest
from manim import LEFT, PI

from tilesim.ideas.divergence import Issued, alternating, branch, loop
from tilesim.ideas.pipelining import pipeline
from tilesim.ideas.warp_specialization import Times, timeline
from tilesim_scenes import Barrier, Buffers, TimeBracket, Warp
from tilesim_scenes.mobjects.models.phase_rows import PhaseRows, bars_of
from tilesim_scenes.mobjects.models.pipelined_sm import PipelinedSM, PipelineRows
from tilesim_scenes.mobjects.models.warp_lanes import WarpLanes

STEPS = pipeline(6, stages=2, load=989, multiply=662)
ONE = timeline(Times(latency=700, k_step=600, write=2100, interval=600), tiles=2, k_steps=4, stages=3)


def rows() -> PhaseRows:
    group = bars_of(ONE.consumers(0))
    return PhaseRows({"producer": bars_of(ONE.loads()), "group 0": group})


def test_a_row_is_drawn_up_to_the_clock_and_to_scale() -> None:
    shown = rows().show(4000)
    assert shown.lane("group 0").get_left()[0] == pytest.approx(shown.x(0))
    multiply = shown.bar("group 0", "multiply")
    start, end = next((b.start, b.end) for b in shown.rows["group 0"] if b.kind == "multiply")
    assert (multiply.get_left()[0], multiply.get_right()[0]) == pytest.approx((shown.x(start), shown.x(end)))
    assert not len(shown.bar("group 0", "write", -1).points)


def test_a_bracket_measures_a_row() -> None:
    shown = rows()
    bracket = TimeBracket(shown, 2000, 3500, sm="group 0").show(9000)
    assert bracket.figure.text == "1.50 µs"
    assert bracket.line.get_left()[0] == pytest.approx(shown.x(2000))


@pytest.mark.parametrize("angle", [0, np.pi / 2])
def test_a_bar_lifts_around_its_left_post_wherever_the_barrier_stands(angle: float) -> None:
    barrier = Barrier(2.0).shift(3 * LEFT).rotate(angle).open(0)
    shut, length = barrier.bar.get_end().copy(), barrier.bar.get_length()
    barrier.open(1)
    assert barrier.bar.get_length() == pytest.approx(length)
    assert np.linalg.norm(barrier.bar.get_end() - shut) > 0.5 * length
    assert barrier.open(0).bar.get_end() == pytest.approx(shut)


def test_a_warp_stands_up_with_thread_0_on_top() -> None:
    warp = Warp(spacing=0.2).rotate(-PI / 2)
    heights = [warp.thread(number).get_y() for number in range(32)]
    assert heights == sorted(heights, reverse=True) and warp.height > 10 * warp.width


def test_a_slot_takes_every_nth_k_step() -> None:
    ring = Buffers(3)
    assert [ring.slot(step) for step in range(5)] == [*ring, ring[0], ring[1]]
    assert [one.get_x() for one in ring] == sorted(one.get_x() for one in ring)


def test_rows_are_to_scale() -> None:
    rows = PipelineRows(STEPS, until=2 * STEPS.makespan, width=10, height=2).show(STEPS.makespan)
    ns = 10 / (2 * STEPS.makespan)
    for i, bubble in enumerate(STEPS.bubbles.tolist()):
        assert rows.loads[i].width == pytest.approx(989 * ns)
        assert rows.bubbles[i].width == pytest.approx(bubble * ns, abs=1e-9)
    assert rows.x(STEPS.makespan) == pytest.approx(rows.multiplies[-1].get_right()[0], abs=0.05)


def test_no_buffer_ever_holds_two_pairs_and_the_core_never_works_without_one() -> None:
    sm = PipelinedSM(STEPS, width=12, height=3)

    def drawn(pair: Any) -> bool:
        return bool(len(pair.get_all_points()))

    def lies(i: int) -> bool:
        return drawn(sm.pairs[i]) and np.allclose(sm.pairs[i].get_center(), sm.buffers.slot(i).get_center())

    for t in np.linspace(0, STEPS.makespan, 60, endpoint=False):
        sm.show(t)
        for number in range(2):
            assert sum(lies(i) for i in range(number, 6, 2)) <= 1
        assert drawn(sm.lit) == drawn(sm.done)
        assert not drawn(sm.lit) or any(lies(i) for i in range(6))


def lanes_of(issued):
    ends = np.cumsum(issued.instructions)
    spans = np.stack([ends - issued.instructions, ends], axis=1)
    return WarpLanes(issued.masks, spans, until=float(ends[-1]), width=8, height=4)


def area(points):
    """Of rectangles, in units."""
    boxes = np.reshape(points, (-1, 16, 3))
    return float(np.prod(np.ptp(boxes, axis=1)[:, :2], axis=1).sum())


APART = branch(alternating(4), [10] * 4)
ISSUED = {
    "branch": Issued(np.append(APART.instructions, 5), np.vstack([APART.masks, np.ones((1, 32), bool)])),
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
    assert not len(lanes.work.points) and not len(lanes.waiting.points)
    for t, busy in ((5, range(0, 32, 4)), (15, range(1, 32, 4)), (42, range(32))):
        lanes.show(t)
        assert lanes.warp.get_x() == pytest.approx(lanes.at(t)[0])
        lit = [
            n
            for n, dot in enumerate(lanes.warp.dots)
            if dot.fill_color == lanes.warp.dots[busy[0]].fill_color
        ]
        assert lit == list(busy)
