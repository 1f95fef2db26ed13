"""Calls: who calls a GPU when, and when it computes, in a lane of the CPU and one of the GPU."""

from typing import Self

import numpy as np
from manim import RIGHT, UP, ManimColor, VGroup

from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import theme_now
from tilesim_scenes.mobjects.drawing.quads import EMPTY, segments, strokes
from tilesim_scenes.mobjects.models.phase_rows import Bar, PhaseRows

BETWEEN, APART = 0.7, 0.02
"""Share of a lane's height that is free between two lanes; share of a bar that is free after it."""


class Calls(PhaseRows):
    """Calls in the lane of the CPU, products in that of the GPU, and between products what the GPU waits.

    `times`: when each product is called and runs, as `tilesim.ideas.launch_latency.timeline` has it; `call`:
    ns of a call; `window`: the ns that are shown. `width`: units; `lane`: pixels of a lane's height.
    """

    def __init__(
        self, times: np.ndarray, call: int, window: tuple[float, float], width: float, lane: float = 150
    ) -> None:
        theme, count = theme_now(), len(times)
        self.called, self.ways = times["called"], strokes(theme.text, 4)
        calls, products = [], []
        for number, (called, begin, end) in enumerate(times.tolist(), 1):
            calls.append(Bar("multiply", called - call, called - APART * call, str(number)))
            products.append(Bar("multiply", begin, end - APART * (end - begin), str(number)))
        waits = [Bar("pause", *ends) for ends in zip(times["end"][:-1], times["begin"][1:], strict=True)]
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
        self.add(self.ways, self.axis)

    def show(self, t: float) -> Self:
        super().show(t)
        gpu, at = self.grounds[1], self._share(self.called[self.called <= t])
        low, tip, side = 1 + BETWEEN, 1 + px(8) / gpu.height, px(14) / gpu.width
        ways = [(x, low, x, tip) for x in at if x <= 1]
        heads = [(x + s, tip + px(18) / gpu.height, x, tip) for x in at if x <= 1 for s in (-side, side)]
        self.ways.points = segments(gpu, np.array(ways + heads)) if ways else EMPTY
        return self
