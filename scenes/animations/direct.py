"""Direct: an animation that draws each instant from data, and leaves mobjects where the scene has them."""

from typing import Any

import numpy as np
from manim import DL, UR, Animation, Group, Mobject, smoothstep


class Direct(Animation):
    """Of some mobjects. Unlike Manim's own it copies none of them, and adds no group of them to the scene."""

    def __init__(self, *mobjects: Mobject, **kwargs: Any) -> None:
        self.parts = mobjects
        super().__init__(Group(*mobjects), introducer=True, **({"rate_func": smoothstep} | kwargs))

    def create_starting_mobject(self) -> Mobject:
        return Mobject()

    def get_all_mobjects(self) -> tuple[Mobject, Mobject]:
        return self.mobject, self.starting_mobject

    def _setup_scene(self, scene: Any) -> None:
        if scene is not None:
            # Who is a part of what is there is found out slowly, so only where one is not there itself.
            apart = [one for one in self.parts if one not in scene.mobjects]
            if apart:
                there = set(scene.get_mobject_family_members())
                scene.add(*(one for one in apart if one not in there))

    def interpolate_mobject(self, alpha: float) -> None:
        """Nothing moves."""


def corners(mobject: Mobject) -> tuple[np.ndarray, np.ndarray]:
    """The lower left and the upper right one."""
    return mobject.get_corner(DL), mobject.get_corner(UR)


def fitted(points: np.ndarray, since: Mobject, into: Mobject) -> np.ndarray:
    """Points at the same places in the rectangle `into` as they have in `since`."""
    (low, high), (into_low, into_high) = corners(since), corners(into)
    scale = np.append((into_high - into_low)[:2] / (high - low)[:2], 1.0)
    return into_low + (points - low) * scale
