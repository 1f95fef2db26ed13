"""RunRow: a run's name, its lanes and its time in one row, whose height can change."""

from typing import Self

from manim import LEFT, RIGHT, UP, Group

from tilesim import Trace
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, label, px
from tilesim_scenes.look.theme import theme_now
from tilesim_scenes.mobjects.drawing.panel import Panel
from tilesim_scenes.mobjects.traces.lanes import Lanes

SIDE, TIME, HEAD, GAP = 350.0, 230.0, 56.0, 24.0
"""Pixels: of the columns of names and of times, of the line that both stand in where they are above, and
between columns."""


class RunRow(Panel):
    """A run called `name`, on lanes that show `longest` ns, at first `width` by `height` units in the middle.

    `beside`: whether name and time stand beside the lanes, else above them. `note`: a word below the name, or
    after it. The time appears when the run is done.

        row = RunRow(trace, "Naive", width=12, height=1)
        self.add(row)
        self.play(PlayTrace(row, until=trace.makespan))
        row.place(top=3, height=4)
    """

    def __init__(
        self,
        trace: Trace,
        name: str,
        width: float,
        height: float,
        longest: float | None = None,
        beside: bool = True,
        note: str = "",
    ) -> None:
        theme = theme_now()
        self.trace, self.t, self.beside, self.wide = trace, 0.0, beside, width
        window = (0.0, float(longest or trace.makespan))
        room = width - px(SIDE + TIME + 2 * GAP) * beside
        sms = sorted(trace.device.free_sms)
        self.lanes = Lanes(trace, sms, window=window, width=room, **self._sizes(trace, height))
        self.title = label(name, 44, bold=True)
        self.note = label(note, 36, theme.simulated) if note else Group()
        if beside and self.title.width > px(SIDE):
            self.title.scale(px(SIDE) / self.title.width)
        self.time = Figure(size=44, align=1.0)
        super().__init__(self.lanes, self.title, self.note, self.time)
        self.place(height / 2, height)
        self.show(0.0)

    @staticmethod
    def _sizes(trace: Trace, height: float) -> dict[str, float | bool]:
        """What lanes of few or many SMs are given for a height; `place` says the last word."""
        each = height / max(1, trace.device.sms)
        return (
            {"lane_height": each, "gap": 0.12 * each, "labels": False} if each > px(4) else {"height": height}
        )

    def place(self, top: float, height: float) -> Self:
        """Stand between `top` and so much below it, about x = 0, as wide as ever."""
        left, right = -self.wide / 2, self.wide / 2
        room = height if self.beside else height - px(HEAD)
        bars = self.lanes.grounds
        self.lanes.stretch(room / bars.height, 1)
        x = left + px(SIDE + GAP) * self.beside + bars.width / 2
        self.lanes.shift([x, top - height + room / 2, 0] - bars.get_center())
        line = top - height / 2 if self.beside else top - px(HEAD) / 2
        self.title.move_to([left, line, 0], LEFT)
        if len(self.note.submobjects):
            if self.beside:
                self.title.shift(px(22) * UP)
                self.note.move_to([left, line - px(26), 0], LEFT)
            else:
                self.note.next_to(self.title, RIGHT, px(GAP))
        corner = self.time.submobjects[0]
        self.time.shift([right, line - px(16), 0] - corner.points[0])
        return self.show(self.t)

    def show(self, t: float) -> Self:
        """Look as at `t`, ns of the trace."""
        self.t = t
        self.lanes.show(t)
        done = t >= self.trace.makespan
        self.time.write(tr("{us:.1f} µs", us=self.trace.makespan / 1000) if done else "")
        return self
