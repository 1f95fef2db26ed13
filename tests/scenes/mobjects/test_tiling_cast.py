"""A piece that grows, and a stretch from one rectangle into another."""

import numpy as np
import pytest
from manim import RIGHT, Rectangle, Scene
from watching import frame

from tilesim import Problem
from tilesim_scenes import Film
from tilesim_scenes.animations.fit import Fit
from tilesim_scenes.mobjects.hardware.operands import Operands
from tilesim_scenes.mobjects.models.tiles.piece_of_c import PieceOfC


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
