"""Phase rows: who does what from when to when, a row each. Calls: rows of a CPU, its queue and a GPU."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, ManimColor, VGroup, VMobject

from tilesim.ideas.warp_specialization import Phase
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import advance, label, px
from tilesim_scenes.look.theme import Colour, ink_on, mixed, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import (
    EMPTY,
    diagonals,
    extent,
    figure,
    place,
    quad,
    rectangle,
    segments,
    shape,
    stroke_width,
    strokes,
)

HATCH, PAUSE = 17.0, 8.0
"""Pixels between the lines of a hatch, and of a pause's edge."""
FADED = 0.35
"""Share of the hue in the ground of a hatch."""
BETWEEN, APART = 0.7, 0.02
"""Share of a lane's height that is free between two lanes; share of a bar that is free after it."""


class Bar(NamedTuple):
    """What a row does from `start` to `end`, ns.

    `kind`: "load" (hatched), "wait" (crimson), "multiply" (the row's hue), "hand over", "write", or "pause"
    (an outline where work could have been). `text` stands in it.
    """

    kind: str
    start: float
    end: float
    text: str = ""


def bars_of(phases: Iterable[Phase]) -> list[Bar]:
    """The bars of a row of a model; main loops have their tile's number.

    >>> bars_of([Phase("multiply", 0, 800, tile=3), Phase("write", 800, 900, tile=3)])[0]
    Bar(kind='multiply', start=0, end=800, text='3')
    """
    return [
        Bar(kind, start, end, str(tile) if kind == "multiply" else "") for kind, start, end, tile in phases
    ]


class PhaseRows(VGroup):
    """Rows of bars on one axis of time, each with its name on the left.

    `rows`: {name: bars}. `window`: the ns that they show, up to the last end by default. `width`,
    `row_height`, `gap`: units of a row, and between two. `colours`: {name: hue}, an SM's by default. `names`:
    whether they stand beside the rows, with an em of `name_size` pixels.
    """

    def __init__(
        self,
        rows: Mapping[str, Sequence[Bar]],
        window: tuple[float, float] | None = None,
        width: float | None = None,
        row_height: float | None = None,
        gap: float | None = None,
        colours: Mapping[str, Colour] | None = None,
        names: bool = True,
        name_size: float = 48,
    ) -> None:
        super().__init__()
        theme = theme_now()
        self.t, self.rows = 0.0, {name: tuple(bars) for name, bars in rows.items()}
        self.window = window or (0.0, float(max(bar.end for bars in self.rows.values() for bar in bars)))
        width, height = width or px(1300), row_height or px(90)
        gap = px(30) if gap is None else gap
        self.hues = [(colours or {}).get(name, sm_colour(0, 4)) for name in self.rows]
        self.grounds, self.names = VGroup(), VGroup()
        for number, name in enumerate(self.rows):
            ground = rectangle(width, height, theme.idle).shift(number * (height + gap) * DOWN)
            self.grounds.add(ground)
            if names:
                hue = self.hues[number]
                ink = hue if theme.dark else mixed(hue, theme.text, 0.35)
                self.names.add(label(name, name_size, ink, bold=True).next_to(ground, LEFT, px(24)))
        self._each = [(row, bar) for row, bars in enumerate(self.rows.values()) for bar in bars]
        self.bars = VGroup(*(_drawn(bar, self.hues[row]) for row, bar in self._each))
        self.add(self.grounds, self.names, self.bars)
        self.show(self.window[0])

    def show(self, t: float) -> Self:
        """Look as at `t`, ns: what has happened by then is drawn."""
        self.t = t
        for (row, bar), drawn in zip(self._each, self.bars, strict=True):
            self._show_bar(self.grounds[row], bar, drawn)
        return self

    def x(self, t: float) -> float:
        """The scene's x of an instant, also beyond the window."""
        return float(place(self.grounds[0], self._share(t))[0])

    def lane(self, name: str) -> VMobject:
        """The ground of a row. Raises KeyError for a name that no row has."""
        return self.grounds[self._number(name)]

    def bar(self, name: str, kind: str, number: int = 0) -> VMobject:
        """The bar of a kind in a row, as drawn by now. Raises KeyError where there are not so many."""
        row = self._number(name)
        found = [
            drawn
            for (at, bar), drawn in zip(self._each, self.bars, strict=True)
            if at == row and bar.kind == kind
        ]
        if not -len(found) <= number < len(found):
            raise KeyError(f"row {name!r} has {len(found)} bars of kind {kind!r}; number {number} is none")
        return found[number]

    def _number(self, name: str) -> int:
        if name not in self.rows:
            raise KeyError(f"there is no row {name!r}; there are {', '.join(self.rows)}")
        return list(self.rows).index(name)

    def _share(self, t: float) -> float:
        low, high = self.window
        return (t - low) / (high - low)

    def _show_bar(self, ground: VMobject, bar: Bar, drawn: VMobject) -> None:
        """Draw a bar as far as it has come."""
        x0 = max(0.0, self._share(bar.start))
        x1 = min(1.0, self._share(min(bar.end, self.t)))
        if x1 <= x0:
            for piece in drawn.get_family():
                piece.points = EMPTY
            return
        drawn.points = quad(ground, x0, x1)
        if bar.kind == "load":
            drawn.submobjects[0].points = diagonals(ground, x0, x1, px(HATCH))
        else:
            self._show_text(ground, bar, drawn, x1)

    def _show_text(self, ground: VMobject, bar: Bar, drawn: VMobject, x1: float) -> None:
        """The text of a bar, once there is room."""
        (text,) = drawn.submobjects
        begin, end = self._share(bar.start), self._share(bar.end)
        width, height = extent(ground)
        text.points = EMPTY
        if not bar.text:
            return
        low, high = max(0.0, begin), min(1.0, end)
        em = min(0.52 * height, 0.8 * (high - low) * width / advance(bar.text))
        middle = (low + high) / 2
        if em >= px(20) and x1 >= middle + 0.5 * em * advance(bar.text) / width:
            text.points = figure(ground, bar.text, em, middle)


def _drawn(bar: Bar, hue: Colour) -> VMobject:
    """What a bar looks like, without its place. Raises ValueError for a kind that there is not."""
    theme = theme_now()
    if bar.kind == "load":
        return shape(mixed(theme.idle, hue, FADED)).add(strokes(hue, 4))
    fills = {"wait": theme.wait, "multiply": hue, "write": theme.write, "pause": theme.idle}
    fills["hand over"] = theme.hand_over
    if bar.kind not in fills:
        raise ValueError(f"a bar is of kind {bar.kind!r}; it must be load, {', '.join(fills)}")
    fill = fills[bar.kind]
    made = shape(fill).add(shape(ink_on(fill)))
    if bar.kind == "pause":
        made.set_stroke(ManimColor(theme.wait_text), stroke_width(PAUSE), 1.0, family=False)
    return made


class Calls(PhaseRows):
    """Calls in the lane of the CPU, products in that of the GPU, and what it waits; between them, the queue.

    A line leads from the end of a call to its product; where it slants, the call waits in the queue.

    `times`: when each product is called and runs, as `tilesim.ideas.launch_latency.timeline` has it; `call`:
    ns of a call; `window`: the ns that are shown. `width`: units; `lane`: pixels of a lane's height.
    """

    def __init__(
        self, times: np.ndarray, call: int, window: tuple[float, float], width: float, lane: float = 150
    ) -> None:
        theme, count = theme_now(), len(times)
        self.times, self.ways = times, strokes(theme.text, 4)
        calls, products = [], []
        for number, (called, begin, end) in enumerate(times.tolist(), 1):
            calls.append(Bar("multiply", called - call, called - APART * call, str(number)))
            products.append(Bar("multiply", begin, end - APART * (end - begin), str(number)))
        ends = [0, *times["end"][:-1]]
        waits = [Bar("pause", *those) for those in zip(ends, times["begin"], strict=True)]
        super().__init__(
            {"CPU": calls, "GPU": [*products, *waits]},
            window,
            width,
            px(lane),
            BETWEEN * px(lane),
            {"CPU": theme.launch, "GPU": theme.by_phase["multiply"]},
            name_size=50,
        )
        self.cpu, self.gpu = self.grounds
        self.calls, self.products = self.bars[:count], self.bars[count : 2 * count]
        self.waits = self.bars[2 * count :]
        for wait in self.waits:
            wait.set_fill(ManimColor(theme.wait), 0.35, family=False)
        self.numbers = VGroup(*(bar.submobjects[0] for bar in self.bars[: 2 * count]))
        self.axis = label(tr("time →"), 42, theme.quiet)
        self.axis.next_to(self.cpu, UP, px(12)).align_to(self.cpu, RIGHT)
        queue = rectangle(width, 0.36 * px(lane), theme.idle).move_to(self.grounds)
        name = label(tr("queue"), 40, theme.quiet, bold=True).next_to(queue, LEFT, px(24))
        self.add(queue, name, self.ways, self.axis)

    def show(self, t: float) -> Self:
        super().show(t)
        gpu, low, those = self.grounds[1], 1 + BETWEEN, self.times[self.times["called"] <= t]
        called, begin, come = those["called"], those["begin"], those["begin"] <= t
        tip, side, head = 1 + px(8) / gpu.height, come * px(14) / gpu.width, come * px(18) / gpu.height
        gone = np.where(come, 1.0, (t - called) / np.maximum(1, begin - called))
        x0, x1, y = self._share(called), self._share(np.minimum(begin, t)), low + gone * (tip - low)
        ends = [(x0, low + 0 * y, x1, y), (x1 - side, y + head, x1, y), (x1 + side, y + head, x1, y)]
        lines = np.concatenate([np.stack(one, axis=1)[x1 <= 1] for one in ends])
        self.ways.points = segments(gpu, lines) if len(lines) else EMPTY
        return self
