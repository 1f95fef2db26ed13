"""Pipelining: can a kernel load operands while it multiplies others, and how far ahead?

manim render scenes/pipelining.py
"""

from collections.abc import Mapping
from typing import Any

from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    FadeIn,
    FadeOut,
    GrowFromEdge,
    ManimColor,
    ReplacementTransform,
    Transform,
    VGroup,
    rush_into,
)

from tilesim_scenes.animations.fade import Fade
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.report_film import ReportFilm
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import sm_colour
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width
from tilesim_scenes.mobjects.hardware.buffer import Buffers
from tilesim_scenes.mobjects.hardware.k_pair import KPair
from tilesim_scenes.mobjects.models.pipelines.pipeline_rows import PipelineRows
from tilesim_scenes.mobjects.models.pipelines.pipelined_sm import PipelinedSM
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.story.ideas.pipelining import Story, tell

FILM = {
    "title": "Pipelining",
    "question": "Can a kernel load operands while it multiplies others?",
    "part": "Hiding waits",
    "place": 100,
    "seconds": 39,
    "shows": "Loads that run ahead of the multiplication, through one to four buffers.",
    "takes": "report",
}
LANE = 0.16
"""Of the picture's height, where all stages are compared."""


class Pipelining(ReportFilm):
    """Can loads run ahead of the multiplication?"""

    bench = "pipelining"

    @classmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Story:
        return tell(report)

    def construct(self) -> None:
        self.until = max(one.makespan for one in self.story.pipelines.values())
        self.title(tr("Pipelining"))
        self.load_then_multiply()
        self.wait_for_every_load()
        self.load_while_multiplying()
        self.compare_stages()
        self.fill_shared_memory()
        self.tell_the_finding()

    def load_then_multiply(self) -> None:
        """One K-step: its pair flies into the only buffer, and from there to the tensor core."""
        self.badge(Badge(tr("model, measured times")))
        self.instant = self.clock(self.until)
        self.sm, self.rows = self.machine(1), self.lane(1)
        self.names = self.names_of(self.rows)
        self.say(self.story.opening)
        self.play(FadeIn(self.sm, self.names), run_time=0.5)
        self.add(self.rows)
        self.play(PlayTrace(self.sm, self.rows, self.instant, until=self.story.steady(1), run_time=3.8))

    def wait_for_every_load(self) -> None:
        """More K-steps: before each multiplication lies a load, in which nothing multiplies."""
        story = self.story
        self.say(story.one_buffer)
        self.play(
            PlayTrace(self.sm, self.rows, self.instant, until=self.until, run_time=5),
            Fade(self.sm.words, 1, 0),
        )
        bubble = label(tr("bubble"), 48, self.theme.wait_text, bold=True)
        bubble.next_to(self.rows.bubbles[1], DOWN, px(16))
        busy = self.busy_of(1)
        self.play(FadeIn(bubble, busy), run_time=0.3)
        self.wait(1.2)
        self.play(FadeOut(bubble, busy), run_time=0.3)

    def load_while_multiplying(self) -> None:
        """The buffer splits in two; the next pair comes while one is multiplied. The first lane stays."""
        story, machine = self.story, self.machine(2)
        end = story.pipelines[2].makespan
        machine.words.set_opacity(0)
        self.before = PipelineRows(story.pipelines[1], self.until, self.rows.width, 0.5 * self.rows.height)
        self.before.next_to(self.rows, DOWN, px(24)).show(self.until)
        name = label(story.stages(1), 44, self.theme.quiet).next_to(self.before, LEFT, px(20))
        self.say(story.two_buffers)
        self.play(
            Transform(self.sm.buffers, machine.buffers),
            ReplacementTransform(self.rows, self.before),
            PlayTrace(self.instant, until=0),
            run_time=0.8,
        )
        self.remove(self.sm)
        self.sm, self.rows = machine, self.lane(2)
        self.add(self.sm, self.rows)
        self.play(
            PlayTrace(self.sm, self.rows, self.instant, until=end, run_time=4.5),
            Fade(self.before, 1, 0.35),
            FadeIn(name),
        )
        busy = self.busy_of(2)
        self.play(FadeIn(busy), run_time=0.3)
        self.wait(1)
        self.play(FadeOut(busy, name, self.sm, self.names), run_time=0.3)

    def compare_stages(self) -> None:
        """1 to 4 stages on one clock."""
        story, area = self.story, self.area
        lanes, names, shares = [], VGroup(), VGroup()
        height = LANE * area.height
        for row, stages in enumerate(story.pipelines):
            lane = PipelineRows(story.pipelines[stages], self.until, area.width - px(440), height)
            middle = area.top - (row + 0.54) * area.height / len(story.pipelines)
            lane.move_to([area.right - px(190), middle, 0], RIGHT)
            name = label(story.stages(stages), 46, bold=True).next_to(lane, LEFT, px(28))
            share = label(f"{story.pipelines[stages].busy:.0%}", 56, bold=True).next_to(lane, RIGHT, px(24))
            lanes.append(lane)
            names.add(name)
            shares.add(share)
        self.say(story.more_stages)
        one, two = lanes[0].show(self.until), lanes[1].show(self.rows.t)
        self.play(
            ReplacementTransform(self.before, one),
            ReplacementTransform(self.rows, two),
            FadeIn(names),
            run_time=0.8,
        )
        self.play(PlayTrace(one, until=0, run_time=0.6), PlayTrace(two, self.instant, until=0, run_time=0.6))
        self.add(*lanes)
        self.play(PlayTrace(self.instant, *lanes, until=self.until, run_time=4.5))
        busy = label(tr("busy"), 44, self.theme.quiet).next_to(shares, UP, px(16))
        self.play(FadeIn(shares, busy), run_time=0.3)
        self.wait(1.2)
        self.play(FadeOut(*lanes, names, shares, busy), Fade(self.instant, 1, 0), run_time=0.3)

    def fill_shared_memory(self) -> None:
        """Four stages click in; a fifth finds no room and bounces off."""
        story, area, colour = self.story, self.area, sm_colour(0, 4)
        self.badge(Badge(tr("model")))
        scale = area.width / story.shared_kb
        height = min(0.3 * area.height, 0.8 * scale * story.stage_kb)
        memory = rectangle(area.width, height + px(32), self.theme.idle)
        memory.move_to(area.center + 0.06 * area.height * UP)
        name = label(tr("shared memory of a thread block: {kb} KB", kb=story.shared_kb), 48, self.theme.quiet)
        name.next_to(memory, UP, px(28))
        self.say(story.room)
        self.play(GrowFromEdge(memory, LEFT), FadeIn(name), run_time=0.6)
        # The fifth stays below what is written under the others.
        below = max(area.bottom + height / 2, memory.get_bottom()[1] - px(96) - height / 2)
        for number in range(story.fit + 1):
            fits = number < story.fit
            slot = Buffers(1, scale * story.stage_kb - px(8), height, colour=colour)[0]
            if not fits:
                slot.set_stroke(ManimColor(self.theme.wait_text), stroke_width(8))
            pair = KPair(colour).scale(0.75 * slot.width)
            stage = VGroup(slot, pair)
            place = memory.get_left() + scale * story.stage_kb * (number + 0.5) * RIGHT
            stage.move_to([min(place[0], area.right - slot.width / 2), below, 0])
            self.play(FadeIn(stage), run_time=0.3)
            filled = label(f"{(number + 1) * story.stage_kb}", 48, bold=True)
            if fits:
                self.play(stage.animate(rate_func=rush_into).move_to(place), run_time=0.4)
                self.add(filled.next_to(stage, DOWN, px(28)))
            else:
                at = memory.get_bottom()[1] - slot.height / 2
                self.play(stage.animate(rate_func=rush_into).set_y(at), run_time=0.3)
                filled.set_color(ManimColor(self.theme.wait_text)).next_to(stage, LEFT, px(28)).set_y(below)
                self.play(stage.animate.set_y(below), FadeIn(filled), run_time=0.4)
        self.wait(1)

    def tell_the_finding(self) -> None:
        story = self.story
        badge = Badge(tr("measured on {gpu}", gpu=story.gpu), "measured")
        rows = [(story.stages(n), story.tflops[n], "measured") for n in (1, story.enough)]
        bars = Bars(rows, "TFLOP/s", self.area.width, form="{:.0f}")
        self.finding(Finding(story.finding, story.number, bars, badge, story.aside), [bars.grow()])

    # How it is laid out

    def machine(self, stages: int) -> PipelinedSM:
        """The SM, in the upper half."""
        area = self.area
        sm = PipelinedSM(self.story.pipelines[stages], area.width, min(0.48 * area.height, 0.4 * area.width))
        return sm.move_to([area.center[0], area.top - 0.24 * area.height, 0])

    def lane(self, stages: int) -> PipelineRows:
        """Loads and multiplications over time, in the lower half."""
        area, height = self.area, min(0.23 * self.area.height, px(260))
        rows = PipelineRows(self.story.pipelines[stages], self.until, area.width - px(240), height)
        return rows.move_to([area.right - rows.width / 2, area.bottom + 0.375 * area.height, 0])

    def names_of(self, rows: PipelineRows) -> VGroup:
        """What the rows show, on their left."""
        words = ((tr("load"), False), (tr("multiply"), True))
        return VGroup(
            *(
                label(word, 44, bold=True).next_to(rows.band(multiply), LEFT, px(20))
                for word, multiply in words
            )
        )

    def busy_of(self, stages: int) -> VGroup:
        """The tensor core's busy share, after the rows' end, or below where they fill the width."""
        rows, words = self.rows, label(self.story.busy_share(stages), 52, bold=True)
        room = 0.9 * (rows.ground.get_right()[0] - rows.x(rows.t))
        if room < px(1):
            return words.next_to(rows.ground, DOWN, px(24)).align_to(rows.ground, RIGHT)
        return words.scale(min(1, room / words.width)).move_to(rows.band(True)).align_to(rows.ground, RIGHT)
