"""Warps, lines of memory and pipelines look like what the models say, wherever they stand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from manim import PI, RIGHT

from tilesim.ideas.pipelining import pipeline
from tilesim_scenes import Buffers, Warp
from tilesim_scenes.mobjects.models.pipelined_sm import PipelinedSM, PipelineRows
from tilesim_scenes.mobjects.words.count import Count

PITCH = 512
STEPS = pipeline(6, stages=2, load=989, multiply=662)


MADE: dict[str, Callable[[], Any]] = {
    "rows": lambda: PipelineRows(STEPS, until=STEPS.makespan, width=10, height=2),
    "SM": lambda: PipelinedSM(STEPS, width=12, height=3),
    "count": lambda: Count("{:.0f} lines".format),
}
END = {"count": 32}


def look(mobject: Any) -> list[bytes]:
    return [np.round(one.points, 9).tobytes() for one in mobject.get_family()]


def area(mobject: Any) -> float:
    """Of the rectangles that a mobject is made of, 16 points each."""
    boxes = np.reshape(mobject.points, (-1, 16, 3))
    return float(sum(np.ptp(box[:, 0]) * np.ptp(box[:, 1]) for box in boxes))


@pytest.mark.parametrize("name", MADE)
def test_what_is_shown_does_not_depend_on_what_was_shown_before(name: str) -> None:
    instants = np.linspace(0, END.get(name, STEPS.makespan), 7)
    wandered = MADE[name]()
    for t in (*instants, *instants[::-2]):
        wandered.show(t)
    assert look(wandered.show(instants[3])) == look(MADE[name]().show(instants[3]))


@pytest.mark.parametrize("name", MADE)
def test_it_can_be_moved_and_scaled_before_it_is_shown(name: str) -> None:
    half = END.get(name, STEPS.makespan) / 2
    early, late = MADE[name]().show(half), MADE[name]().show(half)
    early.shift(RIGHT).scale(0.5, about_point=np.zeros(3)).show(half)
    late.shift(RIGHT).scale(0.5, about_point=np.zeros(3))
    for one, other in zip(early.get_family(), late.get_family(), strict=True):
        assert np.allclose(one.points, other.points, atol=1e-6)


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
            assert sum(drawn(sm.used[i]) or lies(i) for i in range(number, 6, 2)) <= 1
        assert sum(map(drawn, sm.used)) == bool(len(sm.done.points))
