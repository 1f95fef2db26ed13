"""Bar groups: bars of one scale in groups, each under a heading, such as one problem each."""

from collections.abc import Mapping, Sequence

from manim import DOWN, LEFT, VGroup

from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import theme_now
from tilesim_scenes.mobjects.charts.bars import Bars


class BarGroups(Bars):
    """A heading, and under it a bar for each (label, value, kind), for each of `groups`; else as Bars.

    chart = BarGroups({"K = 512": [("one group", 599.0, "quiet"), ("two", 695.0, "measured")]}, "TFLOP/s")
    self.play(chart.grow())
    """

    def __init__(
        self,
        groups: Mapping[str, Sequence[tuple[str, float, str]]],
        unit: str = "",
        width: float | None = None,
        row: float | None = None,
        size: float = 48,
        form: str = "{:.1f}",
        inside: bool = False,
    ) -> None:
        every_row = [one for rows in groups.values() for one in rows]
        super().__init__(every_row, unit, width, row, size, form, inside)
        self.headings, number = VGroup(), 0
        self.groups: dict[str, VGroup] = {}
        every = list(zip(self.grounds, self.names, self.figures, self.bars, strict=True))
        left = self.names.get_left()
        for heading, rows in groups.items():
            mine = every[number : number + len(rows)]
            number += len(rows)
            text = label(heading, size, theme_now().quiet, bold=True)
            below = len(self.groups) * px(1.1 * size) + (len(self.groups) + 1) * px(1.3 * size)
            for row in mine:
                for part in row[:3]:
                    part.shift(below * DOWN)
            text.next_to(mine[0][0], LEFT).align_to(left, LEFT).shift(-px(1.5 * size) * DOWN)
            self.headings.add(text)
            self.groups[heading] = VGroup(text, *(part for row in mine for part in row))
        self.add(self.headings)
        for number in range(len(every)):
            self.reach(number, 1.0)
        self.move_to([0, 0, 0])
