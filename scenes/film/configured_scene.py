"""ConfiguredScene: a scene with settings of its own, in a frame of its pixels' shape, as long as asked."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from manim import DOWN, ManimColor, Mobject, MovingCamera, MovingCameraScene, Wait, config, tempconfig

from tilesim import Trace
from tilesim.errors import TilesimError
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.settings import LOOK, TRACES, Kind, check
from tilesim_scenes.film.traces import Default, FilmError, from_environment, traces_for
from tilesim_scenes.look.language import SOURCE, check_font, use_language
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import THEMES, Theme, theme_now
from tilesim_scenes.render import IncrementalRenderer
from tilesim_scenes.render.files.formats import frame_units

MARGIN, HEAD, FOOT, FOOT_TALL, TWO_LINES, THREE_LINES = 0.05, 90, 160, 250, 236, 318
"""Share of the frame that stays free on both sides; pixels for badge and clock, and for the caption, which
needs several lines in a frame that is not wide, and for captions of so many lines."""
MIN_SECONDS, MAX_SECONDS = 3.0, 600.0
EPSILON = 1e-6
"""Seconds, less than any frame."""
MANIMS_FRAME = 8 * 16 / 9, 8.0
"""Units of the frame that Manim has where nobody asks for another, whatever its pixels."""


class Area(NamedTuple):
    """A rectangle of the scene."""

    left: float
    right: float
    bottom: float
    top: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def center(self) -> np.ndarray:
        """Its middle: float64, shape [3]."""
        return np.array([(self.left + self.right) / 2, (self.bottom + self.top) / 2, 0.0])

    def over(self, foot: Mobject) -> "Area":
        """What is left above a mobject that is put at the foot, above captions of several lines."""
        high = TWO_LINES if config.frame_width > 1.3 * config.frame_height else THREE_LINES
        low = max(self.bottom, px(high) - config.frame_height / 2)
        foot.move_to([self.center[0], low, 0], DOWN)
        return self._replace(bottom=foot.get_top()[1] + px(28))


class Ran(NamedTuple):
    """Between which seconds of the film a trace's clock ran, and from and to which ns."""

    start: float
    end: float
    since: float
    until: float


class ConfiguredScene(MovingCameraScene):
    """A scene that has `settings`, as `tilesim export` and the file that TILESIM_FILM names have it.

    A subclass names in `default` the traces that it is about, if any. `now` is the second of the film that
    comes next; `stretch`, how many times as long as its natural length it is to last; `runs`, when a trace's
    clock ran.
    """

    default: ClassVar[Default | None] = None
    asked: ClassVar[Mapping[str, Kind]] = LOOK
    """What it may be asked for."""
    settings: Mapping[str, Any] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.default is not None and "asked" not in vars(cls):
            cls.asked = TRACES

    def __init__(self, camera_class: Any = MovingCamera, renderer: Any = None, **kwargs: Any) -> None:
        if not isinstance(camera_class, type):  # As `manim render --renderer opengl` does.
            name = type(camera_class).__name__
            raise SystemExit(f"error: {name} cannot draw this film; leave the renderer to the film")
        skips = kwargs.get("skip_animations", False)
        with tempconfig(_fitting_frame()):
            renderer = renderer or IncrementalRenderer(camera_class=camera_class, skip_animations=skips)
            super().__init__(camera_class=camera_class, renderer=renderer, **kwargs)

    def render(self, *args: Any, **kwargs: Any) -> Any:
        """As Manim's, in a frame that has the shape of its pixels; Manim's settings stay what they were."""
        with tempconfig(_fitting_frame()):
            return super().render(*args, **kwargs)

    @classmethod
    def checked(cls, settings: Mapping[str, Any]) -> None:
        """Raise TilesimError where the film cannot be asked for `settings`, or drawn with them here."""
        check(settings, cls.asked)
        seconds = settings.get("seconds", MIN_SECONDS)
        if not MIN_SECONDS <= seconds <= MAX_SECONDS:
            raise FilmError(
                f"the film lasts {seconds} s; it must last from {MIN_SECONDS:g} to {MAX_SECONDS:g} s"
            )

    def setup(self) -> None:
        """Read the settings; everything that `construct` finds ready is made here."""
        super().setup()
        try:
            given = dict(from_environment() if self.settings is None else self.settings)
            if self.settings is None:  # `tilesim export` asks before, as a page needs no font
                check_font(given.get("lang", SOURCE))
            self.checked(given)
            self.traces = self.traces_of(given)
        except TilesimError as error:
            # Manim would wrap the sentence in a traceback of its own.
            raise SystemExit(f"error: {error}") from None
        self.given = given
        # Manim's cache looks at mobjects, not at the data behind them, and would show an old film.
        config.disable_caching = True
        if "theme" in given:
            config.background_color = ManimColor(THEMES[given["theme"]].background)
        elif config.background_color.to_hex() in ("#000000", "#FFFFFF"):
            # Manim's own default, or plain paper: the grounds of the two themes.
            config.background_color = ManimColor(theme_now().background)
        self.camera.background_color = config.background_color
        self.theme: Theme = theme_now()
        use_language(given.get("lang", SOURCE))
        self.now, self.frames = 0.0, 0
        self.runs: list[Ran] = []
        self.stretch = given["seconds"] / self._natural(given) if "seconds" in given else 1.0

    def traces_of(self, given: Mapping[str, Any]) -> tuple[Trace, ...]:
        """The traces that settings ask for; a film that has none shows none."""
        return traces_for(self.default, given) if self.default else ()

    @property
    def tall(self) -> bool:
        """Whether things are to be stacked, not laid side by side."""
        return config.frame_height > config.frame_width

    @property
    def area(self) -> Area:
        """Where the picture goes: between the margins, below badge and clock, above the caption."""
        wide, high = config.frame_width, config.frame_height
        edge = (1 / 2 - MARGIN) * wide
        foot = FOOT if wide > 1.3 * high else FOOT_TALL
        return Area(-edge, edge, px(foot) - high / 2, high / 2 - px(54 + HEAD))

    def play(self, *args: Any, **kwargs: Any) -> None:
        """As Manim's, in the film's own length: to the frame, however many plays are rounded."""
        animations = self.compile_animations(*args, **kwargs)
        end = self.now + max(animation.run_time for animation in animations) * self.stretch
        frames = max(1, round(end * config.frame_rate) - self.frames)
        self.frames += frames
        # Manim shows a frame that has begun in full, and a wait only frames that have ended.
        margin = EPSILON if isinstance(animations[0], Wait) else -EPSILON
        share = (frames / config.frame_rate + margin) / (end - self.now) * self.stretch
        for animation in animations:
            if isinstance(animation, PlayTrace):
                lasts = animation.run_time * self.stretch
                self.runs.append(Ran(self.now, self.now + lasts, animation.since, animation.until))
            animation.run_time *= share
        try:
            super().play(*animations)
        finally:
            self.now = end

    def get_moving_and_static_mobjects(self, animations: Any) -> Any:
        """As Manim's, which looks through all mobjects for what to draw anew, also where nobody sees it."""
        unseen = getattr(self.renderer, "unseen", False)
        return ([], []) if unseen else super().get_moving_and_static_mobjects(animations)

    def _natural(self, given: Mapping[str, Any]) -> float:
        """Seconds that the film lasts where nobody asks: `construct` is played without drawing."""
        with tempconfig({"dry_run": True, "progress_bar": "none", "disable_caching": True}):
            scene = type(self)(skip_animations=True)
            scene.settings = {name: value for name, value in given.items() if name != "seconds"}
            # They are read, or simulated, once.
            scene.traces_of = lambda _: self.traces
            scene.render()
        return scene.now


def _fitting_frame() -> dict[str, float]:
    """The frame's units, in a shape that `-r` gave to its pixels alone; nothing where somebody set units."""
    size = config.pixel_width, config.pixel_height
    unset = np.allclose((config.frame_width, config.frame_height), MANIMS_FRAME)
    return frame_units(size) if unset else {}
