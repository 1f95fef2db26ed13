"""Held lanes, a piece that grows, and a stretch from one rectangle into another."""

import numpy as np
import pytest
from manim import RIGHT, UP, Rectangle, Scene
from watching import frame

from tilesim import Device, Problem, simulate
from tilesim_scenes import Film
from tilesim_scenes.animations.fit import Fit
from tilesim_scenes.mobjects.hardware.operands import Operands
from tilesim_scenes.mobjects.models.tiles.piece_of_c import PieceOfC
from tilesim_scenes.mobjects.traces.held_lanes import HeldLanes


def run(sms, held):
    device = Device.named("h200", sms=sms, busy_sms=held)
    return simulate("persistent", Problem(384, 1536, 512), device)


@pytest.mark.parametrize(("sms", "held"), [(4, 1), (40, 7), (132, 66)])
def test_each_sm_has_a_strip_of_its_own_and_those_that_are_held_lie_lowest(sms, held):
    trace = run(sms, held)
    lanes = HeldLanes(trace, width=8.0, height=4.0).shift(RIGHT + UP)
    strips = {sm: lanes.strip(sm) for sm in range(sms)}
    heights = sorted(strip.get_center()[1] for strip in strips.values())
    assert np.allclose(np.diff(heights), 4.0 / sms)
    lowest = sorted(strips, key=lambda sm: strips[sm].get_center()[1])[:held]
    assert set(lowest) == set(range(sms)) - set(trace.device.free_sms)
    assert lanes.ground.width == pytest.approx(8.0) and lanes.ground.height == pytest.approx(4.0, rel=0.02)


def test_a_lane_s_strip_lies_on_the_lane():
    trace = run(4, 1)
    lanes = HeldLanes(trace, width=8.0, height=4.0)
    for sm in trace.device.free_sms:
        low, high = (lanes.strip(sm).get_edge_center(way)[1] for way in (-UP, UP))
        assert low <= lanes.lanes.lane(sm).get_center()[1] <= high
    assert lanes.place(2, 0.0)[0] == pytest.approx(lanes.ground.get_left()[0])
    assert lanes.x(trace.makespan) == pytest.approx(lanes.ground.get_right()[0])


def test_a_piece_begins_as_an_element_and_ends_as_the_tile():
    operands = Operands(Problem(2048, 2048, 2048))
    piece = PieceOfC(operands, 3, 2, (86, 180, 233))
    assert piece.size(0.0) == (1, 1) and piece.size(1.0) == (128, 256)
    unit = operands.c.width / 2048
    areas = []
    for t in np.linspace(0.5, 1, 6):
        piece.show(t)
        rows, columns = piece.size(t)
        assert piece.piece.width == pytest.approx(columns * unit)
        assert piece.rows.height == pytest.approx(rows * unit) and piece.rows.width == operands.a.width
        assert piece.columns.width == pytest.approx(columns * unit)
        areas.append(piece.piece.width * piece.piece.height)
    assert areas == sorted(areas)
    tile = operands.tile(3 * 8 + 2, (0, 0, 0))
    assert np.allclose(piece.piece.get_center(), tile.get_center())


def test_a_fit_takes_each_point_to_the_same_place_in_the_other_rectangle():
    one, into = Rectangle(width=4, height=2), Rectangle(width=1, height=3).shift(3 * RIGHT)
    with frame(640, 360):
        scene = Scene()
        scene.play(Fit(one, one.copy(), into))
    assert np.allclose(one.points, into.points)


class Falls(Film):
    def construct(self):
        self.widths = []
        for size in (0.5, 0.01):
            self.dive(Rectangle(width=size, height=size))
            self.widths.append(self.camera.frame.width)
        self.come_out()


def test_a_camera_comes_twelve_times_as_near_at_most_in_each_move():
    with frame(1920, 1080):
        scene = Falls(skip_animations=True)
        scene.settings = {}
        scene.render()
        whole = scene.camera.frame.width
    first, second = scene.widths
    assert first >= whole / 12 - 1e-9 and second == pytest.approx(first / 12)
