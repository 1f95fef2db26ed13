"""SumTree: values in a row, of which neighbours are added, level by level, until one is left."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import VGroup, VMobject, smoothstep

from tilesim_scenes.animations.fade import opacities, set_opacities
from tilesim_scenes.look.text import Figure, px
from tilesim_scenes.look.theme import Colour, ink_on, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, rectangle, segments, strokes


class SumTree(VGroup):
    """`t` levels of a tree over `values`, whose number is a power of two, have been added.

    Each sum stands below the left one of its pair. `width` by `height` units.

        tree = SumTree([3, 1, 4, 1, 5, 9, 2, 6])
        self.add(tree)
        self.play(PlayTrace(tree, until=tree.until, run_time=3))
    """

    def __init__(
        self,
        values: Sequence[int],
        width: float | None = None,
        height: float | None = None,
        colour: Colour | None = None,
    ) -> None:
        super().__init__()
        width, height, colour = width or px(1500), height or px(600), colour or sm_colour(0, 4)
        sums = [list(values)]
        while len(sums[-1]) > 1:
            sums.append([a + b for a, b in zip(sums[-1][::2], sums[-1][1::2], strict=True)])
        self.t, self.until = 0.0, float(len(sums) - 1)
        self.ground = rectangle(width, height)
        pitch, row = width / len(values), height / len(sums)
        side = min(0.8 * pitch, 0.6 * row)
        self.rows = VGroup()
        for level, found in enumerate(sums):
            boxes = VGroup()
            for number, value in enumerate(found):
                box = rectangle(0.8 * pitch, side, colour)
                digits = Figure(str(value), 0.55 * side / px(1), ink_on(colour), align=0.5)
                x = ((number << level) + 0.5) * pitch - width / 2
                box.move_to([x, height / 2 - (level + 0.5) * row, 0])
                digits.shift(box.get_center() - digits.get_center())
                boxes.add(VGroup(box, digits))
            self.rows.add(boxes)
        self.lines = VGroup(*(strokes(theme_now().operand, 3, 0.7) for _ in sums[1:]))
        self._own = [[(one, opacities(one)) for one in row.get_family()] for row in self.rows]
        self.add(self.ground, self.lines, self.rows)
        self.show(0)

    def show(self, t: float) -> Self:
        """Look as after `t` levels."""
        self.t = t
        for level, own in enumerate(self._own):
            come = float(np.clip(t - level + 1, 0.0, 1.0))
            for one, ink in own:
                set_opacities(one, ink, 1.0 if come == 1 else smoothstep(max(0.0, 3 * come - 2)))
            if level:
                self.lines[level - 1].points = self._grown(level, smoothstep(come)) if come else EMPTY
        return self

    def _grown(self, level: int, share: float) -> np.ndarray:
        """The lines from the two of each pair to their sum, as far as they have come."""
        left, bottom = self.ground.get_corner([-1, -1, 0])[:2]
        size = np.array([self.ground.width, self.ground.height])

        def at(box: VMobject, up: int) -> np.ndarray:
            return (box[0].get_edge_center([0, up, 0])[:2] - [left, bottom]) / size

        ends = []
        for number, box in enumerate(self.rows[level]):
            for child in self.rows[level - 1][2 * number : 2 * number + 2]:
                start, end = at(child, -1), at(box, 1)
                ends.append([*start, *(start + share * (end - start))])
        return segments(self.ground, np.array(ends))
