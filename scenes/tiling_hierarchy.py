"""Tiling: why does a GPU multiply matrices in tiles?

manim render scenes/tiling_hierarchy.py

One product in tiles of four sizes: how often each loaded number is used, how many bytes all tiles load, and
how long the product takes. It shows tiles of one level, those that an SM computes.
"""

from itertools import pairwise

from manim import DOWN, LEFT, RIGHT, UP, FadeIn, FadeOut, GrowFromEdge, LaggedStart, ManimColor, VGroup

from tilesim import Problem
from tilesim.ideas.tiling_hierarchy import levels
from tilesim.problems import DTYPE_BYTES
from tilesim_scenes.animations.fade import Leave
from tilesim_scenes.film.settings import REPORT
from tilesim_scenes.kit.amounts import Amount, Amounts
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import label, lines, px
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.key import Entry

FILM = {
    "title": "Tiling",
    "question": "Why does a GPU multiply matrices in tiles?",
    "finding": (
        "On an H200, a matrix product takes 50% less time in tiles of 128 × 256 than in tiles of 64 × 64."
    ),
    "part": "Memory",
    "place": 80,
    "seconds": 79,
    "shows": "One matrix product in tiles of four sizes: the bytes that are loaded, and the time.",
    "takes": "report",
}
REGISTERS_KB = 256
"""Of an SM, in all: CUDA C++ Programming Guide, compute capability 9.0."""
SUM = 4
"""Bytes of a number of C while it is summed."""
CORES = 4
"""Tensor cores of an SM; the counter adds up their cycles."""


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
        shares = [row["tensor_cycles"] / (CORES * row["sm_cycles"]) for row in rows]
        self.multiplying = [us * share for us, share in zip(self.us, shares, strict=True)]
        alike = max(self.multiplying) < 1.15 * min(self.multiplying)
        self.guard(alike, "multiplying takes about as long in tiles of all sizes")
        self.guard(shares[0] < 0.5 < shares[-1], "the smallest tiles mostly wait, and the largest multiply")
        block = next(one for one in levels(self.problems[0], 4, "h200") if one.name == "block tile")
        self.guard(block.needs > block.gives, "memory sends less than the smallest tiles could multiply")
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
            "Each number in C is a sum of {n} products, from one row of A and one column of B.",
            n=self.size,
        )
        picture = self.picture(0.02, 0.02)
        words = self.beside(
            picture,
            tr("C = A × B, each {n} × {n}", n=self.size),
            tr("one number of C: {n} products", n=self.size),
            tr("{n} numbers loaded for it", n=2 * self.size),
        )
        self.play(FadeIn(picture[0], words[0]))
        self.play(LaggedStart(FadeIn(picture[1]), FadeIn(picture[2], words[1]), lag_ratio=0.7, run_time=3.0))
        self.say("To compute just one number, a processor uses each loaded number only once.")
        self.play(FadeIn(words[2]))
        self.leave(picture, words)

    def reuse(self) -> None:
        """Numbers travel from memory to a processor, and each is used along its tile; tiles are to scale."""
        area, theme = self.area, self.theme
        share = (1.0, 0.15) if self.narrow else (0.17, 1.0)
        memory = rectangle(share[0] * area.width, share[1] * area.height, theme.panel)
        share = (1.0, 0.72) if self.narrow else (0.66, 1.0)
        processor = rectangle(share[0] * area.width, share[1] * area.height, theme.panel)
        for box in (memory, processor):
            box.set_stroke(ManimColor(theme.quiet), stroke_width(3))
        memory.move_to(area.center).align_to([area.left, area.top, 0], LEFT + UP)
        processor.move_to(area.center).align_to([area.right, area.bottom, 0], RIGHT + DOWN)
        names = VGroup(self.word("memory", 50, theme.text), self.word("processor", 50, theme.text))
        names[0].move_to(memory)
        names[1].next_to(processor.get_corner(UP + LEFT), DOWN + RIGHT, px(20))
        (small, large) = (self.problems[0], self.problems[-1])
        room = processor.height - px(350), processor.width - px(80)
        unit = min(room[0] / large.tile_m, room[1] / large.tile_n)
        top = names[1].get_bottom()[1] - px(50)

        def tile(one: Problem) -> VGroup:
            """A tile and what is said of it."""
            box = rectangle(unit * one.tile_n, unit * one.tile_m, theme.idle)
            box.set_stroke(ManimColor(theme.text), stroke_width(3))
            box.move_to([processor.get_x(), top, 0], UP)
            words = VGroup(
                self.word("tile of {m} × {n}", 46, theme.text, bold=True, m=one.tile_m, n=one.tile_n),
                self.word("each number of A is used {n} times", 46, theme.text, n=one.tile_n),
                self.word("each number of B is used {m} times", 46, theme.text, m=one.tile_m),
            ).arrange(DOWN, buff=px(20))
            words.move_to([processor.get_x(), processor.get_bottom()[1] + px(30), 0], DOWN)
            return VGroup(box, words)

        def load(box: VGroup, word: VGroup, side: int, run_time: float) -> VGroup:
            """A number travels to the tile, and is used along a row (`side` 0) or a column of it."""
            letter = label("AB"[side], 40, theme.background, bold=True)
            number = VGroup(rectangle(px(56), px(56), theme.operand), letter)
            letter.move_to(number)
            start = names[0].get_edge_center(DOWN) + px(60) * DOWN if not self.narrow else memory.get_right()
            number.move_to(start + (px(120) * LEFT if self.narrow else 0))
            line = (
                rectangle(box.width, px(8), self.hue).move_to(box.get_top() + 0.4 * box.height * DOWN)
                if side == 0
                else rectangle(px(8), box.height, self.hue).move_to(box.get_left() + 0.4 * box.width * RIGHT)
            )
            edge = (LEFT, UP)[side]
            self.play(FadeIn(number), run_time=0.3)
            self.play(number.animate.next_to(line, edge, px(6)), run_time=run_time)
            self.play(GrowFromEdge(line, edge), FadeIn(word), run_time=run_time)
            return VGroup(number, line)

        self.say("All processors load from one memory, and loading is slower than multiplying.")
        first = tile(small)
        self.play(FadeIn(memory, processor, names))
        self.play(FadeIn(first[0], first[1][0]))
        self.say(
            "A processor that computes a whole {m} × {n} tile loads each number once and uses it {m} times.",
            m=small.tile_m, n=small.tile_n,
        )  # fmt: skip
        used = VGroup(*(load(first[0], first[1][1 + side], side, 1.6) for side in (0, 1)))
        self.let_read()
        second = tile(large)
        self.say("The larger the tile, the more often each loaded number is used.")
        self.play(FadeOut(used, first[1]), first[0].animate.become(second[0]), run_time=1.0)
        self.play(FadeIn(second[1][0]), run_time=0.3)
        used = VGroup(*(load(second[0], second[1][1 + side], side, 0.9) for side in (0, 1)))
        self.leave(memory, processor, names, first[0], second[1], used)

    def names(self) -> list[str]:
        return [tr("tiles of {m} × {n}", m=one.tile_m, n=one.tile_n) for one in self.problems]

    def chart(self, title: str, amounts: list[Amount]) -> VGroup:
        heading = label(title, 48, self.theme.text, bold=True)
        heading.scale(min(1.0, self.area.width / heading.width))
        bars = Amounts(amounts, self.area.width, bar=60, gap=26)
        picture = VGroup(heading, bars).arrange(DOWN, buff=px(34), aligned_edge=LEFT)
        picture.scale(min(1.0, (self.area.top - self.floor) / picture.height))
        return picture.move_to([self.area.center[0], (self.area.top + self.floor) / 2, 0])

    def bytes_needed(self) -> None:
        """What all tiles together load: number by number and in the smallest tiles, then in all sizes."""
        self.badge(Badge(tr("model"), "model"))
        title = tr("loaded in all, with {size} bytes for each number", size=DTYPE_BYTES["bf16"])

        def amounts(names: list[str], gigabytes: list[float], form: str) -> list[Amount]:
            return [
                Amount(name, [(gb, self.theme.operand)], tr(form, gb=gb), computed=True)
                for name, gb in zip(names, gigabytes, strict=True)
            ]

        alone = amounts([tr("number by number")], [self.element_gb], "{gb:.0f} GB")
        tiles = amounts(self.names(), self.needed, "{gb:.1f} GB")
        chart = self.chart(title, [*alone, tiles[0]])
        self.say(
            "Computed number by number, C needs {all:.0f} GB of loads. In {m} × {m} tiles it needs a {m}th "
            "of that: {some:.1f} GB.",
            all=self.element_gb,
            some=self.needed[0],
            m=self.problems[0].tile_m,
        )
        self.play(FadeIn(chart[0], run_time=0.3), chart[1].come().set_run_time(5.0))
        self.leave(chart)
        chart = self.chart(title, tiles)
        self.say("The larger the tiles, the less they load.")
        self.play(FadeIn(chart[0], run_time=0.3), chart[1].come().set_run_time(4.0))
        self.leave(chart)

    def timed(self) -> None:
        """How long the GPU took, and in how much of that its tensor cores worked."""
        self.badge(Badge(tr("measured on {gpu}", gpu=self.gpu), "measured"))
        hue, rest = self.hue, self.theme.hand_over
        amounts = [
            Amount(name, [(busy, hue), (us - busy, rest)], tr("{us:.0f} µs", us=us))
            for name, us, busy in zip(self.names(), self.us, self.multiplying, strict=True)
        ]
        key = self.key(Entry(tr("multiplying"), [hue]), Entry(tr("not multiplying"), [rest]))
        chart = self.chart(tr("time of the whole product"), amounts)
        self.say("With larger tiles, an H200 also takes less time.")
        self.play(*key, FadeIn(chart[0], run_time=0.3), chart[1].come().set_run_time(4.4))
        self.say("Time shrinks less than the loads, because the multiplications still have to be done.")
        self.wait(0.5)
        self.let_read()
        self.play(Leave(chart), *self.key())

    def not_larger(self) -> None:
        """The sums of a tile lie in the registers of an SM."""
        self.badge(Badge(tr("model"), "model"))
        m, n, _ = self.problems[-1].tile
        hue, idle = self.hue, self.theme.idle
        amounts = [
            Amount(
                tr("{m} × {n} running sums, {size} bytes each for precision", m=rows, n=n, size=SUM),
                [(kb, hue), (REGISTERS_KB - kb, idle)],
                tr("{kb} of {all} KB", kb=kb, all=REGISTERS_KB),
            )
            for rows, kb in ((m, self.sums_kb), (2 * m, 2 * self.sums_kb))
        ]
        chart = self.chart(tr("registers of one processor"), amounts)
        self.say(
            "Why not go even larger? The running sums must fit in the processor's registers, "
            "its fastest memory."
        )
        self.play(FadeIn(chart[0], run_time=0.3), chart[1].come(0).set_run_time(3.4))
        self.say("A tile twice as large would fill the registers completely.")
        self.play(chart[1].come(1).set_run_time(2.6))
        self.leave(chart)
