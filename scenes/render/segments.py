"""Segments: how a scene is run so that its frames can be drawn in parts, by any number of processes.

A process need not interpolate the frames of a play that another one draws, if the play is known to look the
same at an instant whether or not the instants before it were played. Whatever is not known to be so is played
frame by frame: updaters, animations of other people's making, rates and paths of their own.
"""

from collections.abc import Iterable
from itertools import chain
from math import ceil
from typing import Any

import manim as m
from manim import Animation, Mobject, Scene
from manim.animation.transform import _MethodAnimation
from manim.utils.exceptions import EndSceneEarlyException

from tilesim_scenes.render import IncrementalRenderer
from tilesim_scenes.render.take import Take

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


class SegmentRenderer(IncrementalRenderer):
    """Draws those frames of a scene that `take` wants and gives them to it; walks through all others.

    `sections` has the frame at which each of the scene's sections begins, and its name. `late`: s after its
    own instant that a drawn frame shows, where the play can jump.
    """

    late = 0.0

    def __init__(self, take: Take, **kwargs: Any) -> None:
        self.take, self.scene, self.number, self.ended = take, None, 0, False
        self.sections: list[tuple[int, str]] = []
        super().__init__(**kwargs)

    def play(self, scene: Scene, *args: Animation, **kwargs: Any) -> None:
        self.scene = scene
        if not self.num_plays:
            # Manim's plain camera keeps the view of its first frame, which this process may not draw.
            self.camera.get_cairo_context(self.camera.pixel_array)
        name = self.file_writer.sections[-1].name
        if not self.sections or self.sections[-1][1] != name:
            self.sections.append((self.frames, name))
        try:
            super().play(scene, *args, **kwargs)
        finally:
            vars(scene).pop("update_to_time", None)

    def save_static_frame_data(self, scene: Scene, static_mobjects: Iterable[Mobject]) -> Any:
        """Manim calls this once the animations of a play have begun."""
        if not self.skip_animations and can_jump(scene):
            update = scene.update_to_time

            def update_to_time(t: float) -> None:
                """Show only those frames that this process needs."""
                if self.take.needs(self.frames):
                    update(t + self.late)

            scene.update_to_time = update_to_time
        if self.take.needs(self.frames, ceil(scene.duration * self.camera.frame_rate) + 1):
            return super().save_static_frame_data(scene, static_mobjects)
        self.static_image = None
        return None

    def before(self, repeat: int) -> None:
        self.number = self.frames
        self.drawing = self.take.wants(self.number)

    def render(self, scene: Scene, time: float, moving_mobjects: Iterable[Mobject] | None = None) -> None:
        super().render(scene, time, moving_mobjects)
        self._look_for_the_end()

    def freeze_current_frame(self, duration: float) -> None:
        """Show the frame for `duration` s, in as many pieces as there are segments."""
        if self.skip_animations:
            return
        time, step = self.time, 1 / self.camera.frame_rate
        left = count = int(duration / step)
        while left:
            piece = min(left, self.take.part.rest(self.number))
            super().freeze_current_frame((piece + 0.5) * step)
            left -= piece
            self._look_for_the_end()
            if left and self.drawing:
                self.before(left)
            elif left:
                self.update_frame(self.scene, mobjects=self.scene.moving_mobjects)
        self.time = time + count * step

    def hand_on(self, repeat: int) -> None:
        self.take.show(self.number, self.camera.pixel_array, self.changed, repeat)

    def _look_for_the_end(self) -> None:
        """End `construct` once; what a scene still plays as it is torn down is not drawn."""
        if self.take.over(self.frames) and not self.ended:
            self.ended = True
            raise EndSceneEarlyException
