"""Simulation against silicon: can simple arithmetic predict how long a GPU takes?

manim render scenes/sim_vs_silicon.py

What the simulator adds up for a matrix product, its prediction beside a recorded run, and the errors of all
runs that were set aside for testing.
"""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Dot, FadeIn, GrowFromEdge, LaggedStart, ManimColor, VGroup

from tilesim import Device, Problem
from tilesim.costs import Costs
from tilesim.metrics import run
from tilesim_scenes.animations.fade import Fade, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.traces import Default
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.kit.predictions import Prediction, held_out, step_terms
from tilesim_scenes.kit.two_runs import two_runs
from tilesim_scenes.kit.work import Work
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Simulation against silicon",
    "question": "Can simple arithmetic predict how long a GPU takes?",
    "finding": (
        "Of 106 runs on an H200 that were set aside for testing, simple arithmetic predicts 88 to within "
        "5 percent. The worst is off by 21%."
    ),
    "part": "Models",
    "place": 260,
    "seconds": 79,
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
        self.problem, self.steps = self.simulated.problem, self.simulated.problem.k_steps
        costs = Costs(**self.simulated.meta["costs"])
        size = f"{self.problem.m}x{self.problem.n}x{self.problem.k}"
        self.guard(size not in costs.source, "costs were fitted to runs of other sizes")
        self.terms = step_terms(self.simulated, costs)
        self.loading = max(ns for term, ns in self.terms.items() if term != "multiplying")
        self.guard(self.loading < self.terms["multiplying"], "multiplying takes longer than loading")
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
            tr("starts of a tile"): (self.tiles, costs.mainloop_overhead),
            tr("pauses between two tiles"): (gaps, costs.tile_gap),
            tr("slowdowns while the tile before is written"): (
                gaps, costs.epilogue_overlap_penalty
            ),
            tr("last write"): (1, costs.epilogue),
        }  # fmt: skip
        self.extra = {
            (f"{count} {name} × {ns / 1000:.2f} µs" if count > 1 else name): round(count * ns / 1000, 1)
            for name, (count, ns) in each.items()
        }
        delays = round(self.added - sum(self.extra.values()), 1)
        self.guard(0 < delays < 0.2 * self.added, "random delays are the least of what is added")
        self.extra[tr("small random delays")] = delays
        self.found = held_out()
        off = np.array([abs(one.error) for one in self.found])
        self.half, self.worst = float(np.median(off)), float(off.max())
        self.near = int((off <= NEAR).sum())
        ours = next(one for one in self.found if one.file == SHOWN)
        self.ours = self.found.index(ours)
        self.guard(abs(ours.error) < self.half / 4, "the run that is shown is a lucky one")
        self.assumed = costs.clock_mhz / 1000
        few = self.few = [one for one in self.found if self.leaves_idle(one)]
        self.fast = float(np.mean([one.mhz for one in few])) / 1000
        self.guard(all(one.error > 0.04 for one in few), "runs on few SMs are predicted too long")
        self.too_long = float(np.mean([one.error for one in few]))
        self.by_clock = self.fast / self.assumed - 1
        self.guard(
            0.5 < self.by_clock / self.too_long < 1,
            "the clock explains most of the error where many SMs are idle",
        )
        self.two = np.argsort(off)[-2:].tolist()
        self.guard(all("stream-k" in self.found[n].file for n in self.two), "the two worst runs cut tiles")
        clocks = [one.mhz / 1000 for one in self.found if not self.leaves_idle(one)]
        self.guard(
            abs(float(np.median(clocks)) / self.assumed - 1) < 0.01, "other runs have the assumed clock"
        )
        self.guard(not any(one.fitted for one in self.found), "no run was fitted to")

    def leaves_idle(self, one: Prediction) -> bool:
        """Whether a run leaves many SMs without a tile."""
        return one.sms < 0.8 * self.measured.device.sms

    def construct(self) -> None:
        self.ask("A simulator adds up the parts of a run, calculated or measured beforehand.")
        if self.given.get("work", True):
            self.the_work()
        self.a_tile()
        self.slowest_part()
        self.all_parts()
        self.both_runs()
        self.all_runs()
        self.idle_sms()
        self.close(
            "Of {all} runs on an H200 that were set aside for testing, simple arithmetic predicts {near} to "
            "within 5 percent. The worst is off by {worst:.0%}.",
            [(tr("off by at most 5%"), self.near), (tr("off by more"), len(self.found) - self.near)],
            "count",
            "{:.0f}",
            Badge(tr("simulated, measured"), "measured"),
            self.tr(
                "Half are off by at most {half:.1%}. Matrix products of 16-bit numbers "
                "that take {shortest:.0f} to {longest:.0f} µs.",
                shortest=min(one.measured for one in self.found) / 1000,
                longest=max(one.measured for one in self.found) / 1000,
            ),
            all=len(self.found),
            near=self.near,
            worst=self.worst,
        )

    # What the simulator adds up.

    def the_work(self) -> None:
        work = Work(self.problem, self.area, tile=8 * self.problem.tiles_n + 5, wrap=True)
        self.say(
            "A GPU with {sms} processors, called SMs, computes this matrix product in {tiles} tiles.",
            sms=self.measured.device.sms, tiles=self.problem.tiles,
        )  # fmt: skip
        for act in work.come():
            self.play(*act)
            self.wait(0.4)
        self.leave(work)

    def a_tile(self) -> None:
        """A tile as a row of steps; the first ones get their pieces one by one, the others fast."""
        area, theme = self.area, self.theme
        hue = theme.by_phase["multiply"]
        wide = area.width / self.steps
        cells = VGroup(*(rectangle(0.8 * wide, px(150), theme.idle) for _ in range(self.steps)))
        cells.arrange(RIGHT, buff=0.2 * wide).move_to([area.center[0], area.bottom + px(170), 0])
        m, n, k = self.problem.tile
        name = self.word(
            "one tile, {m} × {n} numbers: {steps} steps", 50, theme.text, bold=True,
            m=m, n=n, steps=self.steps,
        )  # fmt: skip
        name.next_to(cells, DOWN, px(24))
        pieces = VGroup()
        for letter, w, h in (("A", 70, 140), ("B", 280, 70)):
            box = rectangle(px(w), px(h), theme.operand)
            pieces.add(VGroup(box, label(letter, 56, theme.background, bold=True).move_to(box)))
        pieces.arrange(RIGHT, buff=px(60)).move_to([area.center[0], area.top - px(150), 0])
        whose = self.word("a piece of A, {m} × {k} numbers, and one of B, {k} × {n}", 46, m=m, n=n, k=k)
        whose.next_to(pieces, DOWN, px(20))
        self.say(
            "A tile takes {steps} steps. "
            "In each, an SM loads two pieces, multiplies them, and adds the result.",
            steps=self.steps,
        )
        self.badge(Badge(tr("model"), "model"))
        self.play(FadeIn(cells, name), FadeIn(pieces, whose))
        for number in range(3):
            flying = VGroup(*(piece[0].copy() for piece in pieces))
            self.add(flying)
            self.play(flying.animate(run_time=0.7 / 1.3**number).scale(0.1).move_to(cells[number]))
            self.remove(flying, *flying)
            cells[number].set_fill(ManimColor(hue))
        rest = (cell.animate.set_fill(ManimColor(hue)) for cell in cells[3:])
        self.play(LaggedStart(*rest, lag_ratio=0.3, run_time=2.0))
        self.let_read()
        self.play(Leave(pieces), Leave(whose), Leave(name), *map(Leave, cells[:31]), *map(Leave, cells[32:]))
        self.cell = cells[31]

    def slowest_part(self) -> None:
        """One step becomes two bars, of which the longer counts."""
        area, theme = self.area, self.theme
        m, n, k = self.problem.tile
        multiplying = self.terms["multiplying"]
        names = (
            (
                tr("multiplying"),
                tr(
                    "calculated: {m} × {n} × {k} multiplications, {rate:,.0f} per ns at {ghz:.2f} GHz",
                    m=m, n=n, k=k, rate=m * n * k / multiplying, ghz=self.assumed,
                ),
            ),
            (
                tr("loading the next two pieces"),
                tr("from delays measured beforehand on an H200"),
            ),
        )  # fmt: skip
        room, step = area.width - px(230), area.height / 2
        rows = VGroup()
        for number, (ns, (name, how)) in enumerate(zip((multiplying, self.loading), names, strict=True)):
            bar = rectangle(room * ns / multiplying, px(84), theme.panel)
            bar.set_stroke(ManimColor(theme.text), stroke_width(4))
            bar.move_to([area.left, area.top - number * step - px(130), 0], LEFT)
            word = label(name, 50, theme.text, bold=True).next_to(bar, UP, px(16)).align_to(bar, LEFT)
            why = lines(how, 42, area.width, color=theme.quiet)
            why.next_to(bar, DOWN, px(16)).align_to(bar, LEFT)
            figure = label(tr("{ns:.0f} ns", ns=ns), 48, bold=number == 0, mono=True).next_to(
                bar, RIGHT, px(20)
            )
            rows.add(VGroup(bar, word, figure, why))
        rows[0][0].set_fill(ManimColor(theme.by_phase["multiply"]))
        self.say("Multiplying and loading overlap, so a step takes as long as the slower one.")
        self.play(self.cell.animate(run_time=0.6).become(rows[0][0]))
        self.remove(self.cell)
        self.add(rows[0][0])
        self.play(FadeIn(*rows[0][1:]), run_time=0.4)
        self.play(GrowFromEdge(rows[1][0], LEFT), FadeIn(rows[1][1:]), run_time=2.8)
        self.leave(rows)

    def all_parts(self) -> None:
        """The time of the SM that ends last: its steps, and what is added."""
        area, theme = self.area, self.theme
        room = area.width
        hues = [theme.by_phase["multiply"]] * self.tiles + [theme.write]
        bars = VGroup()
        for us, hue in zip([self.all_steps / self.tiles] * self.tiles + [self.added], hues, strict=True):
            bar = rectangle(room * us / self.ends[0], px(110), hue, 0.8)
            bars.add(bar.set_stroke(ManimColor(theme.text), stroke_width(4)))
        bars.arrange(RIGHT, buff=0).move_to([area.left, area.top - px(210), 0], LEFT)
        steps = self.word(
            "{tiles} tiles × {steps} steps × {step:.3f} µs = {us:.1f} µs", 50, theme.text, bold=True,
            tiles=self.tiles, steps=self.steps, step=self.step, us=self.all_steps,
        )  # fmt: skip
        steps.next_to(bars[0], UP, px(24)).align_to(bars[0], LEFT)
        added = self.bold("all else: {us:.1f} µs", 50, us=self.added)
        added.next_to(bars, DOWN, px(24)).align_to(bars, RIGHT)
        rows = VGroup()
        for number, (what, us) in enumerate(self.extra.items()):
            name, figure = label(what, 44, theme.quiet), label(f"{us:.1f} µs", 44, theme.text, mono=True)
            figure.move_to([area.right, bars.get_bottom()[1] - px(125 + 58 * number), 0], RIGHT)
            fit(name, room - figure.width - px(24)).match_y(figure).align_to(bars, LEFT)
            rows.add(VGroup(name, figure))
        whole = self.bold("together {us:.1f} µs", 50, us=self.ends[0])
        whole.move_to([area.right, area.top - px(30), 0], RIGHT)
        about = self.word(
            "{all} tiles = {sms} SMs × {each} + {some}", 46, theme.text,
            all=self.problem.tiles, sms=self.measured.device.sms, each=self.tiles - 1, some=self.some,
        )  # fmt: skip
        about.move_to([area.left, area.top - px(30), 0], LEFT)
        sms = self.measured.device.sms
        self.say(
            "{some} of the {sms} SMs must compute a fifth tile, and the others wait for them.",
            some=self.some, sms=sms,
        )  # fmt: skip
        each = (GrowFromEdge(bar, LEFT) for bar in bars[:-1])
        self.play(LaggedStart(*each, lag_ratio=1.0), FadeIn(steps, about), run_time=3.6)
        self.say(
            "Starting, pausing and writing add {us:.0f} microseconds. "
            "These times were estimated from runs of other sizes.",
            us=self.added,
        )
        self.play(GrowFromEdge(bars[-1], LEFT), FadeIn(added), run_time=0.8)
        self.play(LaggedStart(*map(FadeIn, rows), lag_ratio=0.8, run_time=3.0))
        self.play(FadeIn(whole), Leave(about), run_time=0.5)
        self.wait(0.5)
        self.leave(bars, steps, added, rows, whole)

    # One prediction and its run.

    def both_runs(self) -> None:
        """All lanes of both, on one clock."""
        fills = self.theme.by_phase | {
            "hand over": self.theme.write
        }  # A tile's hand-over begins its writing.
        key = self.key(
            *self.phases("multiply", "write"), Entry(tr("no tile yet, or none left"), [self.theme.idle])
        )
        self.ticking = self.clock(1000 * max(self.ends))
        runs = dict(zip((tr("simulated"), tr("measured")), self.traces, strict=True))
        self.rasters, names, ends = two_runs(self, runs, self.ends, fills)
        self.say("The simulator adds this up for each SM and gives every tile a small random delay.")
        self.badge(Badge(tr("simulated, measured"), "measured"))
        self.play(*key, *(Fade(one, 0.0, 1.0) for one in self.rasters), FadeIn(names, self.ticking))
        self.play(PlayTrace(self.ticking, *self.rasters, until=1000 * max(self.ends), run_time=4.8))
        self.say(
            "The simulator predicts {a:.1f} microseconds for this run. The GPU took {b:.1f}.",
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

    def all_runs(self) -> None:
        """A dot for each run falls to its error; the middle bands are shaded."""
        area, theme = self.area, self.theme
        bin_ = 1.0 if self.narrow else 0.75
        places = [round(100 * one.error / bin_) for one in self.found]
        tallest = max(map(places.count, places))
        foot = area.bottom + px(130)
        size = min(0.94 * bin_ * area.width / (RIGHT_END - LEFT_END), (area.top - px(130) - foot) / tallest)
        axis = rectangle(area.width, px(4), theme.quiet).move_to([area.center[0], foot - px(4), 0])
        ticks = VGroup()
        for tick in range(int(LEFT_END), int(RIGHT_END) + 1, 5 if not self.narrow else 10):
            mark = label(f"{tick:+d}%".replace("-", "−") if tick else "0", 38, theme.quiet)
            ticks.add(mark.move_to([self.at(tick), foot - px(34), 0]))
        below = VGroup(self.word("← predicted too short", 42), self.word("predicted too long →", 42))
        below[0].move_to([area.left, area.bottom + px(24), 0], LEFT)
        below[1].move_to([area.right, area.bottom + px(24), 0], RIGHT)
        key = self.word("one dot for each run; white: the run just shown", 44)
        key.move_to([area.center[0], area.top - key.height / 2, 0])
        self.dots = []
        for number, place in enumerate(places):
            high = places[:number].count(place) + 0.5
            dot = Dot(radius=0.42 * size, color=ManimColor(theme.measured))
            dot.set_stroke(ManimColor(theme.measured), stroke_width(4))
            self.dots.append(dot.move_to([self.at(place * bin_), foot + high * size, 0]))
        ours = self.dots[self.ours]
        first = ours.copy().set_color(ManimColor(theme.text)).scale(1.2)
        count = len(self.found)
        self.say(
            "One match could be luck. Here are {all} runs, none of which was used for the estimates.",
            all=count,
        )
        self.play(FadeIn(axis, ticks, below, key), run_time=0.5)
        self.play(FadeIn(first, shift=px(300) * DOWN), run_time=0.7)
        falling = [FadeIn(dot, shift=px(300) * DOWN) for dot in self.dots if dot is not ours]
        self.play(LaggedStart(*falling, lag_ratio=0.05, run_time=4.0))
        high = tallest * size + px(20)
        self.bands = VGroup()
        for off, text in ((NEAR, tr("±5%")), (self.half, tr("±{half:.1%}", half=self.half))):
            band = rectangle(self.at(100 * off) - self.at(-100 * off), high, theme.operand, 0.25)
            band.move_to([self.at(0), foot, 0], DOWN)
            word = label(text, 40, theme.text, bold=True)
            word.next_to(band.get_corner(UP + RIGHT), RIGHT, px(10)).shift(px(24) * DOWN)
            self.bands.add(VGroup(band.set_z_index(-1), word))
        self.bands[1][1].next_to(self.bands[1][0], UP, px(8))
        self.say(
            "{near} of {all} predictions are off by at most 5%, and half by at most {half:.1%}.",
            half=self.half, near=self.near, all=count,
        )  # fmt: skip
        for band in self.bands:
            self.play(FadeIn(band), run_time=1.8)
        self.wait(0.5)

    def idle_sms(self) -> None:
        """Runs that leave many SMs without a tile, and what is different in them."""
        ink = self.theme.text
        few = VGroup(*(self.dots[n] for n, one in enumerate(self.found) if self.leaves_idle(one)))
        texts = (
            tr("{off:.0%} too long on average", off=self.too_long),
            self.tr("{by_clock:.0%} by the clock: {fast:.2f} GHz, not {assumed:.2f}"),
        )
        room = self.area.right - self.at(9 if self.narrow else 6)  # Right of the bands.
        words = VGroup(*(lines(text, 44, room, color=ink, bold=True) for text in texts))
        words.arrange(DOWN, buff=px(12)).next_to(few, UP, px(40))
        words.set_x(self.area.right, RIGHT)
        self.say(
            "In {n} runs, many SMs get no tile, and the clock is faster. In the two worst, SMs share tiles.",
            n=len(self.few),
        )
        self.play(few.animate.set_stroke(ManimColor(ink)), FadeIn(words), run_time=0.8)
        cut = VGroup(*(self.dots[n] for n in self.two))
        names = VGroup(*(self.bold("shared tiles", 40).next_to(dot, UP, px(14)) for dot in cut))
        for name in names:
            name.set_x(
                float(
                    np.clip(name.get_x(), self.area.left + name.width / 2, self.area.right - name.width / 2)
                )
            )
        self.play(cut.animate.set_stroke(ManimColor(ink)), FadeIn(names), run_time=0.8)
        self.let_read()
