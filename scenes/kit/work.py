"""Work: the picture that introduces what a film computes, the same in all films of matrix products."""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Animation, LaggedStart, VGroup

from tilesim import Problem
from tilesim_scenes.animations.fade import FadeIn
from tilesim_scenes.film.configured_scene import Area
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import theme_now
from tilesim_scenes.mobjects.drawing.quads import levels, strokes, uprights
from tilesim_scenes.mobjects.hardware.operands import Operands

OPEN = 0.6
"""Seconds in which C is cut into its tiles."""


class Work(VGroup):
    """C = A × B to scale, C cut into its tiles, one tile with its strips of A and B, and the sizes in words.

    `area`: where it goes. `tile`: the tile that is picked out. `wrap`: long sizes take two lines where the
    area has less than 1200 pixels.
    """

    def __init__(self, problem: Problem, area: Area, tile: int, wrap: bool = False) -> None:
        super().__init__()
        theme = theme_now()
        hue = theme.by_phase["multiply"]
        wide = area.width > area.height
        wrap = wrap and area.width < px(1200)
        share = (0.46, 1.0) if wide else (1.0, 0.42 if wrap else 0.6)
        names = [("A", LEFT), ("B", UP), ("C", None)]
        self.operands = Operands(
            problem, share[0] * area.width - px(60), share[1] * area.height - px(60), px(24), names=False
        )
        a, b, c = self.operands.a, self.operands.b, self.operands.c
        self.grid = strokes(theme.background, 2.0)
        across, down = np.arange(1, problem.tiles_n), np.arange(1, problem.tiles_m)
        lines_of_c = uprights(c, across / problem.tiles_n), levels(c, down / problem.tiles_m)
        self.grid.points = np.concatenate(lines_of_c)
        self.letters = VGroup()
        for (name, side), matrix in zip(names, (a, b, c), strict=True):
            letter = label(name, 56, bold=True)
            if side is None:
                letter.next_to(matrix, RIGHT, px(20)).align_to(matrix, UP)
            else:
                letter.next_to(matrix, side, px(20))
            self.letters.add(letter)
        self.tile = self.operands.tile(tile, hue)
        self.strips = VGroup(*self.operands.row_panel(tile, hue), *self.operands.column_panel(tile, hue))
        sizes = {"m": problem.m, "n": problem.n, "k": problem.k, "tiles": problem.tiles}
        # Beside the picture in a square frame, a line of these words would become too small.
        room = 0.5 * area.width if wide and area.width < px(1200) else px(2000)
        self.sizes = VGroup(
            label("C = A × B", 72, bold=True),
            lines(tr("C has {m} × {n} numbers, in {tiles} tiles.", **sizes), 46, room, color=theme.quiet),
            lines(tr("A has {m} × {k} numbers, B {k} × {n}.", **sizes), 46, room, color=theme.quiet),
        ).arrange(DOWN, buff=px(30), aligned_edge=LEFT)
        self.needs = VGroup(
            label(tr("A tile of C"), 52, hue if theme.dark else theme.text, bold=True),
            label(tr("needs one strip of A"), 46, theme.text),
            label(tr("and one strip of B."), 46, theme.text),
        ).arrange(DOWN, buff=px(24), aligned_edge=LEFT)
        words = VGroup(self.sizes, self.needs).arrange(
            DOWN if wide else RIGHT, buff=px(80), aligned_edge=LEFT if wide else UP
        )
        picture = VGroup(self.operands, self.grid, self.letters, self.tile, self.strips)
        fit(words, (0.5 if wide else 1.0) * area.width)
        both = VGroup(picture, words).arrange(RIGHT if wide else DOWN, buff=px(70))
        if wrap:
            fit(both, area.width, area.height)
        both.move_to(area.center)
        self.add(picture, words)

    def come(self) -> list[list[Animation]]:
        """What is played, act by act: the matrices, the cut into tiles, and what a tile needs."""
        tile, strips = (FadeIn(self.tile, self.needs[0]), FadeIn(self.strips, self.needs[1:]))
        return [
            [FadeIn(self.operands, self.letters, self.sizes, run_time=OPEN)],
            [FadeIn(self.grid, run_time=OPEN)],
            [LaggedStart(tile, strips, lag_ratio=0.8, run_time=1.6)],
        ]
