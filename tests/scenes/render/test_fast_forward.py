"""Which plays a process need not play frame by frame where others draw their frames."""

import manim as m
import pytest

from tilesim import Device, Problem, simulate
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lanes import Lanes
from tilesim_scenes.render.segments import can_jump

MANY = simulate("naive", Problem(16_384, 16_384, 64), Device.named("h200"))


class Wobbly(m.Square):
    """Somebody's mobject that counts how often it is looked at."""

    def interpolate(self, *args):
        self.looks = getattr(self, "looks", 0) + 1
        return super().interpolate(*args)


def begun(mobject, *animations):
    """A scene with a mobject, whose play of animations has begun."""
    scene = m.Scene()
    scene.add(mobject)
    scene.animations, scene.stop_condition = list(animations), None
    return scene


def test_a_run_of_an_image_of_lanes_is_jumped_over():
    lanes = Lanes(MANY)
    assert any(isinstance(one, LaneImage) for one in lanes.get_family())
    assert can_jump(begun(lanes, PlayTrace(lanes, until=MANY.makespan)))


@pytest.mark.parametrize("mobject", [m.Square().add_updater(lambda one: None), Wobbly()])
def test_what_may_remember_is_played(mobject):
    assert can_jump(begun(m.Square(), m.FadeIn(m.Square())))
    assert not can_jump(begun(mobject, m.FadeIn(m.Square())))
