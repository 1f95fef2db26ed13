"""Turns of a loop that are unrolled keep what they are made of."""

import pytest

from tilesim_scenes.mobjects.models.warps.loop_turns import OWN, LoopTurns


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
