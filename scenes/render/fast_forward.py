"""Fast forward: which plays look the same at an instant whether or not the instants before it were played.

A process need not interpolate the frames of such a play that another one draws. Whatever is not known to be
so is played frame by frame: updaters, animations of other people's making, rates and paths of their own.
"""

from collections.abc import Iterable
from itertools import chain

import manim as m
from manim import Animation, Mobject, Scene
from manim.animation.transform import _MethodAnimation

KNOWN: frozenset[type[Animation]] = frozenset(
    {
        m.Transform, m.ReplacementTransform, m.TransformFromCopy, m.MoveToTarget, m.ApplyMethod, m.Restore,
        m.ScaleInPlace, m.ShrinkToCenter, m.FadeToColor, m.FadeTransform, m.FadeIn, m.FadeOut, m.Create,
        m.Uncreate, m.DrawBorderThenFill, m.Write, m.Unwrite, m.GrowFromPoint, m.GrowFromCenter,
        m.GrowFromEdge, m.GrowArrow, m.SpinInFromNothing, m.Indicate, m.ShowPassingFlash, m.Rotate,
        m.Rotating, m.Wait, _MethodAnimation,
    }
)  # fmt: skip
"""Animations of Manim's that look at nothing but how far they are."""
GROUPS: frozenset[type[Animation]] = frozenset({m.AnimationGroup, m.LaggedStart, m.LaggedStartMap})
OURS = "tilesim_scenes."
"""Animations and mobjects that show an instant of what they are about, whatever they showed before."""
UPDATES = ("update_to_time", "update_mobjects", "update_self", "update_meshes")


def can_jump(scene: Scene) -> bool:
    """Whether the play that a scene has begun looks at each instant as if it had been played to there."""
    animations = list(_all(scene.animations))
    mobjects = chain(scene.mobjects, scene.foreground_mobjects, (one.mobject for one in animations))
    return (
        not scene.updaters
        and not scene.meshes
        and scene.stop_condition is None
        and all(getattr(type(scene), name) is getattr(Scene, name) for name in UPDATES)
        and all(map(_is_known, animations))
        and not any(map(_is_alive, mobjects))
    )


def _all(animations: Iterable[Animation]) -> Iterable[Animation]:
    """Animations, and those in groups of them."""
    for animation in animations:
        yield animation
        if type(animation) in GROUPS:
            yield from _all(animation.animations)


def _is_known(animation: Animation) -> bool:
    kind = type(animation)
    if kind.__module__.startswith(OURS):
        return True
    path = getattr(animation, "path_func", None)
    return (
        kind in KNOWN | GROUPS
        and animation.rate_func.__module__ == "manim.utils.rate_functions"
        and (path is None or path.__module__.startswith("manim.utils."))
    )


def _is_alive(mobject: Mobject | None) -> bool:
    """Whether a mobject changes by itself, or between two looks in a way of its own."""
    return mobject is not None and any(
        one.updaters or not type(one).interpolate.__module__.startswith(("manim.", OURS))
        for one in mobject.get_family()
    )
