"""InTurn: the parts of a picture that come one after the other, as a tile's chunks do."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from manim import VGroup, VMobject

from tilesim_scenes.animations.fade import opacities, set_opacities


class InTurn(VGroup):
    """What stands there from the beginning, `ground`, and `steps`, of which `t` have come.

    A step comes up evenly while `t` passes it.

        operands = Operands(problem)
        chunks = InTurn(operands, operands.row_panel(0, colour))
        self.play(PlayTrace(chunks, until=chunks.until, run_time=2))
    """

    def __init__(self, ground: VMobject, steps: Sequence[VMobject]) -> None:
        super().__init__(ground, *steps)
        self.t, self.until, self.steps = 0.0, float(len(steps)), tuple(steps)
        self._own = [[(one, opacities(one)) for one in step.get_family()] for step in steps]
        self.show(0.0)

    def show(self, t: float) -> Self:
        """Look as after `t` steps."""
        self.t = t
        for number, members in enumerate(self._own):
            for one, own in members:
                set_opacities(one, own, float(np.clip(t - number, 0.0, 1.0)))
        return self
