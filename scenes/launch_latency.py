"""Launch latency: what does a launch cost?

manim render scenes/launch_latency.py
"""

from collections.abc import Mapping
from typing import Any

from manim import DOWN, RIGHT, UP, FadeIn, FadeOut, VGroup, VMobject, smoothstep

from tilesim_scenes.animations.fade import Fade, Leave, late
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.report_film import ReportFilm
from tilesim_scenes.film.scene import CAMERA
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import LAUNCH, readable, sm_colour
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.models.pipelines.phase_rows import Bar, PhaseRows
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket, length
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.launch_latency import Pause, Story, tell

FILM = {
    "title": "Launch latency",
    "question": "What does a launch cost?",
    "part": "Schedules",
    "place": 160,
    "seconds": 44,
    "shows": "Four things that are called a launch, from the host's call to the next block on an SM.",
    "takes": "report",
}
ROW = 64
"""Pixels of a row, so that it still fits when the camera is near."""
NEAR = {"stream": 5, "graph": 6, "SM": 7}
"""How near the camera comes."""
AFTER = 0.6
"""Of a launch, for how long the rows go on after it."""
AROUND = 0.25
"""Of a pause, that is shown before and after it."""


class LaunchLatency(ReportFilm):
    """A host's call, two kernels of a stream, two of a graph, two thread blocks: launches on one H200."""

    bench = "launch_latency"

    @classmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Story:
        return tell(report)

    def construct(self) -> None:
        story = self.story
        self.rows = self.four_rows()
        self.add(self.rows)
        self.title(tr("Launch latency"))
        self.four_launches()
        self.come_near()
        if story.pause is not None:
            self.in_a_product(story.pause)
        self.call_by_call()
        self.tell_the_finding()

    def four_launches(self) -> None:
        """All four on one axis of time; what is launch is orange."""
        story, rows = self.story, self.rows
        self.say(tr("What does a launch cost?"))
        self.badge(Badge(tr("measured on {gpu}", gpu=story.gpu), "measured"))
        clock = self.clock(story.until)
        self.play(PlayTrace(rows, clock, until=story.host, run_time=2.4))
        self.say(tr("Four things bear its name"))
        self.play(PlayTrace(rows, clock, until=story.until, run_time=2.4))
        self.wait(0.4)
        self.play(Leave(clock))

    def come_near(self) -> None:
        """The camera falls from launch to launch, each smaller than the one before, and sees it happen."""
        story, rows, shown = self.story, self.rows, VGroup()
        for name, words in story.said.items():
            begin, end = story.gap(name)
            close, after = 1.0, 0.0
            self.say(words)
            if name in NEAR:
                close, after = 1 / NEAR[name], AFTER * (end - begin)
                back = PlayTrace(rows, until=begin, run_time=CAMERA, rate_func=smoothstep)
                self.dive(self.around(name, begin, end, close), room=1.0, along=[back])
            else:
                self.play(PlayTrace(rows, until=begin, run_time=0.8, rate_func=smoothstep))
            self.play(PlayTrace(rows, until=end + after, run_time=1.5))
            # A figure that ran with the clock would say what nobody measured.
            figure = self.figure_below(name, begin, end, close)
            self.play(FadeIn(figure), run_time=0.3)
            self.wait(0.7)
            shown.add(self.figure_beside(name, end - begin))
            self.play(FadeOut(figure), FadeIn(shown[-1]), run_time=0.3)
        self.come_out(along=[PlayTrace(rows, until=story.until, run_time=CAMERA, rate_func=smoothstep)])
        self.wait(1)
        self.leaving = [rows, shown]

    def in_a_product(self, pause: Pause) -> None:
        """A recorded pause between two tiles, and how little of it is launch."""
        begin, end = -AROUND * pause.length, (1 + AROUND) * pause.length
        drain, done, launched, start = (
            one - pause.drain for one in (pause.drain, pause.done, pause.launched, pause.start)
        )
        hue = sm_colour(0, 4)
        bars = [
            Bar("multiply", begin, drain),
            Bar("write", drain, done),
            Bar("multiply", done, launched, colour=LAUNCH),
            Bar("load", launched, start),
            Bar("multiply", start, end),
        ]
        row = PhaseRows({"SM": bars}, (begin, end), self.area.width - px(170), px(160))
        row.move_to(self.area.center).align_to([self.area.right, 0, 0], RIGHT)
        top = row.lane("SM").get_top()[1]
        names = VGroup(
            label(tr("write"), 46, bold=True).move_to([row.x((drain + done) / 2), top + px(50), 0]),
            label(tr("launch"), 46, readable(LAUNCH), bold=True).move_to(
                [row.x((done + launched) / 2), top + px(120), 0]
            ),
            label(tr("first load"), 46, readable(hue), bold=True).move_to(
                [row.x((launched + start) / 2), top + px(50), 0]
            ),
        )
        bracket = TimeBracket(row, 0, pause.length, below=True, size=60)
        self.say(self.story.in_a_pause)
        self.come(row)
        self.play(PlayTrace(row, bracket, until=end, run_time=2.4))
        self.play(FadeIn(names), run_time=0.3)
        self.wait(1.6)
        self.leaving = [names, row, bracket]

    def call_by_call(self) -> None:
        """Products that their caller calls one by one, and below them the same as one graph."""
        story, hue, area = self.story, self.theme.operand, self.area
        calls, graph = story.calls, story.at_once
        until = float(calls["end"].max())
        ran, nodes = (
            [Bar("multiply", low, high, colour=hue) for _, low, high in made.tolist()]
            for made in (calls, graph)
        )
        held = Bar("multiply", 0, int(calls["called"].max()), steps=len(calls), colour=LAUNCH)
        once = Bar("multiply", 0, story.replay, colour=LAUNCH)
        made = {tr("calls"): [held], "GPU": ran, tr("graph"): [once, *nodes]}
        inks = dict.fromkeys(made, self.theme.text)
        rows = PhaseRows(made, (0, until), area.width - px(250), px(110), px(80), inks)
        rows.move_to(area.center).align_to([area.right, 0, 0], RIGHT)
        self.badge(Badge(tr("model of measured times")))
        self.say(story.waits)
        self.come(rows)
        clock = self.clock(until)
        self.play(PlayTrace(rows, clock, until=until / 2, run_time=2.6))
        self.say(story.graph_words)
        self.play(PlayTrace(rows, clock, until=until, run_time=2.6))
        self.wait(0.3)

    def tell_the_finding(self) -> None:
        story = self.story
        badge = Badge(tr("measured on {gpu}", gpu=story.gpu), "measured")
        named = (tr("host’s call"), story.host), (tr("thread block"), story.block)
        rows = [(name, ns / 1000, "measured") for name, ns in named]
        bars = Bars(rows, "µs", self.area.width, form="{:.2f}")
        self.finding(Finding(story.finding, story.number, bars, badge, story.aside), [bars.grow()])

    def come(self, rows: PhaseRows) -> None:
        """Other rows come, still empty, while what was there leaves."""
        gone = map(Leave, self.leaving)
        self.play(*gone, *(Fade(one, 0, 1, 0.6, rate_func=late) for one in (rows.grounds, rows.names)))
        self.add(rows)

    # How it is laid out

    def four_rows(self) -> PhaseRows:
        """A row for each thing that is called a launch."""
        theme, hue, area = self.theme, sm_colour(0, 4), self.area
        rows = {}
        for name, parts in self.story.rows.items():
            inks = {"launch": LAUNCH, "work": hue if name == "SM" else theme.operand}
            rows[name] = [Bar("multiply", low, high, colour=inks[what]) for what, low, high in parts]
        # Calls follow one another without a pause, so ticks tell them apart.
        rows["host"] = [Bar("multiply", 0, rows["host"][-1].end, steps=len(rows["host"]), colour=LAUNCH)]
        pitch = 0.94 * area.height / len(rows)
        made = PhaseRows(
            rows, (0.0, self.story.until), area.width - px(230), px(ROW), pitch - px(ROW),
            dict.fromkeys(rows, hue) | dict.fromkeys(("host", "stream", "graph"), theme.text),
        )  # fmt: skip
        return made.move_to(area.center).align_to([area.right, 0, 0], RIGHT)

    def around(self, name: str, begin: float, end: float, close: float) -> VMobject:
        """What the camera looks at, with a launch of a row in its middle."""
        target = rectangle(close * self.area.width, close * self.area.height)
        lane = self.rows.lane(name)
        return target.move_to([(self.rows.x(begin) + self.rows.x(end)) / 2, lane.get_center()[1], 0])

    def figure_below(self, name: str, begin: float, end: float, close: float) -> VMobject:
        """A launch's length, below it, for a camera that shows a share `close` of the frame."""
        size, gap = (72, 44) if name in NEAR else (54, 8)
        figure = label(length(end - begin), size * close, readable(LAUNCH), bold=True, mono=True)
        figure.next_to(self.rows.lane(name), DOWN, px(gap * close))
        return figure.set_x((self.rows.x(begin) + self.rows.x(end)) / 2)

    def figure_beside(self, name: str, ns: int) -> VMobject:
        """A launch's length, above the right end of its row."""
        lane = self.rows.lane(name)
        return label(length(ns), 48, bold=True, mono=True).next_to(lane, UP, px(16)).align_to(lane, RIGHT)
