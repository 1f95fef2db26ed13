"""Bars: figures beside one another, as lengths. A figure is read only once its bar has grown."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from manim import LEFT, RIGHT, VGroup, smoothstep

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.animations.fade import looks, show_share
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import mix, theme_now
from tilesim_scenes.mobjects.drawing.quads import quad, rectangle

BODY = 0.45
"""Share of its colour in a bar, whose end has all of it."""
END = 8.0
"""Pixels of that end."""
STEP, GROW = 0.3, 0.8
"""Seconds from one bar's beginning to grow to the next one's, and that each takes."""


class Bars(VGroup):
    """A row for each (label, value, kind); kind is measured, simulated or quiet. Values are of one `unit`.

    `width`: units for names, bars and figures together. `row`: units from one bar to the next. `size`: pixels
    of names and figures. `form`: how a value is written. `rows[number]` is all of a bar.

    Raises ValueError for a kind that there is not, or where no value is above 0.
    """

    def __init__(
        self,
        rows: Sequence[tuple[str, float, str]],
        unit: str = "",
        width: float | None = None,
        row: float | None = None,
        size: float = 48,
        form: str = "{:.1f}",
    ) -> None:
        super().__init__()
        theme, row, width = theme_now(), row or px(1.9 * size), width or px(1500)
        inks = {"measured": theme.measured, "simulated": theme.simulated, "quiet": theme.quiet}
        longest = max((value for _, value, _ in rows), default=0.0)
        if longest <= 0 or any(kind not in inks for _, _, kind in rows):
            raise ValueError(f"bars need a value above 0, and kinds of {', '.join(inks)}")
        self.names = VGroup(*(label(name, size) for name, _, _ in rows))
        written = (" ".join(filter(None, (form.format(value), unit))) for _, value, _ in rows)
        self.figures = VGroup(*(label(text, size, bold=True, mono=True) for text in written))
        gap = px(0.4 * size)
        left = max(name.width for name in self.names) + gap
        room = width - left - max(figure.width for figure in self.figures) - gap
        self.bars, self.grounds = VGroup(), VGroup()
        each = zip(rows, self.names, self.figures, strict=True)
        for number, ((_, value, kind), name, figure) in enumerate(each):
            ground = rectangle(room * value / longest, 0.6 * row)
            ground.move_to([left, -number * row, 0], LEFT)
            body = rectangle(1, 1, tuple(mix(theme.background, inks[kind], BODY).tolist()))
            end = rectangle(1, 1, inks[kind])
            self.grounds.add(ground)
            self.bars.add(VGroup(body, end))
            name.next_to(ground, LEFT, gap)
            figure.next_to(ground, RIGHT, gap)
        self.rows = [
            VGroup(*parts) for parts in zip(self.grounds, self.bars, self.names, self.figures, strict=True)
        ]
        self.add(*self.rows)
        self.move_to([0, 0, 0])
        for number in range(len(rows)):
            self.reach(number, 1.0)

    def reach(self, number: int, share: float) -> None:
        """Draw a share of a bar."""
        ground, (body, end) = self.grounds[number], self.bars[number]
        edge = min(1.0, px(END) / max(ground.width, 1e-9)) * share
        body.points, end.points = quad(ground, 0, share), quad(ground, share - edge, share)

    def grow(self, *numbers: int, **kwargs: Any) -> "Grow":
        """An animation in which the bars grow one after the other, each figure appearing when its bar is.

        `numbers`: of the bars that grow, all where none are given; the others are left as they are. With
        `named=True` their names stand there already.
        """
        return Grow(self, numbers or tuple(range(len(self.rows))), **kwargs)


class Grow(Direct):
    """Names appear, bars grow, and each figure is shown when its bar has its length."""

    def __init__(
        self,
        bars: Bars,
        numbers: Sequence[int],
        named: bool = False,
        run_time: float | None = None,
        **kwargs: Any,
    ) -> None:
        self.bars, self.numbers, self.named = bars, numbers, named
        self._natural = STEP * len(numbers) + GROW
        super().__init__(*(bars.rows[i] for i in numbers), run_time=run_time or self._natural, **kwargs)

    def begin(self) -> None:
        self._own = [(looks(self.bars.names[i]), looks(self.bars.figures[i])) for i in self.numbers]
        super().begin()

    def interpolate_mobject(self, alpha: float) -> None:
        for place, number in enumerate(self.numbers):
            second = alpha * self._natural - STEP * place
            self.bars.reach(number, smoothstep(second / GROW))
            appear = list(zip(self._own[place], (0.0, GROW), strict=True))[self.named :]
            for part, since in appear:
                show_share(part, float(np.clip((second - since) / STEP, 0.0, 1.0)))
