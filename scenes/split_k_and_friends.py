"""Split-K and friends: the last tiles leave most SMs idle; which schedule helps, and what does it cost?

manim render scenes/split_k_and_friends.py
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from manim import UP, Create, ManimColor, VGroup, VMobject

from tilesim import Device, Problem, Trace
from tilesim.kernel_costs.default import read_costs
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.restack import Restack, stacked
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.scene import Film
from tilesim_scenes.film.traces import Default
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import px
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import stroke_width
from tilesim_scenes.mobjects.traces.partial_traffic import PartialTraffic
from tilesim_scenes.mobjects.traces.run_row import RunRow
from tilesim_scenes.mobjects.traces.tile_grid import TileGrid
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.mobjects.words.badge import of_trace
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.traces.split_k_and_friends import Friend, handed, launch_control, tell

FILM = {
    "title": "Split-K and friends",
    "question": "Which schedule helps when the last tiles leave most SMs idle?",
    "part": "Schedules",
    "place": 190,
    "seconds": 41,
    "shows": "Six schedules for the same last tiles, what each wins and what it pays.",
    "takes": "traces",
}
SCHEDULES = ("naive", "split-k:2", "stream-k", "stream-k-hybrid", "persistent-dynamic")
GAP, BRACKET, FOOT = 18, 90, 40
"""Pixels between two rows, beside lanes for a bracket with its figure, and below all for a second line of
words."""
RUN = 2.4
"""Seconds of a run."""


class SplitKAndFriends(Film):
    """Six schedules of one product with a bad tail, five of them as measured on an H200."""

    default = Default(
        SCHEDULES,
        Problem(1408, 6912, 4096, order="grouped:8"),
        Device.named("h200"),
        shipped=tuple(
            f"split_k_and_friends/h200-{name.replace(':', '')}-1408x6912x4096-grouped8.npz"
            for name in SCHEDULES
        ),
    )

    def traces_of(self, given: Mapping[str, Any]) -> tuple[Trace, ...]:
        traces = super().traces_of(given)
        problem, device = traces[0].problem, traces[0].device
        costs = None
        if "costs" in given:
            costs = read_costs(given["costs"], "persistent-dynamic", problem, device)
        simulated = launch_control(problem, device, costs, given.get("seed", 0))
        self.story = tell((*traces, simulated))
        return (*traces, simulated)

    def construct(self) -> None:
        self.title(tr("Split-K and friends"))
        self.leave_some_over()
        self.stack_up()
        for number in range(len(self.rows)):
            self.run_one(number)
        self.compare()
        self.tell_the_finding()

    def leave_some_over(self) -> None:
        """Full waves come and go; the tiles of the last are lit."""
        story, area, trace = self.story, self.area, self.story.plain.trace
        grid = TileGrid(trace, width=area.width, height=0.8 * area.height, numbers=False)
        grid.move_to(area.center + 0.04 * area.height * UP)
        last = trace.spans["tile"][trace.spans["issue"].argsort(kind="stable")[-story.left_over :]]
        # By then the tiles before them are written, and nothing else has an edge.
        began = int(trace.spans["start"][np.isin(trace.spans["tile"], last)].max())
        ticking = self.clock(story.longest)
        self.badge(trace)
        self.say(story.question)
        self.play(Fade(grid, 0.0, 1.0))
        self.play(PlayTrace(ticking, grid, until=began, run_time=2.2))
        edges = VGroup(*(self.edge(grid.tile(int(tile))) for tile in last.tolist()))
        self.play(Create(edges, run_time=0.8, lag_ratio=0.05))
        self.wait(0.8)
        self.play(Leave(edges), Leave(grid))
        self.ticking = ticking

    def edge(self, tile: VMobject) -> VMobject:
        """A tile's outline, lit."""
        ground = (tile[0] if len(tile.submobjects) else tile).copy()
        return ground.set_fill(opacity=0).set_stroke(ManimColor(self.theme.text), stroke_width(5))

    def stack_up(self) -> None:
        """A row for each schedule, the first of them large."""
        story, area = self.story, self.area
        beside = area.width > 1.2 * area.height
        self.rows = [
            RunRow(one.trace, one.name, area.width, area.height / 6, story.longest, beside, self.note(one))
            for one in story.runs
        ]
        self.places = self.stack(0)
        for row, place in zip(self.rows, self.places, strict=True):
            row.place(*place)
        self.play(*(Fade(row, 0.0, 1.0) for row in self.rows), PlayTrace(self.ticking, until=0, run_time=0.3))

    def note(self, one: Friend) -> str:
        """Said of a run beside others that come from elsewhere."""
        return "" if one.measured == self.story.plain.measured else tr("simulated")

    def stack(self, large: int | None) -> list[tuple[float, float]]:
        """Where rows stand, of which one may be large, with room for a bracket above it.

        Where names and times stand above lanes, that room is below it.
        """
        area, head = self.area, px(BRACKET) * (large is not None)
        places = stacked(len(self.rows), area.top, area.height - head - px(FOOT), px(GAP), large)
        first = len(places) if large is None else large + (not self.rows[large].beside)
        return [(top - head * (number >= first), height) for number, (top, height) in enumerate(places)]

    def run_one(self, number: int) -> None:
        """A row becomes large and runs; partial sums travel, and a bracket measures its tail."""
        story, row = self.story, self.rows[number]
        friend = story.runs[number]
        self.badge(friend.trace)
        self.say(story.says(friend))
        if number:
            after = self.stack(number)
            self.play(Restack(self.rows, self.places, after), PlayTrace(self.ticking, until=0, run_time=0.7))
            self.places = after
        traffic = PartialTraffic(friend.trace, row.lanes, handed(friend.trace))
        over = [traffic] if len(traffic) else []
        if friend.has_tail:
            # Above lanes stands their time, unless it stands beside them.
            below = not row.beside
            over.append(TimeBracket(row.lanes, friend.idle.begin, friend.idle.end, below=below))
        self.play(PlayTrace(self.ticking, row, *over, until=friend.trace.makespan, run_time=RUN))
        self.wait(0.6)
        if over:
            self.play(*(Leave(one) for one in over))

    def compare(self) -> None:
        """All of them, alike in height; the winner is lit."""
        story = self.story
        self.badge(story.plain.trace)
        after = self.stack(None)
        self.say(story.verdict)
        self.play(Restack(self.rows, self.places, after), Leave(self.ticking))
        self.focus(self.rows[story.runs.index(story.winner)])
        self.wait(1.5)
        self.unfocus()

    def tell_the_finding(self) -> None:
        story = self.story
        badge = of_trace(story.plain.trace)
        kind = "measured" if story.plain.measured else "simulated"
        rows = [(one.name, one.us, kind) for one in dict.fromkeys((story.plain, story.winner))]
        bars = Bars(rows, "µs", self.area.width)
        self.finding(Finding(story.finding, story.number, bars, badge, story.aside), [bars.grow()])
