"""The stage: one Manim scene for every film.

What stands still is vectors, drawn once. What moves is one mobject, the canvas, whose look is a pure
function of the film's second; one animation moves that second from 0 to the end. So a film shows the
same states at any frame rate, and a frame costs the pixels that it paints, not the mobjects in it.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from manim import Animation, Camera, Mobject, Scene, config, linear

from tilesim.errors import TilesimError
from tilesim_scenes._stage.film import Default, Film, from_environment
from tilesim_scenes._stage.layout import Frame
from tilesim_scenes._stage.picture import Picture
from tilesim_scenes._stage.script import Script
from tilesim_scenes._stage.theme import hexadecimal
from tilesim_scenes._stage.words import FRAME_HEIGHT


class Canvas(Mobject):
    """Everything that moves: `paint` draws it into a frame as it is at `second` of the film."""

    def __init__(self, paint: Callable[[np.ndarray, float], None]) -> None:
        super().__init__()
        self.paint = paint
        self.second = 0.0


class Roll(Animation):
    """Moves a canvas through the film from one second to another, at the speed of the film."""

    def __init__(self, canvas: Canvas, start: float, end: float, progress: Callable[[float], Any]) -> None:
        super().__init__(canvas, run_time=end - start, rate_func=linear)
        self.start, self.progress = start, progress

    def interpolate_mobject(self, alpha: float) -> None:
        self.mobject.second = self.start + alpha * self.run_time
        self.progress(alpha)


class StageCamera(Camera):
    """Manim's camera, which also lets canvases paint straight into the frame."""

    def capture_mobjects(self, mobjects: Any, **kwargs: Any) -> None:
        mobjects = list(mobjects)
        super().capture_mobjects(mobjects, **kwargs)
        for mobject in mobjects:
            if isinstance(mobject, Canvas):
                mobject.paint(self.pixel_array, mobject.second)


class TraceScene(Scene):
    """A film about traces. A subclass says what it shows by `default` and, in `write`, what it says of it.

    The film is taken from the attribute `film` where somebody has set it before `render()`, else from the
    TOML file that the environment variable TILESIM_FILM names, else it is the scene's default. `cut` is
    the part of it to show, in seconds, and `progress` is told the share of it that is done.
    """

    default: ClassVar[Default]
    write: ClassVar[Callable[[Film], Script]]
    film: Film | None = None
    cut: tuple[float, float] | None = None
    progress: Callable[[float], Any] = staticmethod(lambda share: None)

    def setup(self) -> None:
        try:
            film = self.film or from_environment(self.default)
            script = type(self).write(film)
        except TilesimError as error:
            # Manim would wrap the sentence in a traceback of its own.
            raise SystemExit(f"error: {error}") from None
        # Manim's cache looks at mobjects, not at the traces behind them, and would show an old film.
        config.disable_caching = True
        frame = Frame(config.pixel_width, config.pixel_height)
        camera = StageCamera(
            frame_height=FRAME_HEIGHT,
            frame_width=FRAME_HEIGHT * frame.width / frame.height,
            background_color=hexadecimal(film.theme.background),
        )
        self.renderer.camera = camera
        self.picture = Picture(film, script, frame)

    def construct(self) -> None:
        canvas = Canvas(self.picture.paint)
        self.add(*self.picture.backdrop(), canvas)
        start, end = self.cut or (0.0, self.picture.seconds)
        self.play(Roll(canvas, start, end, self.progress))
