"""Warps, lines of memory and pipelines look like what the models say, wherever they stand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from manim import DOWN, PI, RIGHT

from tilesim.ideas.coalescing import LINE, moved, strided
from tilesim.ideas.pipelining import pipeline
from tilesim_scenes import Buffers, ElementGrid, MemoryLines, Warp
from tilesim_scenes.mobjects.models.pipelines.pipeline_rows import PipelineRows
from tilesim_scenes.mobjects.models.pipelines.pipelined_sm import PipelinedSM
from tilesim_scenes.mobjects.models.warps.warp_load import WarpLoad
from tilesim_scenes.mobjects.words.count import Count

PITCH = 512
STEPS = pipeline(6, stages=2, load=989, multiply=662)


def a_load(addresses: np.ndarray, width: int) -> WarpLoad:
    """A load from a tile of 32 x 64 elements of 4 bytes, with the lines that it touches."""
    grid = ElementGrid(32, 64, width=6, height=3)
    memory = MemoryLines(dict.fromkeys((addresses // LINE).tolist()), width=4, height=0.1, gap=0.05)
    return WarpLoad(grid, memory.shift(8 * RIGHT), addresses, width, element=4, pitch=PITCH)


MADE: dict[str, Callable[[], Any]] = {
    "load": lambda: a_load(strided(PITCH), 4),
    "rows": lambda: PipelineRows(STEPS, until=STEPS.makespan, width=10, height=2),
    "SM": lambda: PipelinedSM(STEPS, width=12, height=3),
    "count": lambda: Count("{:.0f} lines".format),
}
END = {"load": 32, "count": 32}


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


@pytest.mark.parametrize("name", sorted(set(MADE) - {"load"}))
def test_it_can_be_moved_and_scaled_before_it_is_shown(name: str) -> None:
    """A load stands between others: it follows them."""
    half = END.get(name, STEPS.makespan) / 2
    early, late = MADE[name]().show(half), MADE[name]().show(half)
    early.shift(RIGHT).scale(0.5, about_point=np.zeros(3)).show(half)
    late.shift(RIGHT).scale(0.5, about_point=np.zeros(3))
    for one, other in zip(early.get_family(), late.get_family(), strict=True):
        assert np.allclose(one.points, other.points, atol=1e-6)


def test_a_load_follows_its_grid_and_its_memory() -> None:
    load = a_load(strided(PITCH), 4).show(32)
    before = load.asked[5].get_center(), load.taken[5].get_center()
    load.grid.shift(DOWN)
    load.memory.shift(2 * DOWN)
    load.show(32)
    assert np.allclose(load.asked[5].get_center(), before[0] + DOWN)
    assert np.allclose(load.taken[5].get_center(), before[1] + 2 * DOWN)


@pytest.mark.parametrize("stride, width", [(PITCH, 4), (4, 4), (16, 16), (64, 4)])
def test_a_load_draws_the_sectors_that_move_and_in_them_the_bytes_that_are_used(
    stride: int, width: int
) -> None:
    addresses = strided(stride)
    load, what = a_load(addresses, width).show(32), moved(addresses, width)
    drawn = {one.get_center().round(6).tobytes(): area(one) for one in load.sectors}
    assert len(drawn) == what.sectors == load.touched() and load.lines == what.lines
    assert sum(area(one) for one in load.taken) == pytest.approx(what.useful * sum(drawn.values()))


def test_a_ray_is_on_its_way_before_its_sector_moves() -> None:
    load = a_load(strided(PITCH), 4).show(4.5)
    assert len(load.rays[4].points) and not len(load.sectors[4].points) and len(load.sectors[3].points)
    assert not len(load.rays[5].points) and load.touched() == 4


def test_a_warp_stands_up_with_thread_0_on_top() -> None:
    warp = Warp(spacing=0.2).rotate(-PI / 2)
    heights = [warp.thread(number).get_y() for number in range(32)]
    assert heights == sorted(heights, reverse=True) and warp.height > 10 * warp.width


def test_sectors_are_found_by_their_numbers() -> None:
    memory = MemoryLines([7, 9])
    assert memory.sector(4 * 9 + 2) is memory.line(9)[2] is memory[1][2]
    taken = memory.taken(9 * LINE + 40, 4)
    assert taken.width == pytest.approx(memory.sector(37).width / 8)


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
