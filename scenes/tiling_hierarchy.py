"""Tiling: why does a GPU multiply matrices in tiles?

manim render scenes/tiling_hierarchy.py

One product with tiles of two sizes: how often each loaded number is used, how long the product takes, how
much of that time is multiplying, and what the L2 sends meanwhile. It shows the tiles that an SM computes.
"""

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, GrowFromEdge, LaggedStart, ManimColor, VGroup

from tilesim import Problem
from tilesim.devices.gpus import preset_of
from tilesim.devices.presets import presets
from tilesim_scenes.animations.fade import FadeIn, Leave
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import Colour, ink_on, mixed
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Tiling",
    "question": "Why does a GPU multiply matrices in tiles?",
    "finding": (
        "With larger tiles, each loaded number is used more often. The L2 has less to send, "
        "and an H200 needs half the time."
    ),
    "part": "Memory",
    "place": 80,
    "seconds": 77,
    "shows": "One matrix product with small and with large tiles: what is loaded, and the time.",
    "takes": "report",
}
CORES = 4
"""Tensor cores of an SM; the counter adds up their cycles."""


class TilingHierarchy(Lesson):
    """What a larger tile saves."""

    def prepare(self) -> None:
        report = self.report("tiling_hierarchy")
        rows = [report["products"][0], report["products"][-1]]
        self.gpu = report["machine"]["gpu"]
        self.guard("H200" in self.gpu, "the product ran on an H200")
        self.problems = [Problem(row["m"], row["n"], row["k"], tuple(row["tile"])) for row in rows]
        self.size = self.problems[0].m
        self.guard(all(one.m == one.n == one.k == self.size for one in self.problems), "it is one product")
        self.us = [row["us"] for row in rows]
        self.guard(0.45 < self.us[1] / self.us[0] < 0.55, "large tiles take about half the time")
        self.shares = [row["tensor_cycles"] / (CORES * row["sm_cycles"]) for row in rows]
        self.guard(self.shares[0] < 0.5 < 0.8 < self.shares[1], "only with small tiles is most of it waiting")
        self.multiplying = [us * share for us, share in zip(self.us, self.shares, strict=True)]
        self.slower = 1 - self.multiplying[0] / self.multiplying[1]
        self.guard(0 < self.slower < 0.1, "multiplying takes about the same time")
        self.guard(rows[0]["tensor_cycles"] == rows[1]["tensor_cycles"], "both multiply for as many cycles")
        self.sent = [row["l2_bytes"] / row["us"] / 1e6 for row in rows]
        known = presets()[preset_of(self.gpu)]
        self.most = known["l2_gb_per_s"] / 1000
        self.guard(0.95 * self.most < self.sent[0] < self.most, "in small tiles the L2 sends what it can")
        self.guard(self.sent[1] < 0.7 * self.most, "in large tiles it could send much more")

    def construct(self) -> None:
        self.faint = mixed(self.theme.idle, self.hue, 0.25)
        self.ask("A tile is a rectangular part of the result, computed by one of the GPU’s processors.")
        self.one_number()
        self.reuse()
        self.loads()
        self.timed()
        self.cause()
        self.close(
            "With larger tiles, each loaded number is used more often. The L2 has less to send, "
            "and an H200 needs half the time.",
            list(zip(self.names(), self.us, strict=True)),
            "less time",
            "{:.0f} µs",
            self.measured(),
            tr("{n} × {n} numbers, each a sum of {n} products of 16-bit numbers", n=self.size),
        )

    def picture(self, rows: float, columns: float, strips: Colour) -> VGroup:
        """A strip of A, a strip of B and the part of C that they make; shares of the side of C."""
        area = self.area
        square = self.narrow and not self.tall
        side = min(0.41 * area.height, (0.165 if square else 0.24) * area.width)
        gap = px(24)
        c, a, b = (rectangle(side, side, self.theme.idle) for _ in range(3))
        a.next_to(c, LEFT, gap)
        b.next_to(c, UP, gap)
        corner = c.get_corner(UP + LEFT) + 0.3 * side * RIGHT + 0.3 * side * DOWN
        part = rectangle(columns * side, rows * side, self.hue).move_to(corner, UP + LEFT)
        strip_a = rectangle(a.width, part.height, strips).move_to([a.get_x(), part.get_y(), 0])
        strip_b = rectangle(part.width, b.height, strips).move_to([part.get_x(), b.get_y(), 0])
        letters = VGroup(*(label(one, 48, bold=True) for one in "ABC"))
        letters[0].next_to(a, LEFT, px(20))
        letters[1].next_to(b, RIGHT, px(20))
        letters[2].next_to(c, RIGHT, px(20))
        made = VGroup(VGroup(a, b, c, letters), VGroup(strip_a, strip_b), part)
        place = area.center + (0.2 * area.width * LEFT if not self.narrow else 0.14 * area.height * UP)
        made.move_to(place)
        return made.align_to([0, area.top, 0], UP) if square else made

    def beside(self, picture: VGroup, *texts: str) -> VGroup:
        """Lines of words beside the picture, or below it."""
        area = self.area
        room = area.width if self.narrow else area.right - picture.get_right()[0] - px(40)
        words = VGroup(*(lines(text, 46, room, color=self.theme.text) for text in texts))
        words.arrange(DOWN, buff=px(36), aligned_edge=LEFT)
        if self.narrow:
            words.arrange(DOWN, buff=px(22), aligned_edge=LEFT).next_to(picture, DOWN, px(24))
            return fit(words, room, words.get_top()[1] - self.floor).next_to(picture, DOWN, px(24))
        return words.move_to([picture.get_right()[0] + px(40), area.center[1], 0], LEFT)

    def one_number(self) -> None:
        self.badge(Badge(tr("schematic"), "model"))
        self.say(
            "Each number in C is a sum of {n} products, from one row of A and one column of B.", n=self.size
        )
        picture = self.picture(0.03, 0.03, self.hue)
        words = self.beside(
            picture,
            tr("C = A × B, each {n} × {n}", n=self.size),
            tr("one number of C: {n} products", n=self.size),
            tr("{n} numbers from a cache, the L2", n=2 * self.size),
        )
        self.play(FadeIn(picture[0], words[0]))
        self.play(LaggedStart(FadeIn(picture[1]), FadeIn(picture[2], words[1]), lag_ratio=0.7, run_time=2.0))
        self.say("If a processor computes just one number of C, it uses each loaded number only once.")
        self.play(FadeIn(words[2]))
        self.leave(picture[1:], words)
        self.matrices = picture[0]

    def reuse(self) -> None:
        """Tiles of two sizes: what each needs of A and B, and how often it uses each number of it."""
        small, large = self.problems
        key = self.key(
            Entry(tr("rows of A and columns of B that the tile needs"), [self.faint]),
            Entry(tr("the tile, and {k} columns and rows in use", k=small.tile_k), [self.hue]),
        )
        first, words = self.tile(small, 0.15)
        self.say(
            "For a tile of {m} × {n}, a processor loads pieces into its own memory "
            "and uses each number {m} times.",
            m=small.tile_m, n=small.tile_n,
        )  # fmt: skip
        self.play(FadeIn(first, words[0]), *key, run_time=0.8)
        self.add_up(first, words, 5.2)
        self.say("The tile beside it needs the same rows. If both ask at once, the L2 sends them only once.")
        beside = VGroup(first[0][1], first[1]).copy().shift((first[1].width + px(8)) * RIGHT)
        self.add_up(VGroup(VGroup(first[0][0], VGroup(first[0][1], beside[0]))), VGroup(words, beside), 4.5)
        self.let_read()
        self.play(*map(Leave, (first, beside, words)), run_time=0.5)
        self.say("Larger tiles use each number more often, but the processor has to hold all of their sums.")
        second, words = self.tile(large, 0.3)
        self.play(FadeIn(second, words[0]), run_time=0.5)
        self.add_up(second, words, 4.0)
        self.let_read()
        self.play(*map(Leave, (self.matrices, second, words)), *self.key())

    def tile(self, one: Problem, rows: float) -> tuple[VGroup, VGroup]:
        """A tile in C with its rows of A and columns of B, faint, and what is said of it."""
        picture = self.picture(rows, rows * one.tile_n / one.tile_m, self.faint)
        words = self.beside(
            picture,
            tr("tile of {m} × {n}, enlarged", m=one.tile_m, n=one.tile_n),
            tr("a number of A serves {n} columns", n=one.tile_n),
            tr("a number of B serves {m} rows", m=one.tile_m),
        )
        return picture[1:], words

    def add_up(self, parts: VGroup, words: VGroup, seconds: float) -> None:
        """The pieces of A and B that are in use go to the ends of their strips."""
        rows, columns = parts[0]
        across = rectangle(px(16), rows.height, self.hue).move_to(rows, LEFT)
        down = rectangle(columns.width, px(16), self.hue).move_to(columns, UP).set_z_index(1)
        self.add(across, down)
        self.play(
            across.animate(run_time=seconds).move_to(rows, RIGHT),
            down.animate(run_time=seconds).move_to(columns, DOWN),
            LaggedStart(*map(FadeIn, words[1:]), lag_ratio=0.8, run_time=0.6 * seconds),
        )
        self.remove(across, down)

    def names(self) -> list[str]:
        return [tr("tiles of {m} × {n}", m=one.tile_m, n=one.tile_n) for one in self.problems]

    def chart(self, title: str, amounts: list[Amount]) -> VGroup:
        heading = lines(title, 48, self.area.width, color=self.theme.text, bold=True)
        bars = Amounts(amounts, self.area.width)
        picture = VGroup(heading, bars).arrange(DOWN, buff=px(34), aligned_edge=LEFT)
        fit(picture, np.inf, 0.94 * (self.area.top - self.floor))
        return picture.move_to([self.area.center[0], (self.area.top + self.floor) / 2, 0])

    def loads(self) -> None:
        """How many numbers are loaded for each number of the result."""
        self.badge(Badge(tr("calculated"), "model"))
        sizes = [(1, 1), *((one.tile_m, one.tile_n) for one in self.problems)]
        counts = [self.size // m + self.size // n for m, n in sizes]
        names = [tr("one number at a time"), *self.names()]
        amounts = [
            Amount(
                f"{name}: {self.size} / {n} + {self.size} / {m}", [(count, self.theme.text)], f"{count}", True
            )
            for name, count, (m, n) in zip(names, counts, sizes, strict=True)
        ]
        chart = self.chart(tr("numbers of A and of B that are loaded for each number of C"), amounts)
        self.say(
            "With tiles of {m} × {n}, each number of C takes only {few} loads instead of {all}.",
            m=sizes[-1][0], n=sizes[-1][1], few=counts[-1], all=counts[0],
        )  # fmt: skip
        self.play(FadeIn(chart[0], run_time=0.3), chart[1].come().set_run_time(3.5))
        self.leave(chart)

    def timed(self) -> None:
        """How long the product took with tiles of both sizes, and the part of it that is multiplying."""
        self.badge(self.measured())
        key = self.key(
            Entry(self.tr("multiplying, at a clock {slower:.0%} lower with large tiles"), [self.hue]),
            Entry(tr("not multiplying"), [self.theme.idle]),
        )
        amounts = [
            Amount(name, [(us, self.theme.measured)], tr("{us:.0f} µs", us=us))
            for name, us in zip(self.names(), self.us, strict=True)
        ]
        chart = self.chart(tr("time for the whole product"), amounts)
        self.say("On an H200, large tiles halve the time.")
        self.play(FadeIn(chart[0], run_time=0.3), chart[1].come().set_run_time(3.0))
        self.say(
            "The multiplying itself takes about the same time. "
            "With small tiles, nothing is multiplied for more than half of the time."
        )
        parts = VGroup()
        for bar, us in zip(chart[1].bars, self.multiplying, strict=True):
            part = rectangle(us * chart[1].scale_of, bar.height, self.hue).move_to(bar, LEFT)
            word = label(tr("{us:.0f} µs", us=us), 44, ink_on(self.hue), bold=True)
            parts.add(VGroup(part, fit(word, 0.94 * part.width).move_to(part)))
        idle = chart[1].bars.animate(run_time=0.5).set_fill(ManimColor(self.theme.idle))
        self.play(*key, idle, *(GrowFromEdge(part, LEFT, run_time=1.4) for part in parts))
        self.let_read()
        self.play(Leave(chart), Leave(parts), *self.key())

    def cause(self) -> None:
        """What the L2 sent each second, beside the most that it can send."""
        names = [tr("highest rate measured while only loading")]
        for name, one, tb, us in zip(self.names(), self.problems, self.sent, self.us, strict=True):
            names.append(tr("{name}: {asked:.2f} GB asked for, {gb:.2f} GB sent in {us:.0f} µs",
                name=name, asked=one.requested_bytes / 1e9, gb=tb * us / 1000, us=us))  # fmt: skip
        colors = self.theme.quiet, self.theme.measured, self.theme.measured
        amounts = [
            Amount(name, [(tb, color)], tr("{tb:.1f} TB/s", tb=tb))
            for name, tb, color in zip(names, (self.most, *self.sent), colors, strict=True)
        ]
        chart = self.chart(tr("sent by the L2"), amounts)
        self.say(
            "With small tiles, the L2 sends nearly all it can, so processors wait. "
            "Large tiles need less data."
        )
        self.play(FadeIn(chart[0], run_time=0.3), chart[1].come().set_run_time(4.0))
        self.leave(chart)
