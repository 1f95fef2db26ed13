"""Trace: where does the time of a run go, of your own kernel's too?"""

from manim import (
    DOWN,
    LEFT,
    Animation,
    LaggedStart,
    Mobject,
    RoundedRectangle,
    Transform,
    VGroup,
    VMobject,
    smoothstep,
)

from tilesim import Device, Problem
from tilesim_scenes.animations.enlarge import Enlarge
from tilesim_scenes.animations.fade import Fade, Leave, late
from tilesim_scenes.animations.run import Run
from tilesim_scenes.film.scene import Film
from tilesim_scenes.film.traces import Default
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import hexadecimal, sm_colour, theme_now
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width
from tilesim_scenes.mobjects.traces.run_panel import RunPanel
from tilesim_scenes.mobjects.traces.sm_lane import SmLane
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.mobjects.words.badge import of_trace
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.traces import trace as words
from tilesim_scenes.story.traces.trace import TraceStory, tell

FILM = {
    "title": "Your own kernel",
    "question": "Where does the time go?",
    "part": "Models",
    "place": 270,
    "seconds": 26,
    "shows": "Any run: the film looks for its longest pause, and says what share of the time it is.",
    "takes": "traces",
    "gallery": [
        {
            "output": "own-kernel.mp4",
            "poster": "own-kernel.png",
            "size": "720p",
            "trace": "../tests/own_kernel.csv",
        },
    ],
}
SIDE = 420.0
"""Pixels of the column with the run's name and its tiles."""
READ, OPEN, WHOLE, SLOW, BACK = 1.6, 2.0, 6.0, 3.0, 1.0
"""Seconds: of the file's being read, of its falling open, of a whole run, of its longest pause, and of the
way back from that."""


class TraceFilm(Film):
    """A run of Split-K on an H200, unless given another trace."""

    default = Default(
        ("split-k:2",),
        Problem(1408, 3840, 4096, order="grouped:8"),
        Device.named("h200"),
        shipped=("traces/h200-split-k2-1408x3840x4096-grouped8.npz",),
        any_work=True,
    )

    def construct(self) -> None:
        story = tell(self.traces[0])
        self.title(tr("Where does the time go?"))
        self.ticking = self.clock(story.trace.makespan)
        self.badge(story.trace)
        panel, rows = self.fall_open(story)
        self.run_on(
            story, panel, story.pause.begin if story.pause else story.trace.makespan, Leave(rows, 1.0)
        )
        if story.pause is not None:
            self.look_closely(story, panel)
        self.run_on(story, panel, story.trace.makespan)
        self.add_up(story, panel)

    def fall_open(self, story: TraceStory) -> tuple[RunPanel, VGroup]:
        """The file's rows become bars in lanes."""
        sheet, lines = self.sheet(story)
        self.say(words.opening(story))
        head, *written = lines
        self.play(Fade(VGroup(sheet, head), 0.0, 1.0, run_time=0.5))
        # The file is read line by line.
        self.play(LaggedStart(*(Fade(line, 0.0, 1.0) for line in written), lag_ratio=0.7, run_time=READ))
        side = px(SIDE) if self.area.width > 1.2 * self.area.height else 0.0
        height = min(self.area.height, 1.3 * self.area.width)
        panel = RunPanel(story.trace, story.name, self.area.width, height, side=side)
        panel.move_to(self.area.center)
        self.say(tr("Every row becomes a bar in its SM's lane"))
        bars = VGroup(*(self.bar(row, line) for row, line in zip(story.rows, lines[1:], strict=False)))
        self.play(Fade(bars, 0.0, 1.0))
        self.add(panel, bars)
        # One by one: a group of them would come in front of the bars.
        self.play(*map(Leave, (sheet, *lines)), Fade(panel, 0.0, 1.0))
        places = (self.place(panel, row) for row in story.rows)
        falls = (Transform(bar, place) for bar, place in zip(bars, places, strict=True))
        self.play(LaggedStart(*falls, lag_ratio=0.1, run_time=OPEN))
        return panel, bars

    def sheet(self, story: TraceStory) -> tuple[Mobject, VGroup]:
        """A file, and its lines."""
        theme = theme_now()
        inks = (theme.quiet, *[theme.text] * len(story.rows))
        rows = (label(text, 54, ink, mono=True) for text, ink in zip(story.lines, inks, strict=True))
        lines = VGroup(*rows)
        if len(story.rows) < len(story.trace.spans):
            lines.add(label("…", 54, theme.quiet, mono=True))
        lines.arrange(DOWN, buff=px(26), aligned_edge=LEFT)
        lines.scale(min(1.0, 0.8 * self.area.width / lines.width, 0.75 * self.area.height / lines.height))
        lines.move_to(self.area.center)
        paper = RoundedRectangle(
            corner_radius=px(24),
            width=lines.width + px(140),
            height=lines.height + px(120),
            stroke_width=stroke_width(4),
            stroke_color=hexadecimal(theme.quiet),
            fill_color=hexadecimal(theme.panel),
            fill_opacity=1.0,
        ).move_to(lines)
        return paper, lines

    def bar(self, row: int, over: Mobject) -> VMobject:
        """A row as a bar in the hue of its SM, where its line stands in the file."""
        sm, sms = int(self.traces[0].spans["sm"][row]), self.traces[0].device.sms
        return rectangle(over.width, px(54), sm_colour(sm, sms)).move_to(over)

    def place(self, panel: RunPanel, row: int) -> VMobject:
        """The same in the lanes of its SM."""
        one, lanes = self.traces[0].spans[row], panel.lanes
        left, right = lanes.x(one["start"]), lanes.x(one["done"])
        lane = lanes.lane(int(one["sm"]))
        hue = sm_colour(int(one["sm"]), self.traces[0].device.sms)
        bar = rectangle(max(right - left, px(2)), lane.height, hue)
        return bar.move_to([(left + right) / 2, lane.get_y(), 0])

    def run_on(self, story: TraceStory, panel: RunPanel, until: float, *along: Animation) -> None:
        """The run, as far as `until`, at the pace of the whole; `along`: what is played as it begins."""
        share = (until - self.ticking.t) / story.trace.makespan
        if share <= 0:
            if along:
                self.play(*along)
            return
        if until == story.trace.makespan:
            self.say(tr("On to the end, {us:.1f} µs", us=until / 1000))
        seconds = max(1.0, round(2 * WHOLE * share) / 2)
        self.play(Run(self.ticking, panel, until=until, run_time=seconds), *along)

    def look_closely(self, story: TraceStory, panel: RunPanel) -> None:
        """One SM's lane comes forward; its longest pause passes slowly, under a bracket."""
        pause, (low, high) = story.pause, story.window
        lane = SmLane(story.trace, pause.sm, story.name, self.area.width, px(230), window=story.window)
        lane.move_to(self.area.center).show(self.ticking.t)
        whole = panel.lanes.lane(pause.sm)
        left, right = panel.lanes.x(low), panel.lanes.x(high)
        piece = rectangle(right - left, whole.height).move_to([(left + right) / 2, whole.get_y(), 0])
        self.say(words.said_of_pause(story))
        self.play(Leave(panel), Enlarge(lane, piece))
        below = 0 < pause.place == story.trace.device.ctas_per_sm - 1
        bracket = TimeBracket(lane.lane, pause.begin, pause.end, pause.sm, below=below, size=60)
        self.play(Run(self.ticking, lane, bracket, until=high, run_time=SLOW))
        alone = story.trace.device.ctas_per_sm == 1
        named = lane.names_of(pause.begin, pause.end) if alone else VGroup()
        self.play(Fade(named, 0.0, 1.0))
        self.wait(1.0)
        panel.show(high)
        self.hush()
        self.play(Leave(named), Leave(bracket))
        back = Enlarge(lane, piece, rate_func=lambda alpha: smoothstep(1 - alpha), run_time=BACK)
        self.add(panel).bring_to_front(lane)
        self.play(Fade(panel, 0.0, 1.0, BACK, rate_func=late), back)
        self.remove(lane)

    def add_up(self, story: TraceStory, panel: RunPanel) -> None:
        """What all slots' time went on, and what took the most of it."""
        self.say(words.bars_caption(story))
        self.wait(0.7)
        self.play(Leave(panel))
        bars = self.bars(story, story.bars).move_to(self.area.center)
        self.play(bars.grow())
        self.wait(0.6)
        two = [one for one in story.bars if one[0] in ("multiply", story.most)]
        self.finding(
            Finding(words.finding(story), words.number(story), self.bars(story, two), of_trace(story.trace))
        )

    def bars(self, story: TraceStory, rows: list[tuple[str, float]]) -> Bars:
        """Shares of the time, in percent."""
        kind = of_trace(story.trace).kind
        return Bars(
            [
                (words.name_of(story, cause), 100 * share, kind if cause == "multiply" else "quiet")
                for cause, share in rows
            ],
            width=self.area.width,
            size=54,
            form="{:.1f}%",
        )
