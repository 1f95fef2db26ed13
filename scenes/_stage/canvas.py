"""Canvas: the one mobject of every film, the animation that moves it through the film, and what sees it.

What the canvas looks like is a pure function of the film's second. So a film shows the same states at any
frame rate, and a frame costs the pixels that change in it, not the mobjects.
"""

from typing import Any

from manim import Animation, Camera, Mobject, linear

from .raster import Pixels
from .reel import Reel


class Canvas(Mobject):
    """The whole film, as it is at `second`."""

    def __init__(self, reel: Reel) -> None:
        super().__init__()
        self.reel, self.second = reel, 0.0


class Roll(Animation):
    """Moves a canvas through the film at a steady speed."""

    def __init__(self, canvas: Canvas) -> None:
        super().__init__(canvas, run_time=canvas.reel.seconds, rate_func=linear)

    def interpolate_mobject(self, alpha: float) -> None:
        self.mobject.second = alpha * self.run_time


class CanvasCamera(Camera):
    """Manim's camera, which shows a canvas by drawing what is different from the last frame.

    `changed` has the rectangles that it drew since somebody last emptied it.
    """

    def __init__(self, **kwargs: Any) -> None:
        self.shown: tuple[Canvas, float] | None = None
        self.changed: list[Pixels] = []
        super().__init__(**kwargs)

    def capture_mobjects(self, mobjects: Any, **kwargs: Any) -> None:
        canvas = next((mobject for mobject in mobjects if isinstance(mobject, Canvas)), None)
        if canvas is None:
            super().capture_mobjects(mobjects, **kwargs)
            return
        since = self.shown[1] if self.shown and self.shown[0] is canvas else None
        self.changed += canvas.reel.paint(self.pixel_array, canvas.second, since)
        self.shown = canvas, canvas.second

    def reset(self) -> "CanvasCamera":
        """Leave a canvas as it is: it knows what to draw over."""
        return self if self.shown else super().reset()
