"""Wave quantization: why can 9% more work take almost twice as long?

manim render scenes/wave_quantization.py

Two recorded products, one of which has a column of tiles more than one wave. Then a product
that grows column by column, as it was timed.
"""

from itertools import pairwise

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, ManimColor, VGroup

from tilesim_scenes.animations.fade import Fade, FadeIn, Leave
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.film.scene import DIMMED
from tilesim_scenes.film.traces import shipped
from tilesim_scenes.kit.many_sms import ManySMs, in_turn
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import ink_on
from tilesim_scenes.mobjects.charts.plot import Curve, Plot
from tilesim_scenes.mobjects.words.badge import of_trace

FILM = {
    "title": "Wave quantization",
    "question": "Why can 9% more work take almost twice as long?",
    "finding": (
        "On an H200, 144 tiles take 1.9 times as long as 132, because the GPU's 132 SMs need a second "
        "wave for the last 12."
    ),
    "part": "Schedules",
    "place": 170,
    "seconds": 61,
    "shows": "Two recorded products of 132 and 144 tiles, and the time of a product that grows, in steps.",
    "takes": "report",
}

ONE_WAVE, TWO_WAVES = (f"wave_quantization/h200-persistent-1536x{n}x4096-grouped8.npz" for n in (2816, 3072))
SCHEDULE = "persistent"
EVERY = 50
"""µs between two lines of the plot."""


def steps(points: list[tuple[int, float]], sms: int) -> list[tuple[int, float]]:
    """Where a product needs one more wave of `sms` tiles: the waves then, and by which share it is slower.

    >>> steps([(4, 10.0), (8, 10.5), (12, 21.0), (16, 22.0)], 8)
    [(2, 1.0)]
    """
    waves = [(-(-tiles // sms), us) for tiles, us in points]
    return [(after, slow / fast - 1) for (before, fast), (after, slow) in pairwise(waves) if after > before]


class WaveQuantization(ManySMs):
    """One wave of tiles and two, recorded, and how time climbs as a product grows."""

    def prepare(self) -> None:
        self.one, self.two = one, two = shipped(ONE_WAVE), shipped(TWO_WAVES)
        self.sms, self.gpu, few, many = one.device.sms, two.meta["gpu"], one.problem.tiles, two.problem.tiles
        alike = {
            (t.meta["kernel_config"], t.meta["gpu"], t.meta["date"], t.problem.k, t.problem.m)
            for t in (one, two)
        }
        self.guard(len(alike) == 1, "one kernel computed both products on the same day")
        self.few, self.many, self.more = few, many, many / few - 1
        self.left = many - self.sms
        self.guard(
            few == self.sms and 0 < self.left < 0.2 * self.sms, "the second product has a few tiles more"
        )
        self.guard(round(100 * self.more) == 9, "that is 9% more work")
        self.us = [round(t.makespan / 1000, 1) for t in (one, two)]
        self.guard(self.us[1] > 1.8 * self.us[0], "it takes almost twice as long")
        counts = np.bincount(two.spans["sm"], minlength=self.sms)
        twice = int(np.sum(counts == 2))
        self.guard((twice, counts.max()) == (self.left, 2), "a few SMs compute a second tile")
        ends = np.sort(two.spans["done"])
        self.first_wave = float(ends[self.sms - 1])
        self.guard(
            ends[-1] - self.first_wave > 0.85 * self.first_wave, "the second wave takes almost as long"
        )
        self.idle = self.sms - self.left

        report = self.report("wave_quantization")
        rows = [row for row in report["rows"] if row["schedule"] == SCHEDULE]
        self.points = sorted((int(row["tiles"]), float(row["us"])) for row in rows)
        self.guard(len(self.points) > 2 and few == self.sms, "a growing product was timed")
        self.steps = steps(self.points, self.sms)
        shares = [share for _, share in self.steps]
        self.guard(len(shares) >= 3 and shares == sorted(shares, reverse=True), "each step matters less")
        self.guard(0.8 < shares[0] < 1.1, "the first step nearly doubles the time")
        inside = [
            b / a - 1 for (n, a), (m, b) in pairwise(self.points) if -(-n // self.sms) == -(-m // self.sms)
        ]
        self.guard(max(inside) < 0.5 * shares[-1], "time hardly changes between two steps")

    def construct(self) -> None:
        self.ask("A tile is a piece of a matrix that one processor computes at a time.")
        self.two_products()
        self.one_wave()
        self.together()
        self.a_second_wave()
        self.it_grows()

    def two_products(self) -> None:
        """Both results in tiles, on one scale; the column that only one of them has is lit."""
        left, right = self.halves(self.few / (self.few + self.many))
        first = self.tiles(self.one.problem, left, tr("{n} tiles", n=self.few))
        names = [self.title_of_tiles]
        second = self.tiles(self.two.problem, right, tr("{n} tiles", n=self.many))
        names.append(self.title_of_tiles)
        # One scale for both.
        size = second[0].width / first[0].width
        first.scale(size) if size < 1 else second.scale(1 / size)
        second.match_y(first) if not self.narrow else None
        for name, tiles in zip(names, (first, second), strict=True):
            name.next_to(tiles, UP, px(24), aligned_edge=LEFT)
        columns = self.two.problem.tiles_n
        added = VGroup(*(tile for n, tile in enumerate(second) if n % columns >= self.one.problem.tiles_n))
        self.say("Here are two matrix products: one has {few} tiles, the other {many}, {more:.0%} more.")
        self.play(*self.appear(first, names[0]))
        self.play(*self.appear(second, names[1]))
        hue = ManimColor(self.hue)
        more = label(tr("{n} tiles more", n=self.left), 46).next_to(second, DOWN, px(24), aligned_edge=RIGHT)
        self.play(*(tile.animate.set_fill(hue) for tile in added), FadeIn(more), run_time=0.6)
        self.wait(0.8)
        self.leave(first, second, more, *names)

    def one_wave(self) -> None:
        """132 tiles of the larger product leave C, and 12 stay."""
        left, right = self.halves(0.52)
        tiles, boxes = self.tiles(self.two.problem, left), self.boxes(self.sms, right)
        holes = VGroup(*(tile.copy().set_fill(ManimColor(self.theme.idle)) for tile in tiles))
        self.say("The GPU has {sms} processors, called SMs. Each computes one tile at a time.")
        self.play(*self.appear(tiles, boxes, self.title_of_tiles, self.title_of_boxes))
        self.wait(0.8)
        order = in_turn(self.two)
        self.add(holes, boxes, tiles)
        self.say("So the GPU computes {sms} tiles at once. That is called a wave. {left} tiles are left.")
        self.play(self.fly([tiles[tile] for tile in order[: self.sms]], boxes, 3.2))
        count = self.bold("{many} − {sms} = {left}", 56).next_to(holes, DOWN, px(24))
        stay = [tiles[tile].animate.set_fill(ManimColor(self.hue)) for tile in order[self.sms :]]
        self.play(FadeIn(count), *stay, run_time=0.6)
        self.leave(tiles, holes, boxes, count, self.title_of_tiles, self.title_of_boxes)

    def together(self) -> None:
        """Both runs in rows, on one clock, until the smaller product is done."""
        self.badge(of_trace(self.two))
        longest = float(self.two.makespan)
        key = self.key(*self.phases("launch", "first load", "multiply", "write"))
        area = self.area._replace(bottom=self.floor)
        middle = (area.top + area.bottom) / 2
        halves = area._replace(bottom=middle + px(10)), area._replace(top=middle - px(10))
        self.pair = []
        for run, half in zip((self.one, self.two), halves, strict=True):
            title = tr("{n} tiles: each thin row is an SM, time runs to the right", n=run.problem.tiles)
            self.pair.append(self.rows(run, half, title, longest))
        self.ticking = self.clock(longest)
        self.moving = (self.ticking, *(lanes for lanes, _ in self.pair))
        self.say(
            "Both start with one full wave. Then the smaller product is done, after {us:.1f} µs.",
            us=self.us[0],
        )
        self.play(*key, *self.appear(*(one for run in self.pair for one in run), self.ticking))
        self.play(PlayTrace(*self.moving, until=float(self.one.makespan), run_time=4.2))
        self.end_of_one = self.ends(self.pair[0][0], self.us[0])
        waves = VGroup()
        for lanes, _ in self.pair:
            wave = label(tr("first wave"), 46, ink_on(self.hue), bold=True)
            waves.add(wave.move_to([lanes.x(self.first_wave / 2), lanes.get_y(), 0]))
        self.first_waves = waves
        self.play(FadeIn(self.end_of_one, waves))
        self.wait(0.5)

    def a_second_wave(self) -> None:
        """12 rows go on, and 120 are dark."""
        (upper, upper_title), (lower, lower_title) = self.pair
        self.say("The second needs another wave for its last {left} tiles: almost as long again.")
        self.play(PlayTrace(*self.moving, until=float(self.two.makespan), run_time=4.2))
        end = self.ends(lower, self.us[1])
        self.play(FadeIn(end))
        self.wait(0.4)
        words = self.tr("second wave: {idle} SMs have no tile")
        note = self.note_in(lower, self.first_wave, self.left / self.sms, 1.0, words)
        self.say("The other {idle} SMs cannot help, because each tile is computed by one SM alone.")
        dimmed = (upper, upper_title, self.end_of_one, self.first_waves[0])
        self.play(*(Fade(one, 1.0, DIMMED) for one in dimmed), FadeIn(note))
        self.wait(1.5)
        self.let_read()
        leaving = (*dimmed, lower, lower_title, end, note, self.first_waves[1], self.ticking)
        self.play(*map(Leave, leaving), *self.key())

    def plot(self) -> tuple[Plot, VGroup]:
        """Axes of tiles and µs, with their names."""
        area = self.area
        most, slowest = self.points[-1][0], max(us for _, us in self.points)
        top = EVERY * (1 + int(slowest // EVERY))
        plot = Plot(
            (0, most), (0, top), range(0, most + 1, self.sms), range(0, top + 1, EVERY),
            area.width - px(140), area.height - px(190), size=38,
        )  # fmt: skip
        corner = [area.right - px(20), area.bottom + px(120), 0]
        plot.shift(corner - plot.ground.get_corner(RIGHT + DOWN))
        across = self.word("tiles of the product (a wave is {sms})", 42, self.theme.text)
        up = self.word("time in µs", 42, self.theme.text)
        across.next_to(plot.ground, DOWN, px(72))
        up.next_to(plot.ground, UP, px(16), aligned_edge=LEFT)
        return plot, VGroup(across, up)

    def it_grows(self) -> None:
        """The time of a product that grows climbs in steps."""
        self.badge(self.measured())
        plot, names = self.plot()
        curve = Curve(plot, self.points, self.hue, 9)
        self.say("As a product grows, its time climbs in steps, one for each new wave.")
        self.play(*self.appear(plot, names))
        self.play(PlayTrace(curve, until=float(self.points[-1][0]), run_time=5.4))
        self.say("The first step nearly doubles the time. Later, one more wave matters less.")
        marks = VGroup()
        for wave, share in self.steps:
            tiles = (wave - 1) * self.sms
            us = np.mean([us for n, us in self.points if n > tiles][:2])
            mark = self.bold("+{share:.0%}", 50, share=share)
            marks.add(mark.next_to(plot.at(tiles, us), UP, px(24)))
        self.play(FadeIn(marks, lag_ratio=0.5, run_time=3.2))
        self.wait(1.0)
        self.leave(plot, names, curve, marks)
        self.close(
            "On an H200, {many} tiles take {times:.1f} times as long as {few}, "
            "because the GPU's {sms} SMs need a second wave for the last {left}.",
            [(tr("{n} tiles", n=self.many), self.us[1]), (tr("{n} tiles", n=self.few), self.us[0])],
            "times",
            "{:.1f} µs",
            of_trace(self.two),
            tr("Tiles of 128 × 256 numbers, each a sum of 4096 products of 16-bit numbers."),
        )
