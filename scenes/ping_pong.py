"""Ping-pong: what can the tensor cores multiply while a tile is written?"""

from collections.abc import Mapping, Sequence

from manim import UP, FadeIn

from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.unfold import Unfold
from tilesim_scenes.film.scene import Film
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import Colour, shades, sm_colour
from tilesim_scenes.mobjects.charts.bar_groups import BarGroups
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.models.pipelines.async_pipeline import AsyncPipeline
from tilesim_scenes.mobjects.models.pipelines.phase_rows import Bar, PhaseRows, bars_of
from tilesim_scenes.mobjects.models.pipelines.turn import Turn
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.ladder_pairs import bar_groups
from tilesim_scenes.story.ideas.ping_pong import Story, tell

FILM = {
    "title": "Ping-pong",
    "question": "What multiplies while a tile is written?",
    "part": "Hiding waits",
    "place": 120,
    "seconds": 45,
    "shows": "Two groups of consumers take turns, so that tensor cores multiply during a write.",
}
WARPS = 4
"""Of a group: a warpgroup, which is what issues wgmma."""


class PingPong(Film):
    """One group of consumers against two that take turns, at 8192 × 8192 × 512 on an H200."""

    def construct(self) -> None:
        story = tell()
        self.title(tr("Ping-pong"))
        self.badge(Badge(tr("model, H200 costs")))
        pipeline = self.two_groups(story, self.one_group(story))
        self.in_turns(story, pipeline)
        self.measured(story)

    @property
    def hues(self) -> tuple[Colour, Colour]:
        """Ping's and pong's: the SM's, light and deep."""
        return shades(sm_colour(0, 4))

    def one_group(self, story: Story) -> PhaseRows:
        """The producer goes on during a write; the tensor cores do not."""
        made, pause = story.cooperative, story.pause
        producer, consumers, cores = tr("producer"), tr("consumers"), tr("tensor cores")
        busy = [bar for bar in bars_of(made.consumers(), made.k_steps) if bar.kind == "multiply"]
        idle = [Bar("pause", *phase[1:3]) for phase in made.pauses()]
        rows = self.lanes(
            {
                producer: bars_of(made.loads(), wait=""),
                consumers: bars_of(made.consumers(), made.k_steps),
                cores: [bar._replace(text="") for bar in busy] + idle,
            },
            made.makespan,
        )
        clock = self.clock(made.makespan)
        bracket = TimeBracket(rows, pause.start, pause.end, sm=cores, below=True, color=self.theme.wait_text)
        self.say(tr("What multiplies while a tile is written?"))
        self.play(FadeIn(rows, shift=0.3 * UP, run_time=0.6))
        self.play(PlayTrace(rows, clock, until=pause.start, run_time=3))
        self.say(tr("Nothing: the tensor cores pause"))
        self.play(PlayTrace(rows, clock, bracket, until=pause.end, run_time=2.5))
        percent, k = 100 * story.write_shares[0], story.best.shape[2]
        self.say(tr("{percent:.0f}% of every tile’s time, at K = {k}", percent=percent, k=k))
        self.play(PlayTrace(rows, clock, until=made.makespan, run_time=3.4))
        self.say(tr("Two groups of four warps, half a tile each"))
        self.play(*(Leave(one) for one in (rows.bars, rows.names, bracket, clock)))
        return rows

    def two_groups(self, story: Story, rows: PhaseRows) -> AsyncPipeline:
        """The consumers part into two groups, each with a tile of its own."""
        made, area = story.ping_pong, self.area
        pipeline = AsyncPipeline(made, WARPS, (area.width, area.height), self.hues, aspect=1.0)
        pipeline.move_to(area.center)
        first, second = made.writes["start"][:2].tolist()
        roles = (pipeline.producer, pipeline.consumers, pipeline.accumulators)
        self.play(Unfold(rows.grounds, roles, back=True))
        self.remove(*rows.grounds)
        clock = self.clock(made.makespan)
        self.add(*roles)
        self.play(*(Fade(part, 0, 1) for part in pipeline if part not in roles))
        self.add(pipeline)
        self.play(PlayTrace(pipeline, clock, until=first - 400, run_time=3))
        self.say(tr("One writes, and the turn passes to the other"))
        self.play(PlayTrace(pipeline, clock, until=first + 1400, run_time=3.2))
        self.play(PlayTrace(pipeline, clock, until=second + 1400, run_time=2))
        self.say(tr("One group multiplies while the other writes"))
        self.play(Leave(clock))
        return pipeline

    def in_turns(self, story: Story, pipeline: AsyncPipeline) -> None:
        """Both groups and the tensor cores on one axis of time, beside the tensor cores of one group."""
        made, one = story.ping_pong, story.cooperative
        ping, pong, cores = tr("ping"), tr("pong"), tr("tensor cores")
        turns = [bars_of(made.consumers(group), made.k_steps, wait="") for group in range(made.groups)]
        both = [
            bar._replace(colour=hue)
            for group, hue in zip(turns, self.hues, strict=True)
            for bar in group
            if bar.kind == "multiply"
        ]
        rows = self.lanes(
            {ping: turns[0], pong: turns[1], cores: both},
            one.makespan,
            dict(zip((ping, pong), self.hues, strict=True)),
        )
        turn = Turn(rows, (ping, pong), made)
        sources = (*pipeline.consumers, pipeline.accumulators)
        self.play(Unfold(rows.grounds, sources), Leave(pipeline))
        clock = self.clock(one.makespan)
        self.play(Fade(rows.names, 0, 1), Fade(turn, 0, 1))
        self.add(rows, turn)
        self.play(PlayTrace(rows, turn, clock, until=made.makespan, run_time=4.5))
        self.say(tr("The tensor cores never pause"))
        saved = TimeBracket(rows, made.makespan, one.makespan, sm=cores, text="−{length}", below=True)
        self.play(PlayTrace(rows, turn, clock, saved, until=one.makespan, run_time=2))
        self.say(tr("Taking turns pays at short K"))
        self.play(*(Leave(one) for one in (rows, turn, clock, saved)))

    def measured(self, story: Story) -> None:
        """Where taking turns pays, and where it costs."""
        best, worst, names = story.best, story.worst, (tr("cooperative"), tr("ping-pong"))
        badge = Badge(tr("measured on {gpu}", gpu=story.gpu), "measured")
        look = {"width": self.area.width, "form": "{:.0f}"}
        chart = BarGroups(bar_groups((best, worst), *names), size=54, **look).move_to(self.area.center)
        self.badge(badge.copy())
        self.play(chart.grow(0, 1, run_time=2), Fade(chart.headings[0], 0, 1))
        self.say(tr("At long K it loses: the clock falls {percent:.0f}%", percent=100 * story.clock_falls))
        self.play(chart.grow(2, 3, run_time=3), Fade(chart.headings[1], 0, 1))
        (bars,) = bar_groups([best], *names).values()
        card = Bars(bars, "TFLOP/s", **look)
        aside = tr(
            "{sizes}, {percent:.0f}% writes: {before:.0f} to {after:.0f}",
            sizes=worst.sizes,
            percent=100 * story.write_shares[-1],
            before=worst.before.tflops,
            after=worst.after.tflops,
        )
        sentence = tr("Taking turns pays at K = {k}", k=best.shape[2])
        self.finding(Finding(sentence, f"×{best.gain:.2f}", card, badge, aside), [card.grow()])

    def lanes(
        self, rows: Mapping[str, Sequence[Bar]], end: float, colours: Mapping[str, Colour] | None = None
    ) -> PhaseRows:
        """Rows of a model in the middle of the picture, up to `end`, ns."""
        tall = min(px(150), self.area.height / 6)
        width, spare = self.area.width - px(360), px(100)
        made = PhaseRows(rows, (0, end), width, tall, 0.4 * tall, colours, spare=spare)
        return made.move_to(self.area.center)
