"""Divergence: what does it cost if threads take different branches?

manim render scenes/divergence.py

A warp whose threads need four cases runs all four, one after another. Measured for one warp; four warps show
that none of them needs more than one case once the items are sorted.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from manim import DOWN, LEFT, PI, RIGHT, UP, Animation, Create, LaggedStart, Line, ManimColor, Mobject, VGroup

from tilesim.ladder.reports import row
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import ink_on, mixed
from tilesim_scenes.mobjects.drawing.quads import bracket, disc, edged, rectangle, rounded, stroke_width
from tilesim_scenes.mobjects.models.warp_lanes import WarpLanes
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.count import Count
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Divergence",
    "question": "What does it cost if threads take different branches?",
    "finding": (
        "On an H200, a warp takes 3.9 times as long if its threads need four different cases. "
        "Sorting the items avoids that."
    ),
    "part": "How the machine works",
    "place": 30,
    "seconds": 80,
    "shows": "A warp whose threads need four cases of a branch, and four warps whose items are sorted.",
    "takes": "report",
}

CASES = "ABCD"
DOES = ("x = x + a", "x = x - a", "x = x * a", "x = x * a + a")
"""What each case repeats."""
THREADS, SHOWN, PLACES = 32, 4, 8
"""Threads in a warp; warps whose items are sorted, and how many threads are drawn of each."""


class Divergence(Lesson):
    """One warp alone, then four warps."""

    def prepare(self) -> None:
        measured = self.report("divergence")
        four, one = (row(measured, code="branch", split="lanes", warps=1, ways=ways) for ways in (4, 1))
        mixed_up, in_order, alike = (
            row(measured, code="branch", split=split, warps=THREADS, ways=ways)
            for split, ways in (("lanes", 4), ("warps", 4), ("warps", 1))
        )
        self.gpu, self.length = measured["machine"]["gpu"], four["length"]
        self.four, self.one = four["cycles"], one["cycles"]
        self.spans = {
            ways: np.array(row({"rows": measured["spans"]}, ways=ways)["spans"], float) for ways in (1, 4)
        }
        spans = self.spans[4]
        self.guard(four["joined"] == one["joined"] == 1, "threads continue together behind the branch")
        self.guard(bool((spans[1:, 0] >= spans[:-1, 1]).all()), "a warp runs one case after another")
        lengths = np.diff(spans, axis=1)
        self.guard(bool(np.ptp(lengths) < 0.05 * lengths.mean()), "each case takes about as long")
        self.times = self.four / self.one
        self.guard(3.5 < self.times < 4, "four cases take almost four times as long as one")
        together = round(mixed_up["cycles"] / in_order["cycles"], 1)
        self.guard(round(self.times, 1) == together, "32 warps lose as much as one warp does")
        self.guard(in_order["cycles"] < 1.05 * alike["cycles"], "sorted cases cost no more than one case")

    def construct(self) -> None:
        self.pale = mixed(self.theme.background, self.hue, 0.14)
        self.ask("On a GPU, thousands of threads run the same program, each on its own piece of the data.")
        self.items()
        self.a_warp()
        self.one_instruction()
        self.four_instructions()
        self.case_after_case()
        self.one_case()
        self.many_warps()
        self.sort_items()
        self.close(
            "On an H200, a warp takes {times:.1f} times as long if its threads need four different cases. "
            "Sorting the items avoids that.",
            [(tr("items mixed"), self.four), (tr("items sorted"), self.one)],
            "times",
            "{:,.0f} cycles",
            self.measured(),
            self.tr("one warp by itself; 32 warps take {times:.1f} times as long, too; sorting is not timed"),
        )

    # The program, and the warp that runs it.

    def items(self) -> None:
        """The program with its four cases, and 32 items, each of one of four kinds."""
        area = self.area
        step = area.width / (THREADS + 1.5)
        self.dots = VGroup(*(self.dot(CASES[n % 4], step) for n in range(THREADS)))
        self.squares = VGroup()
        for number, dot in enumerate(self.dots):
            dot.move_to([(number - (THREADS - 1) / 2) * step, area.bottom + px(110), 0])
            self.squares.add(rectangle(0.86 * step, 0.86 * step, self.theme.hand_over).move_to(dot))
        cases = (
            label(f'case "{case}": {does}', 60, mono=True) for case, does in zip(CASES, DOES, strict=True)
        )
        code = VGroup(label("match item.kind:", 60, mono=True), *cases)
        code.arrange(DOWN, buff=px(26), aligned_edge=LEFT)
        code[1:].shift(px(120) * RIGHT)
        each = self.word("each line {length:,} times", 50, self.theme.text)
        each.next_to(code[1:], DOWN if self.narrow else RIGHT, px(70))
        self.code = fit(VGroup(code, each), area.width, area.top - self.squares.get_top()[1] - px(140))
        self.code.move_to([0, (area.top + self.squares.get_top()[1] + px(110)) / 2, 0])
        self.letters = VGroup(*(dot[1] for dot in self.dots))
        self.items_name = self.word("32 items, each of kind A, B, C or D", 46, self.theme.text)
        self.items_name.next_to(self.squares, UP, px(30))
        self.badge(Badge(tr("schematic"), "model"))
        self.say("This program branches into four cases, one for each kind of item.")
        self.play(FadeIn(code, lag_ratio=0.1, run_time=1.2), FadeIn(each))
        all_items = VGroup(self.squares, self.letters)
        self.play(FadeIn(self.items_name), FadeIn(all_items, lag_ratio=0.02, run_time=1.8))

    def dot(self, case: str, step: float) -> VGroup:
        """A thread with the letter of its case."""
        size = max(24, min(34, 0.62 * step / px(1)))
        return VGroup(disc(0.42 * step, self.hue), label(case, size, ink_on(self.hue), bold=True))

    def capsule(self, dots: Mobject, step: float) -> Mobject:
        """What makes threads a warp."""
        wide, tall = dots.width + 0.6 * step, 1.5 * step
        return rounded(wide, tall, tall / 2, self.hue, 4, self.pale).move_to(dots)

    def a_warp(self) -> None:
        """Squares become dots, and a capsule closes around them."""
        step = self.area.width / (THREADS + 1.5)
        pill = self.capsule(self.dots, step)
        self.warp_name = self.bold("one warp: 32 threads", 50).next_to(pill, UP, px(30))
        circles = VGroup(*(dot[0] for dot in self.dots))
        self.say("Each item gets a thread. A group of 32 threads is called a warp.")
        self.remove(*self.letters)
        self.add(self.squares, circles, self.letters)
        self.play(FadeOut(self.squares), Fade(circles, 0.0, 1.0), Leave(self.items_name), run_time=1.2)
        self.remove(circles, self.letters)
        self.warp = VGroup(pill, self.dots)
        self.add(pill, self.dots)
        self.play(Fade(pill, 0.0, 1.0, run_time=1.0), FadeIn(self.warp_name))

    def instruction(self, text: str, x: float, room: float) -> VGroup:
        """A box above the warp, at most `room` units wide."""
        words = label(text, 44, mono=True, bold=True)
        one = VGroup(rounded(words.width + px(50), px(110), px(14), self.theme.text, 3), words)
        return fit(one, room).move_to([x, self.area.top - px(130), 0])

    def fan(self, box: Mobject, threads: Sequence[int]) -> VGroup:
        """Lines from an instruction to threads that carry it out."""
        look = {"buff": px(10), "stroke_color": ManimColor(self.hue), "stroke_width": stroke_width(2.5)}
        return VGroup(*(Line(box.get_bottom(), self.dots[n].get_top(), **look) for n in threads))

    def one_instruction(self) -> None:
        """One instruction for all 32 threads."""
        box = self.instruction(DOES[0], 0.0, self.area.width)
        name = self.word("one instruction", 44).next_to(box, UP, px(16))
        lines_to = self.fan(box, range(THREADS))
        self.say("A warp runs one instruction at a time, for all of its threads together.")
        # Here it does not matter which kinds the items are. From 0, letters could not come back.
        self.play(Leave(self.code), Leave(self.warp_name), Fade(self.letters, 1.0, 0.01), FadeIn(box, name))
        self.play(LaggedStart(*map(Create, lines_to), lag_ratio=0.03, run_time=2.0))
        self.leave(box, name, lines_to)

    def four_instructions(self) -> None:
        """Each case asks for its threads; only the first one gets them."""
        wide = self.area.width / 4
        boxes = VGroup(
            *(self.instruction(does, (n - 1.5) * wide, 0.95 * wide) for n, does in enumerate(DOES))
        )
        names = VGroup(*(self.word("case {case}", 44, case=c) for c in CASES))
        for box, name in zip(boxes, names, strict=True):
            name.next_to(box, UP, px(16))
        self.say("But these threads need four different instructions. This is called divergence.")
        self.play(FadeIn(boxes, names, lag_ratio=0.2, run_time=1.0), Fade(self.letters, 0.01, 1.0))
        fans = [self.fan(box, range(n, THREADS, 4)) for n, box in enumerate(boxes)]
        before: Sequence[Animation] = ()
        for fan in fans:
            self.play(LaggedStart(*map(Create, fan), lag_ratio=0.05, run_time=1.15), *before)
            before = (Leave(fan),)
        waiting = VGroup(*(dot for n, dot in enumerate(self.dots) if n % 4))
        self.say("The warp runs case A first, while the other threads wait.")
        dim = (Fade(one, 1.0, 0.35, run_time=0.6) for one in (*boxes[1:], *names[1:], waiting))
        self.play(*dim, *before)
        self.play(LaggedStart(*map(Create, fans[0]), lag_ratio=0.05, run_time=0.8))
        self.let_read()
        self.play(*map(Leave, (boxes, names, fans[0])), Fade(waiting, 0.35, 1.0))

    # One warp, measured.

    def lanes(self, ways: int, top: float, high: float) -> WarpLanes:
        """The rows of a run with so many cases, each with the way to it; threads of a case together."""
        masks = np.repeat(np.eye(ways, dtype=bool), THREADS // ways, axis=1)
        ends = [0.0, *self.spans[ways][:-1, 1], self.four if ways == 4 else self.one]
        lanes = WarpLanes(masks, np.array([*pairwise(ends)]), self.four, self.area.width - px(20), high)
        return lanes.shift([self.area.left - lanes.ground.get_left()[0], top - lanes.ground.get_top()[1], 0])

    def case_after_case(self) -> None:
        """The warp turns upright and leaves a row for each thread."""
        area = self.area
        works, waits = Entry(tr("thread works"), [self.hue]), Entry(tr("thread waits"), [self.theme.quiet])
        key = self.key(works, waits)
        self.first = self.lanes(4, area.top - px(70), area.top - self.floor - px(160))
        axis = self.word(
            "32 threads, one row each, ordered by case; time in cycles of the GPU’s clock →",
            38,
            self.theme.text,
        )
        self.axis = axis.next_to(self.first.ground, DOWN, px(20), aligned_edge=LEFT)
        self.counter = Count(lambda t: tr("{cycles:,.0f} cycles", cycles=t), size=48)
        self.counter.shift([area.left, area.top + px(50), 0])
        self.badge(self.measured())
        self.say("Then come B, C and D. At any moment, only 8 of the 32 threads work.")
        upright = self.first.warp
        self.play(*(Fade(letter, 1.0, 0.0) for _, letter in self.dots))
        scale = upright.height / self.warp[0].width
        self.play(self.warp.animate.rotate(-PI / 2).scale(scale).move_to(upright), *key, FadeIn(axis))
        self.remove(self.warp)
        self.add(self.first, self.counter)
        self.names = VGroup()
        for case, (begin, end) in zip(CASES, self.first.spans.tolist(), strict=True):
            name = self.bold("case {case}", 44, case=case)
            name.next_to(self.first.at((begin + end) / 2, 1.0), UP, px(14))
            self.names.add(name)
            self.play(PlayTrace(self.first, self.counter, until=end, run_time=1.2), FadeIn(name))

    def length_of(self, lanes: WarpLanes, until: float) -> VGroup:
        """A run's whole time, below it."""
        left, right = (lanes.at(t, 0.0) + px(22) * DOWN for t in (0, until))
        line = bracket(left[0], right[0], left[1], self.theme.text)
        figure = self.bold("{cycles:,.0f} cycles", 52, cycles=until).next_to(line, DOWN, px(12))
        return VGroup(line, figure.shift(max(0.0, self.area.left - figure.get_left()[0]) * RIGHT))

    def one_case(self) -> None:
        """The same work where all threads agree, on the same scale."""
        leaving = self.first.warp
        leaving.dots.set_fill(ManimColor(self.hue))
        self.first.remove(leaving)
        self.add(leaving)
        self.say("Together, the four cases take {four:,.0f} clock cycles.")
        self.play(FadeOut(leaving, shift=px(100) * RIGHT), Leave(self.axis), run_time=0.5)
        # Both runs as high, with a name above each and its time below.
        squeezed = min(self.first.height, (self.area.top - self.floor - px(350)) / 2)
        self.play(self.first.animate.stretch_to_fit_height(squeezed).align_to(self.first, UP), run_time=0.8)
        whole = self.length_of(self.first, self.four)
        top = whole.get_bottom()[1] - px(80)
        second = self.lanes(1, top, self.first.ground.height)
        name = self.bold("all 32 threads need case A", 44)
        name.next_to(second.ground, UP, px(14), aligned_edge=LEFT)
        self.play(FadeIn(whole), Leave(self.counter), run_time=0.5)
        self.say(
            "If all {threads} threads need case A, the warp needs only {one:,.0f} cycles.", threads=THREADS
        )
        self.play(FadeIn(second, name, run_time=0.3))
        self.play(PlayTrace(second, until=self.one, run_time=1.2))
        short = self.length_of(second, self.one)
        second.remove(second.warp)
        self.play(FadeIn(short), run_time=0.4)
        left = max(short.get_right()[0], name.get_right()[0]) + px(40)
        room = self.area.right - left
        times = lines(self.tr("{times:.1f} times as long"), 90, room, bold=True)
        fit(times, np.inf, whole.get_bottom()[1] - short.get_bottom()[1] - px(24))
        times.move_to([left + room / 2, (name.get_top()[1] + short.get_bottom()[1]) / 2, 0])
        self.say("Four cases take almost four times as long, because the warp runs them one after another.")
        self.play(FadeIn(times), run_time=0.6)
        self.let_read()
        gone = (self.first, second, name, self.names, whole, short, times)
        self.play(*self.key(), *map(Leave, gone))

    # Four warps, before and after sorting.

    def many_warps(self) -> None:
        """Four warps, with eight of their threads, and the cases that each of them runs."""
        area = self.area
        wide = area.width * 0.4
        heads, foot = px(130 if self.narrow else 70), px(160)
        high = (area.height - heads - foot) / SHOWN
        step = min(wide / (PLACES + 2), 0.56 * high)
        self.groups, self.pills, self.to_run = VGroup(), VGroup(), VGroup()
        fill = mixed(self.theme.background, self.hue, 0.25)
        left = area.left + wide + px(60)
        room = area.right - left - px(24)
        for warp in range(SHOWN):
            y = area.top - heads - (warp + 0.5) * high
            dots = VGroup(*(self.dot(CASES[n % 4], step) for n in range(PLACES)))
            dots.arrange(RIGHT, buff=0.16 * step).move_to([area.left + wide / 2, y, 0])
            self.groups.add(dots)
            more = label("…", 46).next_to(dots, RIGHT, 0.3 * step)
            self.pills.add(VGroup(self.capsule(VGroup(dots, more), step), more))
            parts = VGroup()
            for case in CASES:
                part = edged(rectangle(room / 4 - px(8), 0.52 * high, fill), self.hue, 3)
                name = self.word("case {case}", 38, self.theme.text, case=case)
                parts.add(VGroup(part, fit(name, 0.9 * part.width)))
            parts.arrange(RIGHT, buff=px(8)).move_to([left, y, 0], LEFT)
            self.to_run.add(parts)
        self.heads = VGroup()
        for text, begin, size in (
            (tr("four warps of 32 threads"), area.left, wide),
            (tr("what each warp has to run"), left, room),
        ):
            head = lines(text, 38, size, color=self.theme.text)
            self.heads.add(head.move_to([begin + size / 2, area.top - heads / 2, 0]))
        self.total_mixed = self.total(tr("one warp, items mixed"), self.four)
        self.say("A GPU runs many such warps, and each of them has to run all four cases.")
        self.play(FadeIn(self.heads), FadeIn(VGroup(self.pills, self.groups), run_time=0.6))
        come = (LaggedStart(*map(FadeIn, parts), lag_ratio=0.5, run_time=1.6) for parts in self.to_run)
        self.play(LaggedStart(*come, lag_ratio=0.4), FadeIn(self.total_mixed))

    def total(self, whose: str, cycles: float) -> Mobject:
        """The time of a warp, below the warps."""
        area = self.area
        name = lines(whose, 40, area.width, color=self.theme.text)
        figure = self.bold("{cycles:,.0f} cycles", 64, cycles=cycles)
        both = VGroup(name, figure).arrange(DOWN, buff=px(12))
        return both.move_to([0, area.bottom + px(76), 0])

    def sort_items(self) -> None:
        """Letters change places until each warp has one of them, and three of four parts fall away."""
        dots = [dot for group in self.groups for dot in group]
        places = [dot.get_center() for dot in dots]
        by_case = np.argsort(np.arange(len(dots)) % SHOWN, kind="stable").tolist()
        moves = [dots[n].animate.move_to(place) for n, place in zip(by_case, places, strict=True)]
        self.say("If we sort the items by kind, every warp needs only one case.")
        self.play(Leave(self.total_mixed), LaggedStart(*moves, lag_ratio=0.03, run_time=2.0))
        gone = [part for own, parts in enumerate(self.to_run) for part in parts if part is not parts[own]]
        self.play(*(FadeOut(part, shift=px(30) * DOWN) for part in gone), run_time=0.6)
        kept = [(parts[own], parts[0]) for own, parts in enumerate(self.to_run)]
        self.play(*(part.animate.move_to(place) for part, place in kept), run_time=0.6)
        total = self.total(tr("one warp, items sorted"), self.one)
        self.say("Now a warp takes {one:,.0f} cycles instead of {four:,.0f}, as it runs only one case.")
        self.play(FadeIn(total))
