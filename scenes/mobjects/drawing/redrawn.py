"""Redrawn: a mobject that is drawn from data, and that Manim's own animations change meanwhile."""

from typing import Any, Self

import numpy as np
from manim import Mobject, SVGMobject, VGroup, VMobject

KEPT = ("updaters", "updating_suspended", "saved_state", "target", "z_index")
"""What a mobject keeps that becomes another."""


class Redrawn(VMobject):
    """A mobject whose members have points only while they show something.

    A Transform, or whatever Manim animates with one, pairs the members that have points. So from its
    beginning to its end all members are `held`: those that show nothing have points that lie on each other.
    """

    held = False
    t: float
    _until: float | None = None

    def align_data(self, mobject: Mobject, skip_point_alignment: bool = False) -> Self:
        """As Manim's; where `mobject` has the same members, none is added to them."""
        if not self._alike(mobject):
            return super().align_data(mobject, skip_point_alignment)
        for one, other in zip(self.get_family(), mobject.get_family(), strict=True):
            if not skip_point_alignment and not isinstance(one, VGroup | SVGMobject):
                one.held = other.held = True
                for bare, model in ((one, other), (other, one)):
                    if not len(bare.points):
                        at = model.points[:1] if len(model.points) else self.get_center()[None]
                        bare.points = np.repeat(at, 4, axis=0)
                one.align_points(other)
        self._until = getattr(mobject, "t", None)
        return self

    def resume_updating(self, recursive: bool = True) -> Self:
        """As Manim's, which calls it where an animation of this mobject ends."""
        for one in self.get_family():
            one.held = False
            if len(one.points) and not np.ptp(one.points, axis=0).any():
                one.points = np.zeros((0, 3))  # They show nothing, and the whole would seem to reach there.
        if self._until is not None:
            self.t, self._until = self._until, None
        self.forget()
        return super().resume_updating(recursive)

    def forget(self) -> None:
        """Draw all of it when it is shown next."""

    def become(self, mobject: Mobject, *args: Any, **how: Any) -> Self:
        """As Manim's, and the instant with the look."""
        if type(mobject) is type(self) and not self._alike(mobject) and not args and not how:
            own = {name: vars(self)[name] for name in KEPT if name in vars(self)}
            vars(self).update(vars(mobject.copy()) | own)
            return self
        super().become(mobject, *args, **how)
        if self._alike(mobject) and hasattr(mobject, "t"):
            self.t, self._until = mobject.t, None
        self.forget()
        return self

    def _alike(self, mobject: Mobject) -> bool:
        return (
            isinstance(mobject, Redrawn)
            and type(mobject) is type(self)
            and len(self.get_family()) == len(mobject.get_family())
        )


def draw(piece: VMobject, points: np.ndarray, ground: VMobject) -> None:
    """Give a piece that stands on `ground` its points, which are none where it shows nothing."""
    held = getattr(piece, "held", False) and not len(points)
    piece.points = np.repeat(ground.points[:1], 4, axis=0) if held else points
