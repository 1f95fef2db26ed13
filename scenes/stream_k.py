"""Stream-K: what can SMs that are done do while others still compute the last tiles?"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Create, ManimColor, VGroup, VMobject

from tilesim import Device, Problem, Trace
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.animations.zoom import CAMERA, Zoom
from tilesim_scenes.film.captioned_scene import DIMMED
from tilesim_scenes.film.race_film import GAP, RaceFilm
from tilesim_scenes.film.traces import Default
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import readable, sm_colour
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import stroke_width
from tilesim_scenes.mobjects.hardware.partial import Partial
from tilesim_scenes.mobjects.models.tiles.loaf import Loaf
from tilesim_scenes.mobjects.models.tiles.ribbon import Piece, Ribbon
from tilesim_scenes.mobjects.traces.run_panel import RunPanel
from tilesim_scenes.mobjects.traces.sm_lane import SmLane
from tilesim_scenes.mobjects.traces.tile_grid import TileGrid
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.mobjects.words.badge import Badge, of_trace
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.traces import stream_k_words as words
from tilesim_scenes.story.traces.stream_k import StreamK as Story
from tilesim_scenes.story.traces.stream_k import tell

FILM = {
    "title": "Stream-K",
    "question": "What can SMs do that have no tile left?",
    "part": "Schedules",
    "place": 180,
    "seconds": 54,
    "shows": "What 99 SMs do while 33 finish, and what cutting the last tiles along K wins.",
    "takes": "traces",
}
WIDE, DEPTH = 420, 560
"""Pixels: of a loaf's front, and that it goes back."""
SLOW = 2.8
"""Seconds of the time in which most SMs are idle."""


class StreamK(RaceFilm):
    """Persistent against Stream-K, as measured on an H200 unless asked otherwise."""

    default = Default(
        ("persistent", "stream-k"),
        Problem(1408, 3840, 4096, order="grouped:8"),
        Device.named("h200"),
        shipped=tuple(
            f"traces/h200-{name}-1408x3840x4096-grouped8.npz" for name in ("persistent", "stream-k")
        ),
    )

    def traces_of(self, given: Mapping[str, Any]) -> tuple[Trace, ...]:
        traces = super().traces_of(given)
        # What the film cannot be made of is refused while a sentence can still say so.
        tell(traces)
        return traces

    def construct(self) -> None:
        story = tell(self.traces)
        self.title(words.question(story))
        self.ticking = self.clock(story.heat.longest)
        self.watch_idle(story)
        self.cut(story)
        self.share(story)
        self.hand_over(story)
        self.race(story)
        self.end(story)

    def watch_idle(self, story: Story) -> None:
        """A wave fills, and the last tiles keep a few SMs busy for as long again."""
        idle, area = story.idle, self.area
        trace = story.heat.traces[idle.run]
        panel = RunPanel(trace, story.heat.names[idle.run], area.width, area.height - px(GAP), side=self.side)
        panel.move_to([0, area.top, 0], UP)
        self.badge(trace)
        grid = TileGrid(trace, width=area.width, height=0.9 * area.height, numbers=False).move_to(area.center)
        self.say(words.wave(story))
        self.play(Fade(grid, 0.0, 1.0))
        self.play(PlayTrace(self.ticking, grid, until=0.5 * idle.begin, run_time=1.3))
        late = sorted(set(trace.spans["tile"][trace.spans["issue"] >= 0.5 * idle.begin].tolist()))
        edges = VGroup(*(self.edge(grid.tile(tile)) for tile in late))
        self.play(Create(edges, run_time=0.8, lag_ratio=0.05))
        self.wait(0.5)
        self.play(Leave(edges))
        panel.show(self.ticking.t)
        if panel.grid is None:
            self.play(Leave(grid), Fade(panel, 0.0, 1.0))
        else:
            ways = [[panel.grid.get_center()]]
            self.play(Travel([grid], ways, [[panel.grid.width / grid.width]], leg=0.8))
            self.play(Fade(panel.lanes, 0.0, 1.0), Fade(panel.title, 0.0, 1.0))
            self.remove(grid)
        self.play(PlayTrace(self.ticking, panel, until=idle.begin, run_time=1.2))
        self.say(words.idling(story))
        bracket = TimeBracket(panel.lanes, idle.begin, idle.end, text=words.bracket(story), below=True)
        self.play(PlayTrace(self.ticking, panel, bracket, until=idle.end, run_time=SLOW))
        self.wait(1.2)
        # One of the last tiles is what comes next.
        self.left_over = self.edge((panel.grid or grid).tile(late[-1] if late else 0))
        self.hush()
        self.play(Leave(panel), Leave(bracket), Leave(self.ticking), Fade(self.left_over, 0.0, 1.0))

    def edge(self, tile: VMobject) -> VMobject:
        """A tile's outline, lit."""
        ground = (tile[0] if len(tile.submobjects) else tile).copy()
        return ground.set_fill(opacity=0).set_stroke(ManimColor(self.theme.text), stroke_width(5))

    def cut(self, story: Story) -> None:
        """A tile that is left over shows its depth, is cut, and its pieces go to SMs."""
        area, problem, count = self.area, story.whole.problem, story.pieces
        deep = problem.k_steps
        self.badge(Badge(tr("model")))
        self.say(words.cutting(story))
        depth = label(words.steps(story), 54, bold=True)
        aside = depth.width + px(40)
        unit = min(1.0, area.width / px(WIDE + DEPTH), area.height / px(2.2 * WIDE))
        high = float(np.clip(problem.tile_m / problem.tile_n, 0.4, 0.8)) * WIDE
        step = unit * px(DEPTH) / deep
        loaf = Loaf(deep, unit * px(WIDE), unit * px(high), step=(step, 0.42 * step))
        loaf.move_to(area.center + (0.12 * area.height) * UP)
        beside = loaf.width + 2 * aside < area.width
        depth.next_to(loaf.front, LEFT if beside else DOWN, px(40))
        front = loaf.front.copy()
        home, size = front.get_center(), front.width / self.left_over.width
        front.scale(1 / size).move_to(self.left_over)
        self.remove(self.left_over)
        self.play(Travel([front], [[home]], [[size]], leg=0.8))
        self.play(Fade(loaf, 0.0, 1.0, run_time=0.5), Fade(depth, 0.0, 1.0))
        self.remove(front)
        counts = [deep // count + (n < deep % count) for n in range(count)]
        pieces = loaf.cut(counts, [sm_colour(sm, count) for sm in range(count)])
        # Blades as large as the tile fall through the loaf in the planes of the cuts.
        blades = [self.edge(piece.front).shift(px(150) * UP) for piece in pieces[1:]]
        self.play(*(Fade(blade, 0.0, 1.0) for blade in blades))
        self.play(Travel(blades, [[piece.front.get_center()] for piece in pieces[1:]], leg=0.4, apart=0.2))
        self.play(Fade(pieces, 0.0, 1.0), *(Leave(blade) for blade in blades))
        self.remove(loaf)
        slot = area.width / count
        size = min(1.0, 0.8 * slot / pieces.width * count**0.5)
        feet = [np.array([area.left + (n + 0.5) * slot, area.bottom, 0]) for n in range(count)]
        inks = [readable(sm_colour(n, count)) for n in range(count)]
        names = VGroup(*(label(f"SM {n}", 50, ink, bold=True) for n, ink in enumerate(inks)))
        for name, foot in zip(names, feet, strict=True):
            name.move_to(foot + px(50) * UP)
        away = [[foot + px(230) * UP] for foot in feet]
        fly = Travel(list(pieces), away, [[size]] * count, leg=0.8, arc=0.1)
        self.play(Leave(depth), fly, Fade(names, 0.0, 1.0, run_time=0.8))
        self.wait(0.3)
        self.hush()
        self.dealt = pieces, names

    def share(self, story: Story) -> None:
        """Tiles end to end, cut wherever a share ends."""
        shares, steps, centre = story.shares, story.whole.problem.k_steps, self.area.center
        last = shares[-1].end
        tiles = [Piece(at, min(at + steps, last), str(n)) for n, at in enumerate(range(0, last, steps))]
        sms = list(dict.fromkeys(one.sm for one in shares))
        hues = [sm_colour(n, len(sms)) for n in range(len(sms))]
        parts = [Piece(a.begin, a.end, str(a.end - a.begin), hues[sms.index(a.sm)]) for a in shares]
        whole, cuts = (Ribbon(row, last, self.area.width, px(150), size=56) for row in (tiles, parts))
        whole.move_to(centre + px(220) * UP)
        cuts.move_to(whole)
        names = VGroup()
        for n, sm in enumerate(sms):
            mine = VGroup(*(piece for piece, one in zip(cuts, shares, strict=True) if one.sm == sm))
            name = label(f"SM {n}", 56, readable(hues[n]), bold=True)
            names.add(name.move_to([mine.get_center()[0], centre[1] - px(130), 0]))
        each = label(words.each(story), 96, bold=True).move_to(centre + px(280) * DOWN)
        self.say(words.sharing())
        # The tile that was cut becomes the first of them.
        dealt, feet = self.dealt
        pieces, home = list(dealt), whole[0].get_center()
        size = 0.3 * whole[0].width / pieces[0].width
        back = Travel(pieces, [[home]] * len(pieces), [[size]] * len(pieces), leg=0.8)
        self.play(Leave(feet), back, Fade(whole, 0.0, 1.0, run_time=0.8))
        # Their figures come once they cover those of the tiles.
        self.play(*(Fade(box, 0.0, 1.0) for box, _ in cuts), *(Leave(piece) for piece in pieces))
        self.remove(dealt)
        down = [[piece.get_center() + px(220) * DOWN] for piece in cuts]
        figures = (Fade(figure, 0.0, 1.0) for _, figure in cuts)
        self.play(Travel(list(cuts), down, leg=0.6, apart=0.1), *figures)
        self.play(Fade(names, 0.0, 1.0), Fade(each, 0.0, 1.0))
        self.wait(0.8)
        self.hush()
        self.shared = whole, cuts, names, each

    def hand_over(self, story: Story) -> None:
        """A partial sum on its way from the block that has it to the block that needs it."""
        trace, area = story.cut, self.area
        giver, owner = (trace.spans[row] for row in (story.handing.giver, story.handing.owner))
        given = int(giver["done"])
        drain, ready, fixed, done = (int(owner[name]) for name in ("drain", "ready", "fixup", "done"))
        self.badge(trace)
        lanes = VGroup(
            *(
                SmLane(trace, int(span["sm"]), name, area.width, px(150), side=self.side)
                for span, name in ((giver, tr("giver")), (owner, tr("owner")))
            )
        ).arrange(DOWN, buff=px(200))
        for lane in lanes:
            lane.shift((area.right - lane.lane.grounds.get_right()[0]) * RIGHT)
        lanes.shift((area.center[1] - lanes.get_center()[1]) * UP)
        gives, owns = lanes
        bounds = owns.lane.grounds
        # Where the length of the launch with which the lane begins comes from.
        note = owns.launch_source(0, owns.window[1])
        source = VGroup(note) if note is not None else VGroup()
        self.say(words.handing())
        self.play(*(Leave(one) for one in self.shared), Fade(lanes, 0.0, 1.0))
        self.play(Fade(self.ticking.show(0.0), 0.0, 1.0), Fade(source, 0.0, 1.0))
        self.play(PlayTrace(self.ticking, *lanes, until=given, run_time=1.2))
        above = bounds.get_top()[1] + px(60)
        partial = Partial().move_to([gives.x(given), gives.lane.grounds.get_center()[1], 0])
        self.play(Fade(partial, 0.0, 1.0), Travel([partial], [[[gives.x(given), above, 0]]], leg=0.6))
        self.play(PlayTrace(self.ticking, *lanes, until=max(given, drain), run_time=1.0))
        self.say(words.adding(story))
        low, high = drain - 0.35 * (done - drain), done + 0.1 * (done - drain)
        # It is held up above the place where it will be added, out of the bracket's way.
        at = bounds.get_left()[0] + ((ready + fixed) / 2 - low) / (high - low) * bounds.width
        held = (above + gives.lane.grounds.get_bottom()[1] - px(40)) / 2
        up = Travel([partial], [[[at, held, 0]]], leg=CAMERA)
        self.play(Zoom(*lanes, window=(low, high)), up, Leave(source))
        bracket = TimeBracket(owns.lane, drain, fixed, owns.sm)
        # What the giver does meanwhile is of other tiles.
        self.play(Fade(gives, 1.0, DIMMED))
        self.play(PlayTrace(self.ticking, *lanes, bracket, until=ready, run_time=1.0))
        self.play(Travel([partial], [[[at, bounds.get_center()[1], 0]]], [[0.6]], leg=0.5))
        self.play(Leave(partial), PlayTrace(self.ticking, *lanes, bracket, until=fixed, run_time=1.0))
        self.play(PlayTrace(self.ticking, *lanes, bracket, until=done, run_time=0.5))
        names = owns.names_of(drain, done)
        self.play(Fade(names, 0.0, 1.0))
        self.wait(0.7)
        self.hush()
        self.play(*(Leave(one) for one in (lanes, bracket, names)))

    def race(self, story: Story) -> None:
        """Both on one clock, and what adds up to their difference."""
        heat = story.heat
        panels = self.panels(heat)
        self.ticking.show(0.0)
        self.say(words.both())
        self.play(Fade(panels, 0.0, 1.0))
        first = heat.traces[heat.fast].makespan
        self.play(PlayTrace(self.ticking, *panels, until=first, run_time=2.0))
        self.finish(heat, panels)
        self.add_up(heat, panels)

    def end(self, story: Story) -> None:
        """The finding."""
        badge = of_trace(story.cut)
        rows = [
            (name, trace.makespan / 1000, badge.kind)
            for name, trace in zip(story.heat.names, story.heat.traces, strict=True)
        ]
        bars = Bars(rows, width=self.area.width)
        finding = words.finding(story)
        card = Finding(finding, words.number(story), bars, badge, words.aside(story))
        self.finding(card, [bars.grow()])
