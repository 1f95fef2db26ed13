"""Turns of a loop that are unrolled, and lanes that are sorted, keep what they are made of."""

import pytest

from tilesim_scenes.mobjects.models.warps.loop_turns import OWN, LoopTurns
from tilesim_scenes.mobjects.models.warps.warp_ways import WarpWays


def finish(animations):
    """Mobjects as they are once their `.animate` has been played."""
    return [animation.build().mobject.target for animation in animations if hasattr(animation, "build")]


@pytest.mark.parametrize("turns", [2, 8, 16])
def test_the_turn_that_is_left_has_all_loads_and_additions_and_one_loop(turns):
    loop = LoopTurns(turns, own=6, width=12, height=4)
    assert len(loop) == turns and all(len(turn) == OWN + 6 for turn in loop)
    assert len(loop.left) == OWN * turns + 6
    ends = finish(loop.unroll())
    assert len(ends) == len(loop.left)
    x = [one.get_x() for one in ends]
    assert x == sorted(x) and x[-1] - x[0] <= 12 and abs(x[0] + x[-1]) < 1e-6
    assert {round(one.get_y(), 6) for one in ends} == {round(loop[0].get_y(), 6)}


@pytest.mark.parametrize("stacked", [False, True])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_sorted_each_warp_has_lanes_of_one_way(count, stacked):
    ways = WarpWays(count, width=10, height=5, stacked=stacked)
    homes = sorted(tuple(dot.get_center().round(6)) for dot in ways.dots)
    ends = finish(ways.sort())
    assert sorted(tuple(dot.get_center().round(6)) for dot in ends) == homes
    for way, capsule in enumerate(ways.capsules):
        inside = [dot for dot in ends if abs(dot.get_y() - capsule.get_y()) < capsule.height / 2]
        assert len(inside) == 32
        assert {dot.fill_color.to_hex() for dot in inside} == {ways.dots[way].fill_color.to_hex()}


def test_what_a_sorted_warp_still_goes_is_its_own_way_and_comes_first():
    ways = WarpWays(4, width=10, height=5)
    for own, (bar, gone, end) in enumerate(zip(ways.bars, ways.gone(), finish(ways.close_up()), strict=True)):
        assert len(gone) == 3 and bar[own] not in list(gone)
        assert end.get_left()[0] == pytest.approx(bar[0].get_left()[0])
