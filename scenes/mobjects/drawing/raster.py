"""Raster: images that paint themselves when drawn, pixel for pixel. Panel: a group that may hold images."""

from typing import Any, Self, SupportsFloat

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Group, ImageMobject, Mobject, Rectangle, config
from manim.constants import RESAMPLING_ALGORITHMS

KEPT = ("updaters", "updating_suspended", "saved_state", "target", "z_index")
"""What a mobject keeps that becomes another."""


class Data:
    """What a mobject and its copies are drawn from; another mobject of the same class has another."""

    def __deepcopy__(self, memo: Any) -> "Data":
        return self


def adopt(mobject: Mobject, model: Mobject) -> None:
    """Let a mobject be what a model is, which nobody else has."""
    own = {name: vars(mobject)[name] for name in KEPT if name in vars(mobject)}
    vars(mobject).update(vars(model) | own)


def instant(t: float) -> float:
    """`t`, ns of a trace. Raises TypeError where it is no number."""
    if not isinstance(t, SupportsFloat):
        said = repr(t) if isinstance(t, str | None) else f"a {type(t).__name__}"
        raise TypeError(f"a time is a number of ns, such as 5000, and not {said}")
    return t


def packed(colours: Any) -> np.ndarray:
    """Opaque pixels of colours (0 to 255, shape [..., 3]), one number each: uint32, shape [...].

    >>> packed([(1, 2, 3)]).view(np.uint8).tolist()
    [1, 2, 3, 255]
    """
    channels = np.asarray(colours, np.uint8)
    pixels = np.full((*channels.shape[:-1], 4), 255, np.uint8)
    pixels[..., :3] = channels
    return pixels.view(np.uint32)[..., 0]


def unpacked(pixels: np.ndarray) -> np.ndarray:
    """What `packed` packs, without a copy: uint8, shape [..., 4]."""
    return pixels[..., None].view(np.uint8)


class Raster(ImageMobject):
    """A picture `width` by `height` units large, in as many pixels as it covers in the frame.

    A subclass says in `paint` what it shows. It is painted anew when `t` or its size have changed, and
    somebody looks. `sharpness`: pixels of the picture for one of the frame, more where a camera comes near.
    """

    sharpness = 1.0

    def __init__(self, width: float, height: float) -> None:
        self.t, self.opacity, self._data = 0.0, 1.0, Data()
        self._painted: tuple[Any, np.ndarray] | None = None
        self.extent = width, height
        # What Manim looks at before there are points.
        self._blank: np.ndarray | None = np.zeros((1, 1, 4), np.uint8)
        super().__init__(self._blank)
        self._blank = None
        self.set_resampling_algorithm(RESAMPLING_ALGORITHMS["nearest"])

    def paint(self, rows: int, columns: int) -> np.ndarray:
        """The picture at `t` in so many pixels, opaque, a new array: uint8, shape [rows, columns, 4]."""
        raise NotImplementedError

    def reset_points(self) -> None:
        """Stand in the middle, as large as asked for."""
        width, height = self.extent
        corners = np.array([UP + LEFT, UP + RIGHT, DOWN + LEFT, DOWN + RIGHT])
        self.points = corners * [width / 2, height / 2, 0]

    @property
    def pixel_array(self) -> np.ndarray:
        """uint8, shape [rows, columns, 4]."""
        if self._blank is not None:
            return self._blank
        rows, columns = self.pixels()
        key = rows, columns, self.t, self.opacity
        if self._painted is None or self._painted[0] != key:
            picture = self.paint(rows, columns)
            if self.opacity < 1:
                picture[..., 3] = round(255 * self.opacity)
            self._painted = key, picture
        return self._painted[1]

    @pixel_array.setter
    def pixel_array(self, pixels: np.ndarray) -> None:
        """Manim sets the array that it was given; this one paints its own."""

    def get_pixel_array(self) -> np.ndarray:
        return self.pixel_array

    def pixels(self) -> tuple[int, int]:
        """(rows, columns) that the raster has where it stands."""
        upper_left, upper_right, lower_left = self.points[:3]
        sides = np.linalg.norm(upper_right - upper_left), np.linalg.norm(lower_left - upper_left)
        return self.pixels_of(*map(float, sides))

    def pixels_of(self, width: float, height: float) -> tuple[int, int]:
        """(rows, columns) that it has where it is so many units large."""
        per_unit = self.sharpness * config.pixel_height / config.frame_height
        return max(1, round(height * per_unit)), max(1, round(width * per_unit))

    def at(self, x: float, y: float) -> np.ndarray:
        """The point at shares of its width, from the left, and of its height, from the top."""
        upper_left, upper_right, lower_left = self.points[:3]
        return upper_left + x * (upper_right - upper_left) + y * (lower_left - upper_left)

    def outline(self, across: tuple[float, float], down: tuple[float, float]) -> Rectangle:
        """A frame between shares of its width, from the left, and of its height, from the top."""
        corner, other = (self.at(*shares) for shares in zip(across, down, strict=True))
        width, height, _ = np.abs(other - corner)
        return Rectangle(width=width, height=height, stroke_width=2).move_to((corner + other) / 2)

    def show(self, t: float) -> Self:
        """Look as at `t`, ns of the trace."""
        self.t = instant(t)
        return self

    def set_opacity(self, alpha: float, **kwargs: Any) -> Self:
        self.opacity = float(alpha)
        return self

    def set_fill(self, color: Any = None, opacity: float | None = None, family: bool = True) -> Self:
        """Have an opacity; its colours are data."""
        return self if opacity is None else self.set_opacity(opacity)

    def set_color(self, *args: Any, **kwargs: Any) -> Self:
        """Keep its colours, which are data; it has no strokes."""
        return self

    set_stroke = set_color

    def get_opacity(self) -> float:
        """Between 0 and 1."""
        return self.opacity

    get_fill_opacity = get_stroke_opacity = get_opacity

    def fade(self, darkness: float = 0.5, family: bool = True) -> Self:
        self.opacity *= 1 - darkness
        return self

    def interpolate_color(self, mobject1: Mobject, mobject2: Mobject, alpha: float) -> None:
        start, end = (getattr(mobject, "opacity", 1.0) for mobject in (mobject1, mobject2))
        self.opacity = (1 - alpha) * start + alpha * end

    def interpolate(self, mobject1: Mobject, mobject2: Mobject, alpha: float, *args: Any) -> Self:
        """As Manim's, and the instant; of two with other data, the one that is nearer is shown."""
        nearer = mobject2 if alpha > 0.5 else mobject1
        if nearer._data is not self._data:
            adopt(self, nearer.copy())
        if mobject1.t != mobject2.t:
            self.t = (1 - alpha) * mobject1.t + alpha * mobject2.t
        return super().interpolate(mobject1, mobject2, alpha, *args)

    def become(self, mobject: Mobject, *args: Any, **how: Any) -> Self:
        """As Manim's, and what is shown with the place."""
        if type(mobject) is not type(self):
            raise TypeError(f"{_what(self)} cannot become {_what(mobject)}; replace it")
        if mobject._data is not self._data:
            points = self.points
            adopt(self, mobject.copy())
            self.points = points
        self.t = mobject.t
        return super().become(mobject, *args, **how)

    def align_points(self, mobject: Mobject) -> Self:
        if not isinstance(mobject, Raster):
            raise TypeError(f"{_what(self)} cannot be bent into {_what(mobject)}; use FadeTransform")
        return self

    def __getattr__(self, name: str) -> Any:
        # Manim asks a VMobject's look of whatever a VMobject is bent into, or becomes.
        if name == "fill_rgbas":
            raise AttributeError(
                f"no VMobject can be bent into {_what(self)} nor become it; use FadeTransform"
            )
        return super().__getattr__(name)


def _what(mobject: Mobject) -> str:
    name = type(mobject).__name__
    return f"{name}, an image," if isinstance(mobject, Raster) else name


class Panel(Group):
    """Mobjects of any kind, which are faded, saved and restored together.

    Manim's Group has no opacity, so `set_opacity` does nothing, and cannot become another.
    """

    def set_opacity(self, opacity: float, family: bool = True) -> Self:
        """Of all that it shows."""
        for one in self.submobjects if family else ():
            one.set_opacity(opacity)
        return self

    def become(self, mobject: Mobject, *args: Any, **how: Any) -> Self:
        """As Manim's; each member becomes that of the other with its data."""
        pairs = list(zip(self.submobjects, mobject.submobjects, strict=False))
        alike = len(self.submobjects) == len(mobject.submobjects) and type(self) is type(mobject)
        if args or how or not alike or any(type(one) is not type(other) for one, other in pairs):
            return super().become(mobject, *args, **how)
        for one, other in pairs:
            one.become(other)
        return self

    def interpolate_color(self, mobject1: Mobject, mobject2: Mobject, alpha: float) -> Self:
        """It has no colour of its own."""
        return self
