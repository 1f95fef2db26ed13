"""Barrier: a level crossing between groups of warps; OpenBarrier and CloseBarrier move its bar."""

from typing import Any, Self

import numpy as np
from manim import Line, ManimColor, VGroup, smoothstep

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import mix, theme_now
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width

RAISED = np.radians(55.0)
"""How far an open bar stands up from a shut one."""
POST, BAR = 8.0, 10.0
"""Pixels: a post's width, and a bar's."""


class Barrier(VGroup):
    """Two posts and a bar, `width` units apart, which stands open to a share: 0 is shut, 1 is open.

    It opens upwards around its left post, whichever way it has been turned since.

    Raises ValueError for a width that is not above 0.
    """

    def __init__(self, width: float | None = None, opened: float = 0.0) -> None:
        super().__init__()
        width = px(160) if width is None else width
        if not width > 0:
            raise ValueError(f"a barrier is {width} wide; it must be wider than 0")
        post = rectangle(px(POST), 0.22 * width, theme_now().quiet)
        sides = (-width / 2, width / 2)
        self.posts = VGroup(*(post.copy().move_to([x, -post.height / 2, 0]) for x in sides))
        self.bar = Line(stroke_width=stroke_width(BAR))
        self.add(self.posts, self.bar)
        self.open(opened)

    def open(self, share: float) -> Self:
        """Stand open to `share`, 0 to 1; return it."""
        share = float(np.clip(share, 0.0, 1.0))
        stands = share, self.posts[0].points.tobytes(), self.posts[1].points.tobytes()
        if getattr(self, "_stands", None) == stands:
            return self
        self._stands, self.opened = stands, share
        # Of a Rectangle, points 0 and 4 are the upper corners, so a post's head lies between them.
        hinge, end = (post.points[[0, 4]].mean(axis=0) for post in self.posts)
        foot = self.posts[0].points[[8, 12]].mean(axis=0)
        along, up = end - hinge, hinge - foot
        up = up * np.linalg.norm(along) / np.linalg.norm(up)
        angle = share * RAISED
        self.bar.set_points_by_ends(hinge, hinge + np.cos(angle) * along + np.sin(angle) * up)
        theme = theme_now()
        self.bar.set_stroke(ManimColor(mix(theme.wait, theme.quiet, share)), family=False)
        return self


class OpenBarrier(Direct):
    """Opens a barrier, in 0.2 s."""

    until = 1.0

    def __init__(self, barrier: Barrier, run_time: float = 0.2, **kwargs: Any) -> None:
        self.barrier = barrier
        super().__init__(barrier, run_time=run_time, **{"rate_func": smoothstep} | kwargs)

    def begin(self) -> None:
        self.since = self.barrier.opened
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        self.barrier.open(self.since + self.rate_func(alpha) * (self.until - self.since))


class CloseBarrier(OpenBarrier):
    """Lowers a barrier, in 0.2 s."""

    until = 0.0
