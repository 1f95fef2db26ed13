"""Fade: opacities between shares of a mobject's own, and what changes a caption."""

from typing import Any

import numpy as np
from manim import ORIGIN, Mobject, VMobject, smoothstep

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.mobjects.drawing.raster import Raster

CHANGE, BEFORE = 0.5, 0.4
"""Seconds that a change of captions takes, and the share of them before it begins to be seen."""
INKS = ("fill_rgbas", "stroke_rgbas", "background_stroke_rgbas")


def opacities(mobject: Mobject, share: float = 1.0) -> list[Any]:
    """What a mobject is drawn with in full, given that it now shows `share` of that; for 0, as it is now."""
    part = share or 1.0
    if isinstance(mobject, Raster):
        return [mobject.opacity / part]
    if isinstance(mobject, VMobject):
        return [getattr(mobject, ink)[:, 3] / part for ink in INKS]
    return []


def set_opacities(mobject: Mobject, own: list[Any], share: float) -> None:
    """Show `share` of a mobject whose `opacities` are `own`."""
    if isinstance(mobject, Raster):
        mobject.opacity = own[0] * share
    elif isinstance(mobject, VMobject):
        for ink, alpha in zip(INKS, own, strict=True):
            getattr(mobject, ink)[:, 3] = np.minimum(alpha * share, 1.0)


def looks(mobject: Mobject, share: float = 1.0) -> list[tuple[Mobject, list[Any]]]:
    """All members of a mobject, each with its `opacities`."""
    return [(one, opacities(one, share)) for one in mobject.get_family()]


def show_share(members: list[tuple[Mobject, list[Any]]], share: float) -> None:
    """Show `share` of all members whose `looks` are given."""
    for one, own in members:
        set_opacities(one, own, share)


def late(alpha: float) -> float:
    """A rate that rests at 0 for the first half: for what comes up behind something that still leaves.

    >>> late(0.5), late(0.75), late(1.0)
    (0.0, 0.5, 1.0)
    """
    return float(smoothstep(2 * alpha - 1))


class Shown(Direct):
    """Mobjects from `start` to `end`, shares of their own opacities: what is hollow stays hollow."""

    start: float
    end: float

    def begin(self) -> None:
        self._own = looks(self.mobject, self.start)
        super().begin()

    def shares(self, alpha: float) -> list[float]:
        """What each member of the mobjects shows, one after another where there is a lag."""
        count = len(self._own)
        ways = (self.get_sub_alpha(alpha, number, count) for number in range(count))
        return [self.start + way * (self.end - self.start) for way in ways]

    def interpolate_mobject(self, alpha: float) -> None:
        for (one, own), share in zip(self._own, self.shares(alpha), strict=True):
            set_opacities(one, own, share)


class Fade(Shown):
    """A mobject from one share of its own opacities to another."""

    def __init__(
        self, mobject: Mobject, start: float, end: float, run_time: float = 0.3, **kwargs: Any
    ) -> None:
        self.start, self.end = start, end
        super().__init__(mobject, run_time=run_time, **kwargs)


class FadeIn(Shown):
    """As Manim's, which copies its mobjects three times: they appear, from elsewhere if that is said."""

    start, end = 0.0, 1.0

    def __init__(
        self,
        *mobjects: Mobject,
        shift: np.ndarray = ORIGIN,
        target_position: Mobject | None = None,
        scale: float = 1.0,
        **kwargs: Any,
    ) -> None:
        self.shift, self.target, self.scale = shift, target_position, scale
        super().__init__(*mobjects, **kwargs)

    def begin(self) -> None:
        self._ways = []
        if self.target is not None or self.scale != 1 or np.any(self.shift):
            centre, away = self.mobject.get_center(), (self.start - self.end) * self.shift
            if self.target is not None:
                away = self.target.get_center() - centre
            homes = ((one, one.points) for one in self.mobject.get_family())
            self._ways = [(one, home, centre + away + self.scale * (home - centre)) for one, home in homes]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        super().interpolate_mobject(alpha)
        if self._ways:
            for (one, home, far), share in zip(self._ways, self.shares(alpha), strict=True):
                one.points = far + share * (home - far)


class FadeOut(FadeIn):
    """As Manim's: they fade out and leave the scene, as they were, so that they can come back."""

    start, end = 1.0, 0.0

    def clean_up_from_scene(self, scene: Any) -> None:
        self.interpolate(0.0)
        scene.remove(*self.parts)


class Leave(FadeOut):
    """They fade out in 0.3 s."""

    def __init__(self, *mobjects: Mobject, run_time: float = 0.3, **kwargs: Any) -> None:
        super().__init__(*mobjects, run_time=run_time, **kwargs)


class Swap(Direct):
    """One caption, or none, into another: the old one goes, then the new one comes, in the same place.

    `before`: share of the seconds before it begins to be seen.
    """

    def __init__(
        self, old: Mobject | None, new: Mobject | None, run_time: float = CHANGE, before: float = BEFORE
    ) -> None:
        self.old, self.new, self.before = old, new, before
        super().__init__(*(one for one in (old, new) if one is not None), run_time=run_time)

    def begin(self) -> None:
        self._own = [[] if one is None else looks(one) for one in (self.old, self.new)]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        seen = float(np.clip((alpha - self.before) / (1 - self.before), 0.0, 1.0))
        shares = 1 - 2 * seen, 2 * seen - 1 if self.old else seen
        for members, share in zip(self._own, shares, strict=True):
            show_share(members, max(0.0, share))

    def clean_up_from_scene(self, scene: Any) -> None:
        if self.old is not None:
            scene.remove(self.old)
