"""Lanes: one line per slot over time, uncovered from left to right as the clock runs.

What a lane shows at an instant never changes later, so the finished picture is drawn once and a frame
copies the part left of the clock.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from tilesim import Trace
from tilesim.metrics import first_of_cta, next_in_slot, slot_index
from tilesim_scenes._stage import glyphs
from tilesim_scenes._stage.raster import Painter, Pixels
from tilesim_scenes._stage.theme import Theme, ink_on

OVERSAMPLING = 4
OVERLAPPED = 0.34
"""Share of a lane's height, from below, for a write that runs while the next tile is multiplied above it."""
LEAST_LABEL = 0.86
"""Of the full size of labels, to which one may shrink before it says less."""
THIN, VEIL = 8, 115
"""In lanes of fewer pixels such a write is a veil over the whole lane, of this opacity out of 255."""


class Bar(NamedTuple):
    """What one slot does from x0 to x1, pixels of the lanes' box.

    Kinds: launch, hand over (to a later segment of a CTA), multiply, wait (for other CTAs' partials), fix up
    (add them), write, write under (the next tile).
    """

    lane: int
    x0: float
    x1: float
    kind: str
    sm: int
    tile: int


@dataclass(frozen=True, slots=True, eq=False)
class Lanes:
    """Which slots of a trace to show (numbers as of `metrics.slot_index`), over which of its ns, and how.

    `gap` is the share of a lane's height that stays free below it. `number_px` is the size of the tile
    numbers in the main loops, 0 for none; with `words` every bar also says what it is.
    """

    trace: Trace
    places: np.ndarray
    window: tuple[float, float]
    gap: float = 0.0
    number_px: float = 0.0
    words: bool = False


def lane_painter(lanes: Lanes, box: Pixels, theme: Theme, colours: np.ndarray) -> Painter:
    """A painter of `lanes` in `box`, with a cursor at the clock while it is inside the window."""
    low, high = lanes.window
    bars = lane_bars(lanes, box.width)
    empty = _picture(lanes, [], box, theme, colours)
    full = _picture(lanes, bars, box, theme, colours)
    if lanes.number_px:
        _label(full, lanes, bars, theme, colours)
    overhang = round(0.02 * box.height)

    def paint(frame: np.ndarray, t: float) -> None:
        edge = int(np.clip((t - low) / (high - low), 0.0, 1.0) * box.width)
        picture = frame[box.rows, box.columns, :3]
        picture[:, :edge] = full[:, :edge]
        picture[:, edge:] = empty[:, edge:]
        if 0 < edge < box.width:
            thickness = max(1, round(min(frame.shape[:2]) / 360))
            rows = slice(max(0, box.top - overhang), box.top + box.height + overhang)
            frame[rows, box.left + edge : box.left + edge + thickness, :3] = theme.cursor

    return paint


def lane_bars(lanes: Lanes, width: float) -> list[Bar]:
    """The bars that show in the window on an axis `width` long; those on top of others come last.

    >>> from tilesim import Device, Problem, simulate
    >>> trace = simulate("naive", Problem(128, 384, 4, tile=(128, 128, 4)), Device(2))
    >>> [tuple(bar) for bar in lane_bars(Lanes(trace, np.arange(2), (0, 2000)), 100)]
    [(0, 0.0, 50.0, 'multiply', 0, 0), (1, 0.0, 50.0, 'multiply', 1, 1), (0, 50.0, 100.0, 'multiply', 0, 2)]
    """
    spans = lanes.trace.spans
    low, high = lanes.window
    launched = np.zeros(len(spans), bool)
    launched[first_of_cta(lanes.trace)] = True
    covered = next_in_slot(lanes.trace, "start") < spans["done"]
    lane_of = {int(place): lane for lane, place in enumerate(lanes.places)}
    bars = []
    for row, place in enumerate(slot_index(lanes.trace).tolist()):
        if place not in lane_of:
            continue
        span = spans[row]
        parts = (
            ("launch" if launched[row] else "hand over", span["issue"], span["start"]),
            ("multiply", span["start"], span["drain"]),
            ("wait", span["drain"], span["ready"]),
            ("fix up", span["ready"], span["fixup"]),
            ("write under" if covered[row] else "write", span["fixup"], span["done"]),
        )
        for kind, begin, end in parts:
            x0, x1 = (float(edge - low) * width / (high - low) for edge in (begin, end))
            if x1 > max(x0, 0) and x0 < width:
                bars.append(Bar(lane_of[place], x0, x1, kind, int(span["sm"]), int(span["tile"])))
    return sorted(bars, key=lambda bar: bar.kind == "write under")


def _extent(lanes: Lanes, bar: Bar, height: float, veiled: bool = False) -> tuple[float, float]:
    """Top and bottom of a bar on an axis `height` long."""
    pitch = height / len(lanes.places)
    top, bottom = bar.lane * pitch, (bar.lane + 1 - lanes.gap) * pitch
    low = bar.kind == "write under" and not veiled
    return (bottom - OVERLAPPED * (bottom - top) if low else top), bottom


def _picture(lanes: Lanes, bars: list[Bar], box: Pixels, theme: Theme, colours: np.ndarray) -> np.ndarray:
    """The lanes with `bars` on them: uint8, shape [height, width, 3]."""
    wide, tall = box.width * OVERSAMPLING, box.height * OVERSAMPLING
    image = Image.new("RGB", (wide, tall), theme.panel)
    draw = ImageDraw.Draw(image, "RGBA")
    veiled = box.height / len(lanes.places) < THIN
    ground = [Bar(lane, 0, box.width, "idle", 0, 0) for lane in range(len(lanes.places))]
    for bar in ground + bars:
        top, bottom = _extent(lanes, bar, tall, veiled)
        x0, x1 = round(bar.x0 * OVERSAMPLING), round(bar.x1 * OVERSAMPLING)
        fill = theme.fill(bar.kind) or tuple(colours[bar.sm].tolist())
        fill = (*fill, VEIL) if veiled and bar.kind == "write under" else fill
        if x1 > x0 and round(bottom) > round(top):
            draw.rectangle((x0, round(top), x1 - 1, round(bottom) - 1), fill=fill)
    return np.array(image.resize((box.width, box.height), Image.Resampling.BOX))


def _label(picture: np.ndarray, lanes: Lanes, bars: list[Bar], theme: Theme, colours: np.ndarray) -> None:
    """Write into each bar what it is, as fully as there is room for."""
    height, width = picture.shape[:2]
    ns_per_pixel = (lanes.window[1] - lanes.window[0]) / width
    under = {bar.lane for bar in bars if bar.kind == "write under"}
    for bar in bars:
        left, right = max(0.0, bar.x0), min(float(width), bar.x1)
        top, bottom = _extent(lanes, bar, height)
        if lanes.words and bar.kind in ("multiply", "hand over") and bar.lane in under:
            bottom -= OVERLAPPED * (bottom - top)
        full = min(lanes.number_px, 0.8 * (bottom - top))
        for text in _texts(bar, lanes.words, (bar.x1 - bar.x0) * ns_per_pixel / 1000):
            px = min(full, full * 0.94 * (right - left) / glyphs.width(text, full, glyphs.SANS, True))
            if px >= LEAST_LABEL * full:
                centre, baseline = (left + right) / 2, (top + bottom) / 2 + 0.36 * px
                ground = theme.fill(bar.kind) or colours[bar.sm]
                ink = theme.text if bar.kind == "hand over" else ink_on(ground)
                glyphs.stamp(picture, text, centre, baseline, px, ink, 0.5, glyphs.SANS)
                break


def _texts(bar: Bar, words: bool, us: float) -> list[str]:
    """What a bar may say, the fullest first."""
    if not words:
        return [str(bar.tile)] if bar.kind == "multiply" else []
    if bar.kind == "multiply":
        return [f"multiply tile {bar.tile}", "multiply"]
    name = bar.kind.removesuffix(" under")
    whole = {"launch": "launch for", "hand over": "hand over to", "wait": "wait for the rest of"}.get(
        name, name
    )
    return [f"{whole} tile {bar.tile}, {us:.1f} µs", f"{name} {us:.1f} µs", f"{us:.1f} µs", name]
