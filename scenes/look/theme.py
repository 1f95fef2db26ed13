"""Colours: a dark and a light theme, and one colour for each SM. Colours are sRGB bytes, shape [3]."""

from dataclasses import dataclass

import numpy as np
from manim import ManimColor, config

Colour = tuple[int, int, int]
AnyColour = Colour | str | ManimColor
"""The same, or a colour as Manim has it."""

LEAST_CONTRAST = 3.0
"""Of large letters and their ground (WCAG 2.2, success criterion 1.4.3)."""
# M. Okabe, K. Ito, Color Universal Design (2008), without orange (here: launch) and black.
OKABE_ITO: tuple[Colour, ...] = (
    (86, 180, 233),
    (0, 158, 115),
    (204, 121, 167),
    (240, 228, 66),
    (0, 114, 178),
    (213, 94, 0),
)
LAUNCH: Colour = (230, 159, 0)


@dataclass(frozen=True, slots=True)
class Theme:
    """What each thing is painted in. `write` is for writing a tile and nothing else; so are the others."""

    background: Colour
    panel: Colour
    idle: Colour
    text: Colour
    quiet: Colour
    write: Colour
    hand_over: Colour
    wait: Colour
    partial: Colour
    cursor: Colour
    measured: Colour
    simulated: Colour
    wait_text: Colour
    operand: Colour
    first_load: Colour
    dark: bool
    launch: Colour = LAUNCH
    multiply: Colour = OKABE_ITO[0]

    @property
    def by_phase(self) -> dict[str, Colour]:
        """The colors of lanes in which it does not matter which SM they belong to, by kind of part."""
        return {
            "launch": self.launch,
            "first load": self.first_load,
            "hand over": self.hand_over,
            "multiply": self.multiply,
            "wait": self.wait,
            "fix up": self.partial,
            "write": self.write,
            "write under": self.write,
        }

    @property
    def both(self) -> Colour:
        """Multiplying and writing at once, in lanes too thin to show the two apart."""
        return mixed(self.by_phase["multiply"], self.write, 0.55)

    def fill(self, kind: str) -> Colour | None:
        """The colour of what a slot does, in lanes, legend and bars alike; None where it is the SM's own."""
        own = kind in ("first load", "multiply")
        return None if own else (self.by_phase | {"idle": self.idle}).get(kind)


THEMES = {
    "dark": Theme(
        background=(13, 17, 23),
        panel=(22, 27, 34),
        idle=(33, 39, 48),
        text=(240, 246, 252),
        quiet=(152, 160, 170),
        write=(240, 246, 252),
        hand_over=(96, 105, 118),
        wait=(190, 45, 72),
        partial=(255, 178, 170),
        cursor=(255, 255, 255),
        measured=(126, 231, 135),
        simulated=(121, 184, 255),
        wait_text=(236, 110, 134),
        operand=(150, 163, 184),
        first_load=(52, 103, 136),
        dark=True,
    ),
    "light": Theme(
        background=(255, 255, 255),
        panel=(244, 246, 248),
        idle=(222, 226, 231),
        text=(20, 24, 30),
        quiet=(88, 96, 105),
        write=(36, 41, 47),
        hand_over=(144, 148, 146),
        wait=(178, 34, 60),
        partial=(226, 114, 104),
        cursor=(0, 0, 0),
        measured=(26, 127, 55),
        simulated=(9, 105, 218),
        wait_text=(178, 34, 60),
        operand=(100, 113, 134),
        first_load=(98, 54, 178),
        dark=False,
        launch=(198, 131, 0),
        multiply=(30, 148, 226),
    ),
}


def theme_now() -> Theme:
    """The theme that stands out from Manim's own background, so that mobjects fit into any scene."""
    return THEMES["light" if luma(ManimColor(config.background_color).to_int_rgb()) > 127 else "dark"]


def rgb(colour: np.ndarray | AnyColour) -> np.ndarray:
    """A colour, or several, as bytes that can be computed with: float, the last axis 3.

    >>> rgb("#e69f00").tolist(), rgb(ManimColor("#e69f00")).tolist()
    ([230.0, 159.0, 0.0], [230.0, 159.0, 0.0])
    """
    if isinstance(colour, str | ManimColor):
        return np.rint(255 * ManimColor(colour).to_rgb())
    return np.asarray(colour, float)


def luma(colour: np.ndarray | AnyColour) -> float:
    """The luma of a colour, from 0 to 255 (ITU-R BT.709)."""
    return float(np.dot(rgb(colour)[:3], (0.2126, 0.7152, 0.0722)))


def sm_colour(sm: int, sms: int) -> Colour:
    """The colour of one of `sms` SMs."""
    red, green, blue = sm_colours(sms)[sm].tolist()
    return red, green, blue


def sm_colours(sms: int) -> np.ndarray:
    """A colour for each SM: uint8, shape [sms, 3]. Okabe-Ito up to 6, beyond that a smooth ramp of hues.

    >>> sm_colours(2).tolist()
    [[86, 180, 233], [0, 158, 115]]
    >>> sm_colours(132).shape
    (132, 3)
    """
    if sms <= len(OKABE_ITO):
        return np.array(OKABE_ITO[:sms], np.uint8)
    share = np.linspace(0.0, 1.0, sms)
    # From yellow-green over blue to pink: the third of the circle around orange is left out.
    return oklch(0.74 - 0.12 * np.sin(np.pi * share), np.full(sms, 0.13), 112 + 248 * share)


def oklch(lightness: np.ndarray, chroma: np.ndarray, hue: np.ndarray) -> np.ndarray:
    """OKLCH (hue in degrees) to sRGB bytes, clipped to the gamut: uint8, shape [n, 3].

    B. Ottosson, A perceptual color space for image processing (2020).

    >>> oklch(np.array([1.0]), np.array([0.0]), np.array([0.0])).tolist()
    [[255, 255, 255]]
    """
    a, b = chroma * np.cos(np.radians(hue)), chroma * np.sin(np.radians(hue))
    cone = np.stack(
        [
            lightness + 0.3963377774 * a + 0.2158037573 * b,
            lightness - 0.1055613458 * a - 0.0638541728 * b,
            lightness - 0.0894841775 * a - 1.2914855480 * b,
        ]
    )
    to_linear = np.array(
        [
            [4.0767416621, -3.3077115913, 0.2309699292],
            [-1.2684380046, 2.6097574011, -0.3413193965],
            [-0.0041960863, -0.7034186147, 1.7076147010],
        ]
    )
    linear = np.clip(to_linear @ cone**3, 0.0, 1.0)
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.rint(255 * encoded).astype(np.uint8).T


def mix(under: np.ndarray | AnyColour, over: np.ndarray | AnyColour, share: float) -> np.ndarray:
    """`share` of `over` on `under`, as bytes.

    >>> mix((0, 0, 0), (200, 100, 0), 0.5).tolist()
    [100, 50, 0]
    """
    return np.rint((1 - share) * rgb(under) + share * rgb(over)).astype(np.uint8)


def mixed(under: AnyColour, over: AnyColour, share: float) -> Colour:
    """The same of two colours, as a colour."""
    red, green, blue = mix(under, over, share).tolist()
    return red, green, blue


def contrast(one: np.ndarray | Colour, other: np.ndarray | Colour) -> float:
    """How far two colours stand apart, 1 to 21 (WCAG 2.2, contrast ratio).

    >>> round(contrast((0, 0, 0), (255, 255, 255)))
    21
    """
    share = np.array([one, other], float)[:, :3] / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    dark, bright = sorted((linear @ (0.2126, 0.7152, 0.0722)).tolist())
    return (bright + 0.05) / (dark + 0.05)


def readable(colour: AnyColour) -> Colour:
    """A colour as the ink of a name: as much nearer to that of text as its letters need on the ground."""
    theme = theme_now()
    nearer = (mixed(colour, theme.text, step / 20) for step in range(21))
    return next((ink for ink in nearer if contrast(ink, theme.background) >= LEAST_CONTRAST), theme.text)


def ink_on(colour: np.ndarray | AnyColour) -> Colour:
    """Near-black or white, whichever is easier to read on `colour` (ITU-R BT.709 luma).

    >>> ink_on((240, 228, 66)), ink_on((0, 114, 178))
    ((13, 17, 23), (255, 255, 255))
    """
    return (13, 17, 23) if luma(colour) > 118 else (255, 255, 255)
