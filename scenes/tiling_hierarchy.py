"""Tiling: why does a GPU multiply matrices in tiles?

manim render scenes/tiling_hierarchy.py

One product in tiles of four sizes: how often each loaded number is used, how many bytes the L2 sends for all
tiles, and whether that or multiplying takes longer. It shows tiles of one level, those that an SM computes.
"""

from itertools import pairwise

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, FadeIn, LaggedStart, VGroup

from tilesim import Problem
from tilesim.devices.gpus import preset_of
from tilesim.devices.presets import presets
from tilesim.problems import DTYPE_BYTES
from tilesim_scenes.animations.fade import Fade, Leave, late
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.words.badge import Badge

FILM = {
    "title": "Tiling",
    "question": "Why does a GPU multiply matrices in tiles?",
    "finding": (
        "On an H200, a matrix product takes 50% less time in tiles of 128 × 256 than in tiles of 64 × 64."
    ),
    "part": "Memory",
    "place": 80,
    "seconds": 81,
    "shows": "One matrix product in tiles of four sizes: the bytes that are loaded, and the time.",
    "takes": "report",
}
REGISTERS_KB = 256
"""Of an SM, in all: CUDA C++ Programming Guide, compute capability 9.0."""
BYTES = DTYPE_BYTES["bf16"]
"""Of a number of A or B."""
SUM = 4
"""Bytes of a number of C while it is summed."""
CORES = 4
"""Tensor cores of an SM; the counter adds up their cycles."""


class TilingHierarchy(Lesson):
    """What a larger tile saves, and what ends its growth."""

    def prepare(self) -> None:
        report = self.report("tiling_hierarchy")
        rows = report["products"]
        self.gpu = report["machine"]["gpu"]
        self.guard("H200" in self.gpu, "the product ran on an H200")
        self.problems = [Problem(row["m"], row["n"], row["k"], tuple(row["tile"])) for row in rows]
        self.size = self.problems[0].m
        self.guard(all(one.m == one.n == one.k == self.size for one in self.problems), "it is one product")
        self.us = [row["us"] for row in rows]
        self.sent = [row["l2_bytes"] / 1e9 for row in rows]
        less = [a > b for sizes in (self.us, self.sent) for a, b in pairwise(sizes)]
        self.guard(all(less), "larger tiles load less and take less time")
        shares = [row["tensor_cycles"] / (CORES * row["sm_cycles"]) for row in rows]
        self.multiplying = [us * share for us, share in zip(self.us, shares, strict=True)]
        self.l2_tb = presets()[preset_of(self.gpu)]["l2_gb_per_s"] / 1000
        self.loading = [1000 * gb / self.l2_tb for gb in self.sent]
        self.guard(
            0.95 * self.us[0] < self.loading[0] < self.us[0], "loading sets the time of the smallest tiles"
        )
        self.guard(
            self.loading[-1] < self.multiplying[-1] < self.us[-1], "multiplying sets that of the largest"
        )
        self.guard(max(self.multiplying) < 1000, "multiplying takes less than a millisecond")
        self.element_gb = 2 * self.size**3 * BYTES / 1e9
        (m, n, _) = self.problems[-1].tile
        self.sums_kb = m * n * SUM // 1024
        self.guard(self.sums_kb * 2 == REGISTERS_KB, "the sums of the largest tile take half the registers")

    def construct(self) -> None:
        self.ask("A tile is a rectangle of the result. The L2 is a cache that all processors share.")
        self.one_number()
        self.reuse()
        self.bytes_needed()
        self.timed()
        self.not_larger()
        small, large = self.problems[0].tile, self.problems[-1].tile
        self.close(
            "On an H200, a matrix product takes {less:.0%} less time "
            "in tiles of {c} × {d} than in tiles of {a} × {b}.",
            [(f"{small[0]} × {small[1]}", self.us[0]), (f"{large[0]} × {large[1]}", self.us[-1])],
            "less time",
            "{:.0f} µs",
            self.measured(),
            tr("{n} × {n} numbers, each a sum of {n} products of 16-bit numbers", n=self.size),
            a=small[0], b=small[1], c=large[0], d=large[1],
        )  # fmt: skip

    def picture(self, rows: float, columns: float) -> VGroup:
        """A strip of A, a strip of B and the part of C that they make; shares of the side of C."""
        area = self.area
        square = self.narrow and not self.tall
        side = min(0.44 * area.height, (0.165 if square else 0.24) * area.width)
        gap = px(24)
        c, a, b = (rectangle(side, side, self.theme.idle) for _ in range(3))
        a.next_to(c, LEFT, gap)
        b.next_to(c, UP, gap)
        corner = c.get_corner(UP + LEFT) + 0.3 * side * RIGHT + 0.3 * side * DOWN
        part = rectangle(columns * side, rows * side, self.hue).move_to(corner, UP + LEFT)
        strip_a = rectangle(a.width, part.height, self.hue).move_to([a.get_x(), part.get_y(), 0])
        strip_b = rectangle(part.width, b.height, self.hue).move_to([part.get_x(), b.get_y(), 0])
        letters = VGroup(*(label(one, 48, bold=True) for one in "ABC"))
        letters[0].next_to(a, DOWN, px(16))
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
            return words.next_to(picture, DOWN, px(30))
        return words.move_to([picture.get_right()[0] + px(40), area.center[1], 0], LEFT)

    def one_number(self) -> None:
        self.badge(Badge(tr("schematic"), "model"))
        self.say(
            "Each number in C is a sum of {n} products, from one row of A and one column of B.", n=self.size
        )
        picture = self.picture(0.02, 0.02)
        words = self.beside(
            picture,
            tr("C = A × B, each {n} × {n}", n=self.size),
            tr("one number of C: {n} products", n=self.size),
            tr("{n} numbers loaded for it", n=2 * self.size),
        )
        self.play(FadeIn(picture[0], words[0]))
        self.play(LaggedStart(FadeIn(picture[1]), FadeIn(picture[2], words[1]), lag_ratio=0.7, run_time=2.0))
        self.say("A processor that computes just one number uses every number it loads only once.")
        self.play(FadeIn(words[2]))
        loads = self.beside(
            picture,
            tr("numbers of C: {all:.1f} million", all=self.size**2 / 1e6),
            tr("× {n} loads × {size} bytes: {gb:.0f} GB", n=2 * self.size, size=BYTES, gb=self.element_gb),
            tr("the L2 sends {tb:.1f} TB/s: {ms:.0f} ms", tb=self.l2_tb, ms=self.element_gb / self.l2_tb),
        )
        self.say(
            "For all of C, the L2 would have to send for {ms:.0f} ms. Multiplying takes less than 1 ms.",
            ms=self.element_gb / self.l2_tb,
        )
        self.play(Leave(words), Fade(loads, 0.0, 1.0, 0.6, rate_func=late))
        self.leave(picture[1:], loads)
        self.matrices = picture[0]

    def reuse(self) -> None:
        """Tiles of two sizes: what each needs of A and B, and how often it uses each number of it."""
        small, large = self.problems[0], self.problems[-1]
        first, words = self.tile(small, 0.15)
        self.say(
            "A processor that computes a tile of {m} × {n} uses every number it loads {m} times.",
            m=small.tile_m, n=small.tile_n,
        )  # fmt: skip
        self.play(FadeIn(first, words[0]), run_time=0.8)
        self.add_up(first, words, 4.8)
        self.let_read()
        self.play(*map(Leave, (first, words)), run_time=0.5)
        self.say("The larger the tile, the more often each number is used.")
        second, words = self.tile(large, 0.3)
        self.play(FadeIn(second, words[0]), run_time=0.5)
        self.add_up(second, words, 3.2)
        self.leave(self.matrices, second, words)

    def tile(self, one: Problem, rows: float) -> tuple[VGroup, VGroup]:
        """A tile in C with its rows of A and columns of B, faint, and what is said of it."""
        picture = self.picture(rows, rows * one.tile_n / one.tile_m)
        for part in (*picture[1], picture[2]):
            part.set_fill(opacity=0.25)
        words = self.beside(
            picture,
            tr("tile of {m} × {n}, not to scale", m=one.tile_m, n=one.tile_n),
            tr("each number of A is used {n} times", n=one.tile_n),
            tr("each number of B is used {m} times", m=one.tile_m),
        )
        return picture[1:], words

    def add_up(self, parts: VGroup, words: VGroup, seconds: float) -> None:
        """Slices of A and B go to the ends of their strips, and the sums of the tile grow meanwhile."""
        (rows, columns), sums = parts
        across = rectangle(px(16), rows.height, self.hue).move_to(rows, LEFT)
        down = rectangle(columns.width, px(16), self.hue).move_to(columns, UP)
        self.add(across, down)
        self.play(
            across.animate.move_to(rows, RIGHT),
            down.animate.move_to(columns, DOWN),
            sums.animate.set_fill(opacity=1.0),
            LaggedStart(*map(FadeIn, words[1:]), lag_ratio=0.5),
            run_time=seconds,
        )
        self.remove(across, down)

    def names(self) -> list[str]:
        return [tr("tiles of {m} × {n}", m=one.tile_m, n=one.tile_n) for one in self.problems]

    def chart(self, title: str, amounts: list[Amount]) -> VGroup:
        heading = lines(title, 48, self.area.width, color=self.theme.text, bold=True)
        bars = Amounts(amounts, self.area.width, bar=60, gap=26)
        picture = VGroup(heading, bars).arrange(DOWN, buff=px(34), aligned_edge=LEFT)
        fit(picture, np.inf, 0.94 * (self.area.top - self.floor))
        return picture.move_to([self.area.center[0], (self.area.top + self.floor) / 2, 0])

    def bytes_needed(self) -> None:
        """What the L2 sent, in tiles of all sizes."""
        self.badge(self.counted())
        amounts = [
            Amount(name, [(gb, self.theme.measured)], tr("{gb:.1f} GB", gb=gb))
            for name, gb in zip(self.names(), self.sent, strict=True)
        ]
        chart = self.chart(
            tr("sent by the L2; processors that ask for the same at once share an answer"), amounts
        )
        self.say(
            "In tiles of {m} × {m}, the L2 sends {few:.1f} GB instead of {all:.0f}. Larger tiles need less.",
            all=self.element_gb,
            few=self.sent[0],
            m=self.problems[0].tile_m,
        )
        self.play(FadeIn(chart[0], run_time=0.3), chart[1].come().set_run_time(5.0))
        self.leave(chart)

    def timed(self) -> None:
        """How long the GPU took with the smallest and largest tiles, and what that is made of."""
        self.badge(self.measured())
        amounts = []
        for n, name in ((0, self.names()[0]), (-1, self.names()[-1])):
            amounts += [
                Amount(name, [(self.us[n], self.theme.measured)], tr("{us:.0f} µs", us=self.us[n])),
                Amount(
                    tr("loading: {gb:.1f} GB at {tb:.1f} TB/s", gb=self.sent[n], tb=self.l2_tb),
                    [(self.loading[n], self.theme.text)],
                    tr("{us:.0f} µs", us=self.loading[n]),
                    computed=True,
                ),
                Amount(
                    tr("multiplying"),
                    [(self.multiplying[n], self.hue)],
                    tr("{us:.0f} µs", us=self.multiplying[n]),
                ),
            ]
        chart = self.chart(tr("time for the whole product"), amounts)
        self.say(
            "Loading and multiplying overlap. With tiles of {m} × {m}, loading takes longer, "
            "and sets the time.",
            m=self.problems[0].tile_m,
        )
        self.play(FadeIn(chart[0], run_time=0.3), chart[1].come(0, 1, 2).set_run_time(4.0))
        self.say(
            "With tiles of {m} × {n}, loading is so much faster that multiplying sets the time.",
            m=self.problems[-1].tile_m,
            n=self.problems[-1].tile_n,
        )
        self.play(chart[1].come(3, 4, 5).set_run_time(4.0))
        self.leave(chart)

    def not_larger(self) -> None:
        """The sums of a tile lie in the registers of an SM."""
        self.badge(Badge(tr("model"), "model"))
        m, n, _ = self.problems[-1].tile
        hue, idle = self.hue, self.theme.idle
        amounts = [
            Amount(
                tr("{m} × {n} sums, {size} bytes each for precision", m=rows, n=n, size=SUM),
                [(kb, hue), (REGISTERS_KB - kb, idle)],
                tr("{kb} of {all} KB", kb=kb, all=REGISTERS_KB),
            )
            for rows, kb in ((m, self.sums_kb), (2 * m, 2 * self.sums_kb))
        ]
        chart = self.chart(tr("registers of one processor"), amounts)
        self.say(
            "Why not go even larger? All sums of a tile must fit in the processor's registers, "
            "its fastest memory."
        )
        self.play(FadeIn(chart[0], run_time=0.3), chart[1].come(0).set_run_time(3.4))
        self.say("A tile twice as large would fill all registers, with no room for anything else.")
        self.play(chart[1].come(1).set_run_time(2.6))
        self.leave(chart)
