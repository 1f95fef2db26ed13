"""Tiling hierarchy: why does a GPU multiply matrices in tiles?

manim render scenes/tiling_hierarchy.py

One product in tiles of four sizes: how often each loaded number is used, how many bytes all tiles load, and
how long the product takes.
"""

from itertools import pairwise

from manim import DOWN, LEFT, RIGHT, UP, FadeIn, FadeOut, LaggedStart, VGroup

from tilesim import Problem
from tilesim.problems import DTYPE_BYTES
from tilesim_scenes.film.settings import REPORT
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.words.badge import Badge

FILM = {
    "title": "Tiling hierarchy",
    "question": "Why does a GPU multiply matrices in tiles?",
    "part": "Memory",
    "place": 80,
    "seconds": 67,
    "shows": "One matrix product in tiles of four sizes: the bytes that are loaded, and the time.",
    "takes": "report",
}
REGISTERS_KB = 256
"""Of an SM, in all: CUDA C++ Programming Guide, compute capability 9.0."""
SUM = 4
"""Bytes of a number of C while it is summed."""


class TilingHierarchy(Lesson):
    """What a larger tile saves, and what ends its growth."""

    asked = REPORT

    def prepare(self) -> None:
        report = self.report("tiling_hierarchy")
        rows = report["products"]
        self.gpu = report["machine"]["gpu"]
        self.guard("H200" in self.gpu, "the product ran on an H200")
        self.problems = [Problem(row["m"], row["n"], row["k"], tuple(row["tile"])) for row in rows]
        self.size = self.problems[0].m
        self.guard(all(one.m == one.n == one.k == self.size for one in self.problems), "it is one product")
        self.us = [row["us"] for row in rows]
        self.counted = [row["l2_bytes"] / 1e9 for row in rows]
        self.needed = [one.requested_bytes / 1e9 for one in self.problems]
        less = [a > b for sizes in (self.us, self.counted) for a, b in pairwise(sizes)]
        self.guard(all(less), "larger tiles load less and take less time")
        self.guard(all(a >= b for a, b in zip(self.needed, self.counted, strict=True)), "no byte comes twice")
        self.element_gb = 2 * self.size**3 * DTYPE_BYTES["bf16"] / 1e9
        (m, n, _) = self.problems[-1].tile
        self.sums_kb = m * n * SUM // 1024
        self.guard(self.us[0] / self.us[-1] < self.needed[0] / self.needed[-1], "time falls less than bytes")
        self.guard(self.element_gb / self.needed[0] == self.problems[0].tile_m, "tiles load a share of that")
        self.guard(self.sums_kb * 2 == REGISTERS_KB, "the sums of the largest tile take half the registers")

    def construct(self) -> None:
        self.hue = self.theme.by_phase["multiply"]
        self.ask("A tile is a rectangle of the result that one processor computes.")
        self.one_number()
        self.a_small_tile()
        self.bytes_needed()
        self.timed()
        self.not_larger()
        small, large = self.problems[0].tile, self.problems[-1].tile
        self.close(
            "On an H200, a matrix product takes {times:.1f} times as long "
            "in tiles of {a} × {b} as in tiles of {c} × {d}.",
            [(f"{small[0]} × {small[1]}", self.us[0]), (f"{large[0]} × {large[1]}", self.us[-1])],
            "times",
            "{:.0f} µs",
            Badge(tr("measured on {gpu}", gpu=self.gpu), "measured"),
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
            "A number of the matrix C is the sum of {n} products, of a row of A and a column of B.",
            n=self.size,
        )
        picture = self.picture(0.012, 0.012)
        words = self.beside(
            picture,
            tr("C = A × B, each {n} × {n}", n=self.size),
            tr("one number of C: {n} products", n=self.size),
            tr("{n} numbers loaded for it", n=2 * self.size),
        )
        self.play(FadeIn(picture[0]))
        self.play(LaggedStart(FadeIn(picture[1]), FadeIn(picture[2]), lag_ratio=0.7, run_time=3.0))
        self.play(FadeIn(words))
        self.say("If a processor computes one number of C, it uses each number that it loads only once.")
        self.first, self.words = picture, words

    def a_small_tile(self) -> None:
        """The same strips, wider: each number in them is used for a row or a column of the tile."""
        picture = self.picture(0.16, 0.16)
        words = self.uses(picture, self.problems[0])
        self.say("If it computes a whole tile, it uses each number for a whole row or column of the tile.")
        self.play(
            *(old.animate.become(new) for old, new in zip(self.first, picture, strict=True)),
            FadeOut(self.words),
            run_time=2.4,
        )
        self.play(FadeIn(words))
        larger = self.picture(0.28, 0.56)
        others = self.uses(larger, self.problems[-1])
        self.say("In a larger tile, each number is used more often.")
        self.play(
            *(old.animate.become(new) for old, new in zip(self.first, larger, strict=True)),
            FadeOut(words),
            run_time=2.4,
        )
        self.play(FadeIn(others))
        self.leave(self.first, others)

    def uses(self, picture: VGroup, problem: Problem) -> VGroup:
        """How often a tile uses each number that was loaded, beside its picture."""
        m, n, _ = problem.tile
        return self.beside(
            picture,
            tr("tile of {m} × {n}, drawn enlarged", m=m, n=n),
            tr("each number of A is used {n} times", n=n),
            tr("each number of B is used {m} times", m=m),
        )

    def names(self) -> list[str]:
        return [tr("tiles of {m} × {n}", m=one.tile_m, n=one.tile_n) for one in self.problems]

    def chart(self, title: str, amounts: list[Amount]) -> VGroup:
        heading = label(title, 48, self.theme.text, bold=True)
        bars = Amounts(amounts, self.area.width, bar=60, gap=26)
        picture = VGroup(heading, bars).arrange(DOWN, buff=px(34), aligned_edge=LEFT)
        picture.scale(min(1.0, self.area.height / picture.height))
        return picture.move_to(self.area.center)

    def bytes_needed(self) -> None:
        """What all tiles together load."""
        self.badge(Badge(tr("model"), "model"))
        amounts = [
            Amount(name, [(gb, self.theme.operand)], tr("{gb:.1f} GB", gb=gb), computed=True)
            for name, gb in zip(self.names(), self.needed, strict=True)
        ]
        chart = self.chart(tr("bytes that all tiles load"), amounts)
        self.say(
            "Number by number, C takes {all:.0f} GB. In tiles of {m} × {m}, it takes a {m}th: {some:.1f}.",
            all=self.element_gb,
            some=self.needed[0],
            m=self.problems[0].tile_m,
        )
        self.play(FadeIn(chart[0]), run_time=0.5)
        self.play(chart[1].come(0), run_time=3.2)
        self.say("The larger the tiles, the fewer bytes they load.")
        self.play(chart[1].come(1, 2, 3), run_time=4.5)
        self.leave(chart)

    def timed(self) -> None:
        """What the GPU loaded and how long it took."""
        self.badge(Badge(tr("measured on {gpu}", gpu=self.gpu), "measured"))
        amounts = [
            Amount(name, [(us, self.theme.measured)], tr("{us:.0f} µs", us=us))
            for name, us in zip(self.names(), self.us, strict=True)
        ]
        chart = self.chart(tr("time of the whole product"), amounts)
        self.say("With larger tiles, an H200 also takes less time.")
        self.play(FadeIn(chart[0]), run_time=0.5)
        self.play(chart[1].come(), run_time=5.0)
        self.say("Time falls less than bytes, because the multiplications stay the same.")
        self.wait(0.5)
        self.leave(chart)

    def not_larger(self) -> None:
        """The sums of a tile lie in the registers of an SM."""
        self.badge(Badge(tr("model"), "model"))
        m, n, _ = self.problems[-1].tile
        hue, idle = self.hue, self.theme.idle
        rows = [
            (tr("tile of {m} × {n}: {size} bytes for each sum", m=m, n=n, size=SUM), self.sums_kb),
            (tr("tile of {m} × {n}: {size} bytes for each sum", m=2 * m, n=n, size=SUM), 2 * self.sums_kb),
        ]
        amounts = [
            Amount(name, [(kb, hue), (REGISTERS_KB - kb, idle)], tr("{kb} KB", kb=kb)) for name, kb in rows
        ]
        chart = self.chart(tr("registers of one processor: {kb} KB", kb=REGISTERS_KB), amounts)
        self.say("Why not larger still? A tile's sums lie in the processor's registers, its fastest memory.")
        self.play(FadeIn(chart[0]), run_time=0.5)
        self.play(chart[1].come(0), run_time=3.5)
        self.say("In a tile twice as large, they would leave no registers for anything else.")
        self.play(chart[1].come(1), run_time=3.5)
        self.leave(chart)
