"""Warp specialization: must every warp of a kernel both load and multiply?"""

from collections.abc import Sequence

import numpy as np
from manim import DOWN, LEFT, UP, FadeIn, LaggedStart, Mobject, ReplacementTransform, Text, VGroup

from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.animations.unfold import Unfold
from tilesim_scenes.film.scene import Film
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.mobjects.charts.bar_groups import BarGroups
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.hardware.k_pair import KPair
from tilesim_scenes.mobjects.hardware.warp import Warp
from tilesim_scenes.mobjects.models.pipelines.async_pipeline import AsyncPipeline
from tilesim_scenes.mobjects.models.pipelines.phase_rows import PhaseRows, bars_of
from tilesim_scenes.mobjects.models.pipelines.riders import Riders
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.ladder_pairs import bar_groups
from tilesim_scenes.story.ideas.warp_specialization import CONSUMERS, Story, tell

FILM = {
    "title": "Warp specialization",
    "question": "Must every warp do everything?",
    "part": "Hiding waits",
    "place": 110,
    "seconds": 47,
    "shows": "One warp loads, eight multiply, with a ring of buffers and two barriers a stage between them.",
}
DOTS, LOADS = 8, 3
"""Threads of a warp that is drawn small, and pairs of K-chunks that are seen to come while all wait."""


class WarpSpecialization(Film):
    """Eight warps with one program against a producer and consumers, at 8192 × 8192 × 512 on an H200."""

    def construct(self) -> None:
        story = tell()
        self.title(tr("Warp specialization"))
        self.badge(Badge(tr("model, H200 costs")))
        self.compare(story, self.split(story, *self.one_program(story)))
        self.measured(story)

    def one_program(self, story: Story) -> tuple[Riders, Sequence[Mobject]]:
        """All warps alike: nobody loads during a write, so all wait after it."""
        made, wait = story.alike, story.wait
        first, (write, written) = made.consumers()[0], made.writes[["start", "end"]][0].tolist()
        rows = self.eight_rows(story)
        riders = Riders(rows, [Warp(DOTS, px(18)) for _ in range(CONSUMERS)])
        clock, (waits, multiplies, writes) = (
            self.clock(made.makespan),
            self.names(rows, first.end, write, written),
        )
        self.say(tr("Must every warp do everything?"))
        coming = (FadeIn(warp, shift=0.3 * DOWN) for warp in riders)
        self.play(Fade(rows.grounds, 0, 1), LaggedStart(*coming, lag_ratio=0.15, run_time=2.2))
        self.add(rows, riders)
        self.say(tr("One program for all: load, multiply, write"))
        loads = self.loads(rows, first.end, 1.3)
        self.play(PlayTrace(rows, riders, clock, until=first.end, run_time=1.3), loads, Fade(waits, 0, 1))
        self.remove(*loads.travellers)
        run = PlayTrace(rows, riders, clock, until=write, run_time=2)
        self.play(run, Leave(waits), Fade(multiplies, 0, 1))
        self.say(tr("While they write, nobody loads the next tile"))
        run = PlayTrace(rows, riders, clock, until=written, run_time=3.2)
        self.play(run, Leave(multiplies), Fade(writes, 0, 1))
        self.say(tr("So all {warps} wait, after every tile", warps=CONSUMERS))
        bracket = TimeBracket(rows, wait.start, wait.end, below=True, color=self.theme.wait_text)
        run, loads = (
            PlayTrace(rows, riders, clock, bracket, until=wait.end, run_time=1.5),
            self.loads(rows, wait.end, 1.5),
        )
        self.play(run, loads, Leave(writes))
        self.remove(*loads.travellers)
        self.play(PlayTrace(rows, riders, clock, until=made.makespan, run_time=1.6))
        self.say(tr("Split the roles: one warp loads, {warps} multiply", warps=CONSUMERS))
        return riders, (rows, bracket, clock)

    def eight_rows(self, story: Story) -> PhaseRows:
        """A row for each warp, with room for a name above them, for a bracket below, and for the warps."""
        tall = min(px(80), (self.area.height - px(150)) / (1.3 * CONSUMERS - 0.3))
        bars = bars_of(story.alike.consumers(), story.alike.k_steps)
        rows = PhaseRows(
            {str(number): bars for number in range(CONSUMERS)},
            width=self.area.width - px(200),
            row_height=tall,
            gap=0.3 * tall,
            names=False,
        )
        return rows.move_to(self.area.center + px(14) * UP).align_to([self.area.left, 0, 0], LEFT)

    def names(self, rows: PhaseRows, waited: float, write: float, written: float) -> list[Text]:
        """What the first wait, multiplication and write are called, over where they are drawn."""
        theme, top = self.theme, rows.get_top()[1] + px(16)
        middles = waited / 2, (waited + write) / 2, (write + written) / 2
        said = (tr("wait"), theme.wait_text), (tr("multiply"), rows.hues[0]), (tr("write"), theme.text)
        names = [
            label(text, 46, ink).next_to([rows.x(t), top, 0], UP, 0)
            for t, (text, ink) in zip(middles, said, strict=True)
        ]
        names[0].align_to(rows, LEFT)
        return names

    def loads(self, rows: PhaseRows, until: float, seconds: float) -> Travel:
        """Pairs of K-chunks fly in from the right until the rows' main loops begin."""
        wide, apart = px(130), 0.15 * seconds
        ground = rows.get_center()
        pairs = [
            KPair(rows.hues[0]).put([self.area.right - wide / 2, ground[1], 0], wide) for _ in range(LOADS)
        ]
        end = np.array([rows.x(until) + px(80), ground[1], 0])
        leg = seconds - apart * (LOADS - 1)
        return Travel(pairs, [[end]] * LOADS, [[0.6]] * LOADS, leg, apart, run_time=seconds)

    def split(self, story: Story, warps: Riders, gone: Sequence[Mobject]) -> AsyncPipeline:
        """The roles part: a producer, a ring of stages with barriers, consumers."""
        made, area = story.specialised, self.area
        starts, ends = made.writes[["start", "end"]][0].tolist()
        pipeline = AsyncPipeline(made, CONSUMERS, (area.width, area.height)).move_to(area.center)
        ninth = warps[-1].copy()
        self.play(
            ReplacementTransform(VGroup(*warps), pipeline.consumers[0]),
            ReplacementTransform(ninth, pipeline.producer),
            *(Leave(one) for one in gone),
            run_time=1.2,
        )
        clock = self.clock(made.makespan)
        rest = (part for part in pipeline if part not in (pipeline.consumers, pipeline.producer))
        self.play(Fade(VGroup(*rest), 0, 1))
        self.add(pipeline)
        self.play(PlayTrace(pipeline, clock, until=1400, run_time=2))
        self.say(tr("“Empty” lets a load in, “full” lets it out"))
        self.play(PlayTrace(pipeline, clock, until=2700, run_time=2.6))
        self.play(PlayTrace(pipeline, clock, until=starts, run_time=1))
        self.say(tr("While they write, the producer fills the stages"))
        self.play(PlayTrace(pipeline, clock, until=ends, run_time=3.2))
        self.say(tr("So the next tile begins at once"))
        self.play(PlayTrace(pipeline, clock, until=ends + 1800, run_time=2.8))
        self.say(tr("The wait after each write is gone"))
        self.play(Leave(clock))
        return pipeline

    def compare(self, story: Story, pipeline: AsyncPipeline) -> None:
        """Both on one axis of time, and what is saved."""
        alike, made = story.alike, story.specialised
        one, producer, consumers = tr("one program"), tr("producer"), tr("consumers")
        tall, width = min(px(140), self.area.height / 6), self.area.width - px(360)
        rows = PhaseRows(
            {
                one: bars_of(alike.consumers(), alike.k_steps),
                producer: bars_of(made.loads(), wait=""),
                consumers: bars_of(made.consumers(), made.k_steps),
            },
            width=width,
            row_height=tall,
            gap=0.4 * tall,
            spare=px(100),
        ).move_to(self.area.center)
        saved = TimeBracket(rows, made.makespan, alike.makespan, sm=consumers, text="−{length}", below=True)
        sources = (pipeline.consumers, pipeline.producer, pipeline.consumers)
        self.play(Unfold(rows.grounds, sources), Leave(pipeline))
        clock = self.clock(alike.makespan)
        self.play(Fade(rows.names, 0, 1))
        self.add(rows)
        self.play(PlayTrace(rows, clock, saved, until=alike.makespan, run_time=3.4))
        self.wait(0.6)
        self.say(tr("One program can load ahead, too"))
        self.play(*(Leave(one) for one in (rows, clock, saved)))

    def measured(self, story: Story) -> None:
        """What a producer is worth, and what does as well."""
        badge = Badge(tr("measured on {gpu}", gpu=story.gpu), "measured")
        look = {"width": self.area.width, "form": "{:.0f}"}
        groups = bar_groups((story.ahead_at_best, story.ahead[0]), tr("loads ahead"), tr("producer"))
        chart = BarGroups(groups, size=54, **look).move_to(self.area.center)
        self.badge(badge.copy())
        self.play(chart.grow(), Fade(chart.headings, 0, 1))
        self.wait(1)
        (bars,) = bar_groups([story.best], tr("one program"), tr("producer")).values()
        card = Bars(bars, "TFLOP/s", **look)
        sizes, ahead = story.best.sizes, story.ahead_at_best.before.tflops
        aside = tr("{sizes}, one stage more; loading ahead alone: {ahead:.0f}", sizes=sizes, ahead=ahead)
        sentence = tr("Keep loading during a write")
        self.finding(Finding(sentence, f"×{story.best.gain:.2f}", card, badge, aside), [card.grow()])
