"""What the film of the execution model is made of shows its data."""

import numpy as np
import pytest

from tilesim.devices.occupancy import occupancy
from tilesim_scenes.mobjects.hardware.partitions import Partitions
from tilesim_scenes.mobjects.hardware.sm_map import SMMap
from tilesim_scenes.mobjects.models.warps.limit_bars import LimitBars
from tilesim_scenes.mobjects.models.warps.warp_walk import WarpWalk

BLUE = (86, 180, 233)
NAMES = {name: name for name in ("registers", "shared memory", "threads", "block slots")}


def test_a_map_shows_as_many_blocks_as_have_come_each_in_its_sms_cell():
    gpu = SMMap([[4, 5], [0, 1, 2, 3]], order=[4, 5, 0, 1, 2, 3], rounds=2).show(7)
    shown = [fill for fill in gpu.fills if len(fill.points)]
    assert len(shown) == 7
    for block, fill in enumerate(shown):
        cell = gpu.cell([4, 5, 0, 1, 2, 3][block % 6])
        assert np.allclose(fill.get_center()[0], cell.get_center()[0])
        assert cell.get_bottom()[1] <= fill.get_center()[1] <= cell.get_top()[1]
    assert sum(len(fill.points) > 0 for fill in gpu.show(2).fills) == 2


def test_a_map_that_was_moved_shows_its_blocks_where_it_stands():
    gpu = SMMap([[0, 1]], order=[0, 1]).shift([3, 1, 0]).show(1)
    assert np.allclose(gpu.fills[0].get_center(), gpu.cell(0).get_center())


def test_bars_are_as_long_as_what_blocks_take_and_the_one_too_many_reaches_beyond():
    found = occupancy("h200", 128, 154, 98328)
    bars = LimitBars(found.uses, NAMES, BLUE, 10, 4, found.residents).show(found.residents + 1)
    for number, use in enumerate(found.uses):
        ground = bars.grounds[number]
        last = bars.parts[(number + 1) * found.residents - 1]
        share = (last.get_right()[0] - ground.get_left()[0]) / ground.width
        assert share == pytest.approx(found.residents * use.of_block / use.of_sm, abs=0.01)
        beyond = bars.beyond[number]
        assert (len(beyond.points) > 0) == (use.limit in found.binding)
        if len(beyond.points):
            assert beyond.get_right()[0] > ground.get_right()[0]


def test_warps_stand_where_their_cycles_say_and_wait_for_the_last_at_the_barrier():
    walk = WarpWalk(["load", "multiply", "barrier"], [[0, 10, 20, 45], [0, 30, 40, 45]], 8, 5, BLUE)
    assert [walk.depth(warp, 10) for warp in (0, 1)] == pytest.approx([1, 1 / 3])
    assert [walk.depth(warp, 39) for warp in (0, 1)] == pytest.approx([2, 1.9])
    assert [walk.depth(warp, 45) for warp in (0, 1)] == [3, 3]
    heights = [token.get_bottom()[1] for token in walk.show(30).tokens]
    assert heights[0] < heights[1] and len(walk.bar.points)
    # It opens in a quarter of the time that is left, and who waited takes its own look again meanwhile.
    looks = [walk.show(t).tokens[0].get_fill_color() for t in (39, 40, 40.6, 42)]
    assert looks[0] == looks[1] != looks[2] != looks[3] == walk.tokens[1].get_fill_color()
    assert len(walk.show(40.6).bar.points) and not len(walk.show(42).bar.points)


@pytest.mark.parametrize("columns", [2, 4])
def test_each_partition_has_lanes_for_a_warp_and_places_above_them(columns):
    inside = Partitions(10, 6, BLUE, columns)
    assert [len(lanes) for lanes in inside.lanes] == [32] * 4
    for part, (box, lanes) in enumerate(zip(inside.boxes, inside.lanes, strict=True)):
        for slot in range(2):
            place = inside.place(part, slot, 2)
            assert lanes.get_top()[1] < place[1] < box.get_top()[1] and place[0] == pytest.approx(box.get_x())
