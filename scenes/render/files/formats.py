"""Formats: frame sizes and kinds of file that a scene can be exported as."""

import re
from dataclasses import dataclass
from fractions import Fraction

from tilesim.errors import TilesimError, shown
from tilesim_scenes.render.files.coding import CODECS, Codec

SIZES = {
    "4k": (3840, 2160),
    "1080p": (1920, 1080),
    "720p": (1280, 720),
    "480p": (854, 480),
    "square": (1080, 1080),
    "vertical": (1080, 1920),
}
"""Width and height of frames, in pixels."""
SMALLEST, LARGEST = 64, 7680
STILLS = ("png", "svg", "pdf")
SLIDES = "slides"
"""A film that is to be cut where a talk stops."""
SHORTER_SIDE = 8.0
"""Manim's units that the shorter side of our films' frames has, as the height of Manim's own frame."""
MAX_FPS = {"gif": 50}
"""GIF counts in hundredths of a second, and browsers slow down whatever is faster than this."""


class FormatError(TilesimError):
    """A size, a rate or a kind of file that no film can have."""


def frame_size(text: str) -> tuple[int, int]:
    """Width and height, in pixels, of a size by name or as WIDTHxHEIGHT; raises FormatError for any other.

    >>> frame_size("720p"), frame_size("640x360")
    ((1280, 720), (640, 360))
    """
    if text in SIZES:
        return SIZES[text]
    found = re.fullmatch("([0-9]{1,6})x([0-9]{1,6})", text)
    allowed = f"{', '.join(SIZES)} or WIDTHxHEIGHT, both even and from {SMALLEST} to {LARGEST}"
    if not found:
        raise FormatError(f"there is no size {shown(text)}; it must be {allowed}")
    width, height = int(found[1]), int(found[2])
    if any(side % 2 or not SMALLEST <= side <= LARGEST for side in (width, height)):
        raise FormatError(f"the size is {width}x{height}; it must be {allowed}")
    return width, height


def frame_units(size: tuple[int, int]) -> dict[str, float]:
    """Manim's settings for a frame as wide as so many pixels by so many, in which our films fit.

    >>> frame_units((1080, 1920))["frame_width"]
    8.0
    """
    unit = SHORTER_SIDE / min(size)
    return {"frame_width": size[0] * unit, "frame_height": size[1] * unit}


@dataclass(frozen=True, slots=True)
class Format:
    """How a film is written: the kind of file, width and height in pixels, frames/s, and its background."""

    form: str = "mp4"
    size: tuple[int, int] = SIZES["1080p"]
    fps: int = 30
    transparent: bool = False

    def __post_init__(self) -> None:
        if self.fps > MAX_FPS.get(self.form, self.fps):
            most = MAX_FPS[self.form]
            raise FormatError(
                f"a {self.form} with {self.fps} frames/s cannot be shown; at most {most} are allowed"
            )
        if self.transparent and self.form in ("mp4", "gif", SLIDES):
            raise FormatError(f"a film in {self.form} cannot be transparent; write a .mov, .webm or .png")

    @property
    def container(self) -> str:
        """What FFmpeg calls the kind of file."""
        return "mp4" if self.form == SLIDES else self.form

    @property
    def rate(self) -> Fraction:
        return Fraction(self.fps)

    @property
    def codec(self) -> Codec:
        if self.form in ("gif", SLIDES):
            return CODECS["lossless"]
        if self.form == "webm":
            return CODECS["vp9 with alpha" if self.transparent else "vp9"]
        return CODECS["animation" if self.transparent else "h264"]
