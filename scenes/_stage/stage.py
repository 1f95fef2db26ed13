"""The stage: one Manim scene for every film.

There is one mobject in it, the canvas, whose look is a pure function of the film's second; one animation
moves that second from 0 to the end. So a film shows the same states at any frame rate, and a frame costs the
pixels that change in it, not the mobjects.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from manim import Animation, Camera, Mobject, Scene, config, linear

from tilesim import Problem, metrics
from tilesim.errors import TilesimError
from tilesim_scenes._stage.film import Default, Film, from_environment, make
from tilesim_scenes._stage.layout import Frame
from tilesim_scenes._stage.picture import Picture
from tilesim_scenes._stage.reel import Reel
from tilesim_scenes._stage.script import Script
from tilesim_scenes._stage.theme import hexadecimal
from tilesim_scenes._stage.words import FRAME_HEIGHT


class Canvas(Mobject):
    """The whole film, as it is at `second`."""

    def __init__(self, reel: Reel) -> None:
        super().__init__()
        self.reel, self.second = reel, 0.0


class Roll(Animation):
    """Moves a canvas through the film at its speed."""

    def __init__(self, canvas: Canvas, seconds: float) -> None:
        super().__init__(canvas, run_time=seconds, rate_func=linear)

    def interpolate_mobject(self, alpha: float) -> None:
        self.mobject.second = alpha * self.run_time


class StageCamera(Camera):
    """Manim's camera, which shows a canvas by drawing what is different from the last frame."""

    shown: tuple[Canvas, float] | None = None

    def capture_mobjects(self, mobjects: Any, **kwargs: Any) -> None:
        canvas = next((mobject for mobject in mobjects if isinstance(mobject, Canvas)), None)
        if canvas is None:
            super().capture_mobjects(mobjects, **kwargs)
            return
        since = self.shown[1] if self.shown and self.shown[0] is canvas else None
        canvas.reel.paint(self.pixel_array, canvas.second, since)
        self.shown = canvas, canvas.second

    def reset(self) -> "StageCamera":
        """Leave a canvas as it is: it knows what to draw over."""
        return self if self.shown else super().reset()


class FilmScene(Scene):
    """A film. A subclass says how it is made of settings, what it says, and which picture shows it.

    The film is taken from the attribute `film` where somebody has set it before `render()`, else it is made
    of the settings in the TOML file that the environment variable TILESIM_FILM names, if any.
    """

    problem: ClassVar[Problem] = Problem(4096, 4096, 512)
    """What stands in for whatever part of a problem nobody asks for."""
    make: ClassVar[Callable[[Mapping[str, Any]], Any]]
    """The film that settings ask for; raises TilesimError where there is none."""
    figures: ClassVar[Callable[[Any], dict[str, Any]]]
    """What a film shows, as JSON values."""
    picture: ClassVar[Callable[[Any, Script, Frame], Any]]
    write: ClassVar[Callable[[Any], Script]]
    film: Any = None

    def setup(self) -> None:
        try:
            film = self.film or self.make(from_environment())
            script = type(self).write(film)
        except TilesimError as error:
            # Manim would wrap the sentence in a traceback of its own.
            raise SystemExit(f"error: {error}") from None
        # Manim's cache looks at mobjects, not at the data behind them, and would show an old film.
        config.disable_caching = True
        frame = Frame(config.pixel_width, config.pixel_height)
        camera = StageCamera(
            frame_height=FRAME_HEIGHT,
            frame_width=FRAME_HEIGHT * frame.width / frame.height,
            background_color=hexadecimal(film.theme.background),
        )
        self.renderer.camera = camera
        self.reel = type(self).picture(film, script, frame).reel

    def construct(self) -> None:
        canvas = Canvas(self.reel)
        self.add(canvas)
        self.play(Roll(canvas, self.reel.seconds))


class TraceScene(FilmScene):
    """A film about traces. A subclass says what it shows by `default` and, in `write`, what it says of it."""

    default: ClassVar[Default]
    picture = Picture

    def __init_subclass__(cls) -> None:
        cls.problem = cls.default.problem

    @classmethod
    def make(cls, settings: Mapping[str, Any]) -> Film:
        return make(cls.default, settings)

    @staticmethod
    def figures(film: Film) -> dict[str, Any]:
        return {"traces": [metrics.summary(trace) for trace in film.traces]}
