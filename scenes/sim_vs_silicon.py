"""Simulation against silicon: can a simulator predict how long a GPU takes?

manim render scenes/sim_vs_silicon.py

What the simulator adds up for a matrix product, its prediction beside a recorded run, and the errors of all
runs that were set aside for testing.
"""

import numpy as np
from manim import (
    DOWN,
    LEFT,
    RIGHT,
    UP,
    Dot,
    GrowFromEdge,
    LaggedStart,
    Line,
    ManimColor,
    ReplacementTransform,
    VGroup,
)

from tilesim import Device, Problem
from tilesim.costs import Costs
from tilesim.devices.hardware import TENSOR_SHARE, Hardware
from tilesim.metrics import run
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.traces import Default
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.kit.many_sms import alike_together
from tilesim_scenes.kit.predictions import held_out, step_terms
from tilesim_scenes.kit.two_runs import two_runs
from tilesim_scenes.kit.work import Work
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import ink_on
from tilesim_scenes.mobjects.drawing.quads import edged, rectangle
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Simulation against silicon",
    "question": "Can a simulator predict how long a GPU takes?",
    "finding": (
        "Of 106 runs on an H200 that were set aside for testing, our simulator predicts 87 to within "
        "5 percent. The worst is off by 21%."
    ),
    "part": "Models",
    "place": 260,
    "seconds": 77,
    "shows": "What a simulator adds up, one prediction beside its run, and the errors of all test runs.",
    "takes": "traces",
}
SHOWN = "h200-persistent-4096x4352x4096-grouped8.npz"
NEAR = 0.05
"""Share of a run's time, within which a prediction is called near."""
LEFT_END, RIGHT_END = -20.0, 25.0
"""Ends of the axis of errors, %."""


class SimVsSilicon(Lesson):
    """One run on an H200 beside its prediction, then the errors of all runs that no cost was fitted to."""

    neutral = RaceFilm
    default = Default(
        ("persistent",),
        Problem(4096, 4352, 4096, order="grouped:8"),
        Device.named("h200"),
        shipped=(f"held_out/{SHOWN}",),
        beside=True,
    )

    def prepare(self) -> None:
        self.simulated, self.measured = self.traces
        self.sms = self.measured.device.sms
        self.problem, self.steps = self.simulated.problem, self.simulated.problem.k_steps
        costs = Costs(**self.simulated.meta["costs"])
        size = f"{self.problem.m}x{self.problem.n}x{self.problem.k}"
        self.guard(size not in costs.source, "costs were fitted to runs of other sizes")
        self.terms = step_terms(self.simulated, costs)
        self.guard(max(self.terms, key=self.terms.__getitem__) == "multiplying", "multiplying takes longest")
        self.ahead = costs.stages - 1
        self.guard(self.ahead == 2, "pieces are loaded two steps ahead")
        self.loading, self.share = self.ahead * self.terms["latency"] / 1000, TENSOR_SHARE
        hardware = Hardware.named(costs.hardware, self.problem.dtype)
        self.rate, self.cycles = hardware.macs_per_clock, hardware.peak_cycles(self.problem)
        self.ends = [float(f"{run(one) / 1000:.1f}") for one in self.traces]
        last = self.simulated.spans[np.argmax(self.simulated.spans["done"])]
        self.tiles = int((self.simulated.spans["sm"] == last["sm"]).sum())
        _, each = np.unique(self.simulated.spans["sm"], return_counts=True)
        self.some = int((each == self.tiles).sum())
        self.guard(
            set(each) == {self.tiles - 1, self.tiles}, "some SMs compute one tile more than the others"
        )
        self.step = float(f"{self.terms['multiplying'] / 1000:.3f}")
        self.all_steps = float(f"{self.tiles * self.steps * self.step:.1f}")
        self.added = round(self.ends[0] - self.all_steps, 1)
        self.guard(0 < self.added < 0.1 * self.ends[0], "the steps are nearly all of the time")
        gaps = self.tiles - 1
        each = {
            tr("slow starts of a tile"): (self.tiles, costs.mainloop_overhead),
            tr("pauses between two tiles"): (gaps, costs.tile_gap),
            tr("slowdowns while a tile is written"): (gaps, costs.epilogue_overlap_penalty),
            tr("writing the last tile"): (1, costs.epilogue),
        }  # fmt: skip
        gap = sum(ns for count, ns in each.values() if count > 1) / 1000
        self.between = [gap] * gaps + [self.added - gaps * gap]
        self.extra = {
            (f"{count} {name} × {ns / 1000:.2f} µs" if count > 1 else name): round(count * ns / 1000, 1)
            for name, (count, ns) in each.items()
        }
        delays = round(self.added - sum(self.extra.values()), 1)
        self.guard(0 < delays < 0.2 * self.added, "random variation is the least of what is added")
        self.extra[tr("small random delays of the tiles")] = delays
        self.found = held_out()
        self.all = len(self.found)
        off = np.array([abs(one.error) for one in self.found])
        self.half, self.worst = float(np.median(off)), float(off.max())
        self.near = int((off <= NEAR).sum())
        self.far = np.argsort(off)[-2:]
        off = np.array([abs(one.cycles) for one in self.found])
        self.guard({*self.far} == {*np.argsort(off)[-2:]}, "the two worst stay, whatever the clock")
        self.guard(all("stream-k" in self.found[n].file for n in self.far), "the two worst use Stream-K")
        programs = {one.file.split("-")[1] for one in self.found}
        self.guard(programs == {"naive", "persistent", "split", "stream"}, "runs are of four programs")
        self.half_cycles, self.near_cycles = float(np.median(off)), int((off <= NEAR).sum())
        ours = next(one for one in self.found if one.file == SHOWN)
        self.ours = self.found.index(ours)
        self.guard(abs(ours.error) < self.half / 4, "the run that is shown is a lucky one")
        self.assumed = costs.clock_mhz
        clocks = [one.mhz for one in self.found]
        self.slow, self.fast = min(clocks), max(clocks)
        self.guard(self.slow < 0.95 * self.assumed < 1.05 * self.assumed < self.fast, "clocks vary")
        self.guard(self.half_cycles < 0.6 * self.half, "the clock explains much of the errors")
        self.guard(not any(one.fitted for one in self.found), "no run was fitted to")

    def construct(self) -> None:
        self.ask("Our simulator splits a run into parts, estimates each part, and adds them up.")
        if self.given.get("work", True):
            self.the_work()
        self.a_tile()
        self.slowest_part()
        self.all_parts()
        self.both_runs()
        self.all_runs()
        self.without_the_clock()
        self.close(
            "Of {all} runs on an H200 that were set aside for testing, our simulator predicts {near} to "
            "within 5 percent. The worst is off by {worst:.0%}.",
            [(tr("off by at most 5%"), self.near), (tr("off by more"), self.all - self.near)],
            "count",
            "{:.0f}",
            Badge(tr("simulated, measured"), "measured"),
            self.tr(
                "Half are off by at most {half:.1%}, or by {half_cycles:.1%} had we known each clock. "
                "The runs are matrix products that take {shortest:.0f} to {longest:.0f} µs.",
                shortest=min(one.measured for one in self.found) / 1000,
                longest=max(one.measured for one in self.found) / 1000,
            ),
        )

    # What the simulator adds up.

    def the_work(self) -> None:
        work = Work(self.problem, self.area, tile=8 * self.problem.tiles_n + 5, wrap=True)
        self.say(
            "A GPU with {sms} processors, called SMs, computes this matrix product in {tiles} tiles.",
            tiles=self.problem.tiles,
        )
        for act in work.come():
            self.play(*act)
            self.wait(0.4)
        self.leave(work)

    def a_tile(self) -> None:
        """A tile as a row of steps; the first ones get their pieces one by one, the others fast."""
        area, theme = self.area, self.theme
        wide = area.width / self.steps
        cells = VGroup(*(rectangle(0.8 * wide, px(150), theme.idle) for _ in range(self.steps)))
        cells.arrange(RIGHT, buff=0.2 * wide).move_to([area.center[0], area.bottom + px(170), 0])
        m, n, k = self.problem.tile
        name = self.bold("one tile, {m} × {n} numbers: {steps} steps", 50, m=m, n=n)
        name.next_to(cells, DOWN, px(24))
        pieces = VGroup()
        for letter, w, h in (("A", 70, 140), ("B", 280, 70)):
            box = rectangle(px(w), px(h), theme.operand)
            pieces.add(VGroup(box, label(letter, 56, theme.background, bold=True).move_to(box)))
        pieces.arrange(RIGHT, buff=px(60)).move_to([area.center[0], area.top - px(150), 0])
        whose = self.word("a piece of A, {m} × {k} numbers, and one of B, {k} × {n}", 46, m=m, n=n, k=k)
        whose.next_to(pieces, DOWN, px(20))
        self.say("A tile takes {steps} steps. Each loads two pieces, multiplies them, and adds the result.")
        self.badge(Badge(tr("model"), "model"))
        self.play(FadeIn(cells, name), FadeIn(pieces, whose))
        for number in range(3):
            flying = VGroup(*(piece[0].copy() for piece in pieces))
            self.add(flying)
            self.play(flying.animate(run_time=0.7 / 1.3**number).scale(0.1).move_to(cells[number]))
            self.remove(flying, *flying)
            cells[number].set_fill(ManimColor(self.hue))
        rest = (cell.animate.set_fill(ManimColor(self.hue)) for cell in cells[3:])
        self.play(LaggedStart(*rest, lag_ratio=0.3, run_time=3.0))
        self.wait(1.7)
        self.play(Leave(pieces), Leave(whose), Leave(name), *map(Leave, cells[:31]), *map(Leave, cells[32:]))
        self.cell = cells[31]

    def slowest_part(self) -> None:
        """Three steps in a row; below, the third one's pieces come while the first two multiply."""
        area, theme = self.area, self.theme
        m, n, k = self.problem.tile
        wide, high = area.width / (self.ahead + 1), px(100)
        bar = edged(rectangle(wide, high, self.hue), theme.background, 4)
        bars = VGroup(*(bar.copy() for _ in range(self.ahead + 1)))
        bars.arrange(RIGHT, buff=0).move_to([area.left, area.top - px(180), 0], LEFT)
        step = label(self.tr("{step:.3f} µs"), 48, ink_on(self.hue), mono=True)
        bars.add(*(step.copy().move_to(bar) for bar in bars))
        load = edged(rectangle(wide * self.loading / self.step, high, theme.panel), theme.text, 4)
        load.move_to([area.left, area.bottom + px(110), 0], LEFT)
        figure = label(self.tr("{loading:.3f} µs"), 48, mono=True).move_to(load)
        right = bars[1].get_right()
        due = edged(Line(0.7 * high * UP, 0.7 * high * DOWN), theme.text, 4).move_to(right).match_y(load)
        both = self.ahead * self.step
        limit = self.word("{ahead} × {step:.3f} µs = {both:.3f} µs", 44, theme.text, both=both)
        fit(limit, area.right - right[0] - px(20)).next_to(due, RIGHT, px(20)).match_y(load)
        texts = VGroup()
        for bar, name, how in (
            (bars[0], tr("multiplying the pieces of three steps"), (
                self.tr("{m} × {n} × {k} multiplications ÷ {rate:,} per clock cycle = {cycles:,.0f} cycles",
                    m=m, n=n, k=k),
                self.tr("Kernels reach {share:.0%} of that rate: {cycles:,.0f} ÷ {share:.2f} ÷ an assumed "
                    "{assumed:,.0f} MHz = {step:.3f} µs"),
            )),
            (load, tr("loading the pieces of the third step"),
                (tr("estimated from measurements on an H200"),)),
        ):  # fmt: skip
            word = label(name, 50, theme.text, bold=True).next_to(bar, UP, px(16)).align_to(bar, LEFT)
            why = VGroup(*(label(one, 42, theme.quiet) for one in how))
            fit(why.arrange(DOWN, buff=px(14), aligned_edge=LEFT), area.width)
            why.next_to(bar, DOWN, px(16)).align_to(bar, LEFT)
            texts.add(VGroup(word, why))
        self.say("Each load starts two steps early and is finished in time, so loading adds no time.")
        self.play(self.cell.animate(run_time=0.6).become(bars[0]))
        self.remove(self.cell)
        self.add(bars[0])
        self.play(FadeIn(*bars[1:], texts[0]), run_time=0.6)
        self.play(GrowFromEdge(load, LEFT), FadeIn(texts[1], figure, due, limit), run_time=1.2)
        self.leave(bars, load, figure, due, limit, texts)

    def all_parts(self) -> None:
        """The time of the SM that ends last: its steps, and what is added."""
        area, theme = self.area, self.theme
        row = VGroup()
        for pause in self.between:
            for us, hue in ((self.all_steps / self.tiles, self.hue), (pause, theme.write)):
                row.add(rectangle(area.width * us / self.ends[0], px(110), hue))
        row.arrange(RIGHT, buff=0).move_to([area.left, area.top - px(210), 0], LEFT)
        bars, pauses = row[::2], row[1::2]
        sums = self.tr("one SM: {tiles} tiles × {steps} steps × {step:.3f} µs = {all_steps:.1f} µs")
        steps = fit(label(sums, 50, bold=True), area.width)
        steps.next_to(bars[0], UP, px(24)).align_to(bars[0], LEFT)
        others = VGroup(*(bar.copy() for bar in bars[:-1])).shift(px(230) * DOWN)
        idle = edged(bars[0].copy().set_fill(opacity=0), theme.wait, 5).next_to(others, RIGHT, 0)
        waits = self.word("waits", 44, theme.wait_text).move_to(idle)
        fewer = self.bold("another SM: {n} tiles", 50, n=self.tiles - 1).next_to(others, UP, px(24))
        fewer.align_to(others, LEFT)
        added = self.bold("between tiles and at the end: {added:.1f} µs", 50)
        added.next_to(bars, DOWN, px(24)).align_to(bars, RIGHT)
        rows = VGroup()
        for number, (what, us) in enumerate(self.extra.items()):
            name, figure = label(what, 44, theme.quiet), label(f"{us:.1f} µs", 44, theme.text, mono=True)
            figure.move_to([area.right, bars.get_bottom()[1] - px(125 + 58 * number), 0], RIGHT)
            fit(name, area.width - figure.width - px(24)).match_y(figure).align_to(bars, LEFT)
            rows.add(VGroup(name, figure))
        whole = self.bold("together {us:.1f} µs", 50, us=self.ends[0])
        whole.move_to([area.right, area.top - px(30), 0], RIGHT)
        about = self.word(
            "{all} tiles = {sms} SMs × {each} + {some}", 46, theme.text,
            all=self.problem.tiles, each=self.tiles - 1,
        )  # fmt: skip
        about.move_to([area.left, area.top - px(30), 0], LEFT)
        self.say("{some} of the {sms} SMs compute a fifth tile, while the others wait.")
        self.play(FadeIn(steps, about, fewer), run_time=0.6)
        for bar, other in zip(bars, (*others, VGroup(idle, waits)), strict=True):
            self.play(GrowFromEdge(bar, LEFT), GrowFromEdge(other, LEFT), run_time=0.4)
        self.say(
            "Starting, pausing and writing cost the SM {added:.0f} microseconds, estimated from other runs."
        )
        self.play(*map(Leave, (others, idle, waits, fewer)))
        self.play(FadeIn(pauses, added, whole), Leave(about), run_time=0.6)
        self.play(LaggedStart(*map(FadeIn, rows), lag_ratio=0.6, run_time=1.2))
        self.wait(3.0)
        self.leave(row, steps, added, rows, whole)

    # One prediction and its run.

    def both_runs(self) -> None:
        """All lanes of both, on one clock."""
        # A tile's hand-over begins its writing.
        fills = self.theme.by_phase | {"hand over": self.theme.write}
        key = self.key(
            *self.phases("multiply", "write"), Entry(tr("no tile yet, or none left"), [self.theme.idle])
        )
        self.ticking = self.clock(1000 * max(self.ends))
        runs = dict(zip((tr("simulated"), tr("measured")), self.traces, strict=True))
        self.rasters, names, ends = two_runs(self, runs, self.ends, fills, alike_together)
        self.say("Above: the simulator’s prediction for all {sms} SMs. Below: the real run.")
        self.badge(Badge(tr("simulated, measured"), "measured"))
        self.play(*key, *(Fade(one, 0.0, 1.0) for one in self.rasters), FadeIn(names, self.ticking))
        self.play(PlayTrace(self.ticking, *self.rasters, until=1000 * max(self.ends), run_time=4.0))
        self.say(
            "The simulator predicts {a:.1f} microseconds here. The GPU took {b:.1f}.",
            a=self.ends[0], b=self.ends[1],
        )  # fmt: skip
        self.play(FadeIn(ends), run_time=0.4)
        self.let_read()
        self.play(*map(Leave, (*self.rasters, names, self.ticking, ends)), *self.key())

    # All runs.

    def at(self, error: float) -> float:
        """Where an error, %, is on the axis."""
        share = (error - LEFT_END) / (RIGHT_END - LEFT_END)
        return float(self.area.left + share * self.area.width)

    def stacked(self, errors: list[float], bin_: float) -> list[tuple[float, int]]:
        """Where the dot of each error is: its x, and how many dots are below it. `bin_`: a dot's width, %."""
        places = [round(100 * error / bin_) for error in errors]
        return [(self.at(place * bin_), places[:number].count(place)) for number, place in enumerate(places)]

    def band(self, off: float, high: float, text: str) -> VGroup:
        """Errors up to `off`, a share, on both sides."""
        band = rectangle(self.at(100 * off) - self.at(-100 * off), high, self.theme.operand, 0.25)
        band.move_to([self.at(0), self.foot, 0], DOWN).set_z_index(-1)
        return VGroup(band, label(text, 40, bold=True).next_to(band, UP, px(8)))

    def all_runs(self) -> None:
        """A dot for each run falls to its error; the middle bands are shaded."""
        area, theme = self.area, self.theme
        bin_ = 10 / (13 if self.narrow else 17)  # 5% lies between two columns.
        now = self.stacked([one.error for one in self.found], bin_)
        then = self.stacked([one.cycles for one in self.found], bin_)
        tallest = 1 + max(below for _, below in now + then)
        foot = self.foot = area.bottom + px(130)
        room = area.top - px(210 if self.narrow else 150) - foot
        size = min(0.94 * bin_ * area.width / (RIGHT_END - LEFT_END), room / tallest)
        axis = rectangle(area.width, px(4), theme.quiet).move_to([area.center[0], foot - px(4), 0])
        ticks = VGroup()
        for tick in range(int(LEFT_END), int(RIGHT_END) + 1, 5 if not self.narrow else 10):
            mark = label(f"{tick:+d}%".replace("-", "−") if tick else "0", 38, theme.quiet)
            ticks.add(mark.move_to([self.at(tick), foot - px(34), 0]))
        below = VGroup(self.word("← predicted too short", 42), self.word("predicted too long →", 42))
        below[0].move_to([area.left, area.bottom + px(24), 0], LEFT)
        below[1].move_to([area.right, area.bottom + px(24), 0], RIGHT)
        self.note = self.word("four programs: naive, persistent, split-K, Stream-K; large dot: run shown", 44)
        high = tallest * size + px(20)
        self.head = np.array([area.center[0], foot + high + px(70), 0])
        self.note.move_to(self.head, DOWN)
        dot = Dot(radius=0.42 * size, color=ManimColor(theme.measured))
        self.dots = [dot.copy().move_to([x, foot + (n + 0.5) * size, 0]) for x, n in now]
        self.later = [[np.array([x, foot + (n + 0.5) * size, 0])] for x, n in then]
        ours = self.dots[self.ours].set_color(ManimColor(theme.text)).scale(1.6).set_z_index(1)
        self.say("That match was lucky. Here is a dot for each of {all} runs, none used for the estimates.")
        self.play(FadeIn(axis, ticks, below, self.note), run_time=0.5)
        self.play(FadeIn(ours, shift=px(300) * DOWN), run_time=0.7)
        falling = [FadeIn(dot, shift=px(300) * DOWN) for dot in self.dots if dot is not ours]
        self.play(LaggedStart(*falling, lag_ratio=0.05, run_time=3.4))
        self.middle = self.band(self.half, high, tr("half within ±{half:.1%}", half=self.half))
        near = self.band(NEAR, high, "")
        side = near[0].get_corner(UP + RIGHT) + px(10) * RIGHT
        self.beside, self.beside_cycles = (
            self.bold("{n} within ±5%", 40, n=n).move_to(side, LEFT + UP)
            for n in (self.near, self.near_cycles)
        )
        self.outliers = VGroup()
        for number in self.far:
            off = label(f"{self.found[number].error:+.0%}".replace("-", "−"), 44, bold=True)
            named = VGroup(off, label("Stream-K", 40)).arrange(DOWN, buff=px(10))
            named.next_to(self.dots[number], UP, px(14))
            ends = area.left + named.width / 2, area.right - named.width / 2
            self.outliers.add(named.set_x(np.clip(named.get_x(), *ends)))
        self.say(
            "{near} of {all} are off by at most 5%. The two worst use Stream-K, which lets SMs share a tile."
        )
        self.play(FadeIn(near, self.beside, self.middle), run_time=1.8)
        self.play(FadeIn(self.outliers), run_time=1.8)

    def without_the_clock(self) -> None:
        """Dots move to their errors in cycles, which no clock changes, and the middle half moves in."""
        clocks = self.tr(
            "We assumed a clock of {assumed:,.0f} MHz. It ranged from {slow:,.0f} to {fast:,.0f} MHz."
        )
        note = lines(clocks, 44, self.area.width, bold=True).move_to(self.head, DOWN)
        text = tr("half within ±{half:.1%}", half=self.half_cycles)
        middle = self.band(self.half_cycles, self.middle[0].height, text)
        self.say(
            "If we had known each run’s clock, half would be within {half_cycles:.1%}. "
            "We do not know why two remain far off."
        )
        self.play(FadeOut(self.note, self.outliers, self.beside), FadeIn(note), run_time=0.6)
        self.wait(0.8)
        move = Travel(self.dots, self.later, leg=1.8, apart=0.0)
        self.play(move, ReplacementTransform(self.middle, middle, run_time=1.8))
        self.play(FadeIn(self.beside_cycles), run_time=0.4)
