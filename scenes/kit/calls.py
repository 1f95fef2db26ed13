"""Calls: who calls a GPU when, and when it computes, in a lane of the CPU and one of the GPU."""

from typing import Self

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, ManimColor, VGroup

from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import ink_on, theme_now
from tilesim_scenes.mobjects.drawing.quads import (
    EMPTY,
    figure,
    quad,
    rectangle,
    segments,
    shape,
    stroke_width,
    strokes,
)

BETWEEN = 0.7
"""Share of a lane's height that is free between two lanes."""


class Calls(VGroup):
    """Calls in the lane of the CPU, products in that of the GPU, and between products what the GPU waits.

    `times`: when each product is called and runs, as `tilesim.ideas.launch_latency.timeline` has it; `call`:
    ns of a call; `window`: the ns that are shown. `width`: units; `lane`: pixels of a lane's height.
    """

    def __init__(
        self, times: np.ndarray, call: int, window: tuple[float, float], width: float, lane: float = 150
    ) -> None:
        super().__init__()
        theme = theme_now()
        self.times, self.call, self.window, self.t = times, call, window, 0.0
        self.cpu, self.gpu = (rectangle(width, px(lane), theme.idle) for _ in range(2))
        self.gpu.next_to(self.cpu, DOWN, BETWEEN * px(lane))
        hues = theme.launch, theme.by_phase["multiply"]
        self.calls, self.products = (VGroup(*(shape(hue) for _ in times)) for hue in hues)
        self.numbers = VGroup(*(shape(ink_on(hue)) for hue in hues for _ in times))
        self.ways = strokes(theme.text, 4)
        self.waits = VGroup(*(shape(theme.wait, 0.35) for _ in times[1:]))
        self.waits.set_stroke(ManimColor(theme.wait_text), stroke_width(5))
        self.names = VGroup(*(label(name, 50, bold=True) for name in ("CPU", "GPU")))
        for name, ground in zip(self.names, (self.cpu, self.gpu), strict=True):
            name.next_to(ground, LEFT, px(26))
        self.axis = label(tr("time →"), 42, theme.quiet)
        self.axis.next_to(self.cpu, UP, px(12)).align_to(self.cpu, RIGHT)
        self.add(self.cpu, self.gpu, self.calls, self.products, self.waits, self.numbers, self.ways)
        self.add(self.names, self.axis)
        self.show(0.0)

    def x(self, ns: float) -> float:
        """Where an instant is, as a share of a lane."""
        return (ns - self.window[0]) / (self.window[1] - self.window[0])

    def at(self, ns: float) -> float:
        """Where an instant is on screen."""
        return float(self.cpu.get_left()[0] + self.x(ns) * self.cpu.width)

    def part(self, ground: VGroup, begin: float, end: float) -> np.ndarray:
        """The points of what lasts from an instant to another, as far as it is shown by now."""
        x0, x1 = (min(self.x(min(ns, self.t)), 1.0) for ns in (begin, end))
        return quad(ground, x0, x1, 0.08, 0.92) if x1 > x0 else EMPTY

    def show(self, t: float) -> Self:
        self.t = t
        count = len(self.times)
        ways = []
        for number, (called, begin, end) in enumerate(self.times.tolist()):
            since = called - self.call
            one = self.part(self.cpu, since, called - 0.02 * self.call)
            self.calls[number].points = one
            other = self.products[number].points = self.part(self.gpu, begin, end - 0.02 * (end - begin))
            both = (number, self.cpu, one, since), (count + number, self.gpu, other, begin)
            for place, ground, drawn, left in both:
                wide = np.ptp(drawn[:, 0]) if len(drawn) else 0.0
                text = str(number + 1)
                fits = wide > px(30 * len(text) + 12)
                middle = (self.x(left) + wide / ground.width / 2) if fits else 0.0
                self.numbers[place].points = figure(ground, text, px(44), middle) if fits else EMPTY
            if number:
                self.waits[number - 1].points = self.part(self.gpu, self.times["end"][number - 1], begin)
            if t >= called and self.x(called) <= 1:
                ways.append(called)
        lane = self.gpu.height
        low, tip = 1 + BETWEEN, 1 + px(8) / lane
        ends = [(self.x(a), low, self.x(a), tip) for a in ways]
        side = px(14) / self.gpu.width
        heads = [(self.x(a) + s, tip + px(18) / lane, self.x(a), tip) for a in ways for s in (-side, side)]
        self.ways.points = segments(self.gpu, np.array(ends + heads)) if ways else EMPTY
        return self
