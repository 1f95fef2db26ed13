"""ManySMs: what lessons on a large GPU share: tiles that fly to SMs, lanes as rows, stacked times."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Animation, ManimColor, Mobject, Polygon, Transform, VGroup

from tilesim import Problem, Trace
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut, Leave
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.film.configured_scene import Area
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import Figure, fit, label, lines, px
from tilesim_scenes.look.theme import Colour, ink_on, sm_colour, theme_now
from tilesim_scenes.mobjects.drawing.quads import HALF_DIGIT, rectangle, stroke_width
from tilesim_scenes.mobjects.hardware.memory import SM
from tilesim_scenes.mobjects.models.k_steps import Loaf, Partial
from tilesim_scenes.mobjects.traces.lane_image import LaneImage

TITLE, END, FAINT = 62, 210, 0.12
"""Pixels: above rows for their title, and on their right for the time at which a run ends; an opacity."""
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def alike_together(trace: Trace) -> list[int]:
    """SMs by how many segments they computed, most first, then by how long their first segment is."""
    spans, sms = trace.spans, trace.device.sms
    counts, first = np.bincount(spans["sm"], minlength=sms), np.zeros(sms, int)
    rows = spans[np.argsort(spans["issue"], kind="stable")[::-1]]
    first[rows["sm"]] = rows["k1"] - rows["k0"]
    return sorted(range(sms), key=lambda sm: (-counts[sm], first[sm], sm))


def in_turn(trace: Trace) -> list[int]:
    """The tiles in the order in which they were begun."""
    rows = trace.spans[np.lexsort((trace.spans["cta"], trace.spans["issue"]))]
    return list(dict.fromkeys(rows["tile"].tolist()))


def terms(first: int, last: int) -> str:
    """Products that are summed, as they are written.

    >>> terms(1, 64)
    'a₁b₁ + … + a₆₄b₆₄'
    """
    return f"a{first}b{first} + … + a{last}b{last}".translate(SUBSCRIPTS)


def round_ends(trace: Trace) -> list[float]:
    """ns at which the median SM has done its first tile, its second, and so on."""
    spans = np.sort(trace.spans, order=["sm", "done"])
    by_sm = [spans["done"][spans["sm"] == sm] for sm in np.unique(spans["sm"])]
    most = max(map(len, by_sm))
    return [float(np.median([done[n] for done in by_sm if len(done) > n])) for n in range(most)]


class ManySMs(Lesson):
    """A lesson on a whole GPU, one box and then one thin row for each SM."""

    def halves(self, share: float = 0.5) -> tuple[Area, Area]:
        """The picture in two, side by side, or one above the other where the frame is not wide."""
        area, gap = self.area._replace(bottom=self.floor), px(40)
        if self.narrow:
            middle = area.top - share * area.height
            return area._replace(bottom=middle + gap), area._replace(top=middle - gap)
        middle = area.left + share * area.width
        return area._replace(right=middle - gap), area._replace(left=middle + gap)

    def tiles(self, problem: Problem, area: Area, name: str = "") -> VGroup:
        """C in its tiles, to scale, as large as fits; a title above it."""
        high = area.height - px(TITLE + 20)
        step = min(area.width / problem.n, high / problem.m)
        wide, tall = step * problem.tile_n, step * problem.tile_m
        tiles = VGroup(
            *(rectangle(0.88 * wide, 0.82 * tall, self.theme.operand) for _ in range(problem.tiles))
        )
        for number, tile in enumerate(tiles):
            row, column = divmod(number, problem.tiles_n)
            tile.move_to([column * wide, -row * tall, 0])
        tiles.move_to(area.center + px(TITLE / 2) * DOWN)
        text = name or tr("C = A × B, in {n} tiles", n=problem.tiles)
        self.title_of_tiles = _title(text, tiles, area)
        return tiles

    def boxes(self, sms: int, area: Area) -> VGroup:
        """A box for each SM; a title above them."""
        columns = next(n for n in (12, 11, 10, 9, 8) if sms % n == 0)
        rows = sms // columns
        high = (area.height - px(TITLE + 20)) / rows
        wide = min(area.width / columns, 1.7 * high)
        box = SM("", self.theme.quiet, 0.84 * wide, 0.78 * high).box.set_stroke(width=stroke_width(3))
        boxes = VGroup(*(box.copy() for _ in range(sms)))
        boxes.arrange_in_grid(cols=columns, buff=(0.16 * wide, 0.22 * high))
        boxes.move_to(area.center + px(TITLE / 2) * DOWN)
        self.title_of_boxes = _title(tr("{sms} processors (SMs)", sms=sms), boxes, area)
        return boxes

    def fly(self, tiles: Sequence[Mobject], boxes: Sequence[Mobject], seconds: float = 2.2) -> Animation:
        """Tiles leave C, each for its SM."""
        ways = [[box.get_center()] for box in boxes]
        sizes = [[min(1.0, 0.6 * box.width / tile.width)] for tile, box in zip(tiles, boxes, strict=False)]
        apart = (seconds - 0.7) / max(1, len(tiles) - 1)
        return Travel(tiles, ways, sizes, leg=0.7, apart=apart)

    def rows(
        self,
        run: Trace,
        area: Area,
        title: str,
        longest: float = 0.0,
        fills: Mapping[str, Colour] | None = None,
        sms: Iterable[int] | None = None,
    ) -> tuple[LaneImage, Mobject]:
        """The lanes of all SMs in an area, on a scale of `longest` ns, and a title above them."""
        high, wide = area.height - px(TITLE), area.width - px(END)
        lanes = LaneImage(
            run, alike_together(run) if sms is None else sms, (0.0, float(longest or run.makespan)), wide,
            height=high, fills=fills or self.theme.by_phase,
        )  # fmt: skip
        lanes.move_to([area.left, area.bottom, 0], LEFT + DOWN)
        name = lines(title, 44, area.width, most=1, color=self.theme.text)
        return lanes, name.next_to(lanes, UP, px(14), aligned_edge=LEFT)

    def into_rows(self, boxes: VGroup, lanes: LaneImage) -> Animation:
        """Boxes flatten into the rows of a run that has not begun."""
        high = lanes.height / len(boxes)
        rows = VGroup()
        for number, box in enumerate(boxes):
            row = box.copy().stretch_to_fit_width(lanes.width).stretch_to_fit_height(high)
            row.set_stroke(width=0).set_fill(ManimColor(self.theme.idle), 1.0)
            rows.add(row.move_to(lanes.get_corner(UP + LEFT) + number * high * DOWN, UP + LEFT))
        return Transform(boxes, rows, run_time=1.0)

    def ends(self, lanes: LaneImage, us: float) -> Mobject:
        """When a run has ended, where that is in its lanes."""
        end = Figure(tr("{us:.1f} µs", us=us), 46)
        return end.move_to([lanes.x(1000 * us) + px(20), lanes.get_y(), 0], LEFT)

    def round_names(self, lanes: LaneImage, ends: list[float]) -> VGroup:
        """What each round is called, in the rows."""
        names, spans = VGroup(), lanes.trace.spans
        for number, (begin, end) in enumerate(zip([0.0, *ends], ends, strict=False), 1):
            middle = (begin + end) / 2
            busy = ((spans["issue"] <= middle) & (middle < spans["done"])).sum()
            full = busy > lanes.trace.device.sms / 2
            ink = ink_on(self.theme.by_phase["multiply"]) if full else self.theme.text
            name, room = label(tr("round {n}", n=number), 44, ink, bold=True), lanes.x(end) - lanes.x(begin)
            if room < 0.75 * name.width:
                name = label(str(number), 44, ink, bold=True)
            fit(name, 0.8 * room)
            names.add(name.move_to([lanes.x(middle), lanes.get_y(), 0]))
        return names

    def waiting(self, lanes: LaneImage) -> Polygon:
        """What SMs wait at the end of a run, after the last thing they do, in the color of waiting."""
        spans = lanes.trace.spans
        rows = np.linspace(lanes.get_top()[1], lanes.get_bottom()[1], len(lanes.sms) + 1)
        done = np.zeros(lanes.trace.device.sms, np.int64)
        np.maximum.at(done, spans["sm"], spans["done"])
        edge = [[lanes.x(done[sm]), y, 0] for n, sm in enumerate(lanes.sms) for y in rows[n : n + 2]]
        right = lanes.x(lanes.trace.makespan)
        return Polygon(
            *edge, [right, rows[-1], 0], [right, rows[0], 0],
            stroke_width=0, fill_color=ManimColor(self.theme.wait), fill_opacity=1,
        )  # fmt: skip

    def note_in(
        self, lanes: LaneImage, begin: float, top: float, bottom: float, text: str, ink: Colour | None = None
    ) -> Mobject:
        """A word in what is dark of lanes: from an instant on, between shares of their height."""
        left, right = lanes.x(begin), lanes.x(lanes.trace.makespan)
        note = lines(text, 46, 0.9 * (right - left), color=ink or self.theme.text)
        y = lanes.get_top()[1] - (top + bottom) / 2 * lanes.height
        return note.move_to([(left + right) / 2, y, 0])

    def show_loaf(self, steps: int, products: int) -> None:
        """A tile with its depth, one slice a step, and the sum of so many products that each number is."""
        area, narrow = self.area, self.narrow
        wide = (0.34 if not narrow else 0.5 if self.tall else 0.3) * area.width
        step = 0.5 * wide / steps
        place = area.center + (0.22 * area.height * UP if narrow else 0.25 * area.width * LEFT)
        self.loaf = Loaf(steps, wide, 0.55 * wide, step=(step, 0.5 * step)).move_to(place)
        name = self.bold("one tile", 50).next_to(self.loaf.front, DOWN, px(20))
        words = "{steps} steps of {each} products, one slice each"
        depth = self.word(words, 46, self.theme.text, steps=steps, each=products // steps)
        self.loaf_words = VGroup(name, depth.next_to(self.loaf, UP, px(24)))
        self.play(*self.key(), FadeIn(self.loaf, shift=px(60) * UP, run_time=0.8), FadeIn(name))
        half = products // 2
        head = self.bold("one number in the tile")
        self.sums = VGroup(label(terms(1, half), 44), label(terms(half + 1, products), 44))
        self.plus = label("+", 44)
        formula = VGroup(head, self.sums[0], self.plus, self.sums[1]).arrange(DOWN, buff=px(22))
        formula.move_to(area.center + (0.3 * area.height * DOWN if narrow else 0.28 * area.width * RIGHT))
        self.loaf_words.add(head)
        self.play(FadeIn(depth, formula))
        self.wait(0.6)

    def halve_loaf(self) -> None:
        """It is cut in two, and each half flies to an SM."""
        area, narrow, loaf = self.area, self.narrow, self.loaf
        hues = [sm_colour(sm, 4) for sm in range(2)]
        pieces = self.pieces = loaf.cut([loaf.slices // 2, loaf.slices - loaf.slices // 2], hues)
        wide, high = (
            (0.4 * area.width, 0.36 * area.height) if narrow else (0.34 * area.width, 0.43 * area.height)
        )
        self.two = VGroup(*(SM(f"SM {name}", hue, wide, high) for name, hue in zip("AB", hues, strict=True)))
        self.two.arrange(RIGHT if narrow else DOWN, buff=px(60 if narrow else 44))
        self.two.move_to(area.center + (0.3 * area.height * DOWN if narrow else 0.28 * area.width * RIGHT))
        # In front of the boxes into which they fly.
        for number, piece in enumerate(pieces):
            piece.set_z_index(9 - number)
        # A shade of it stays where the whole tile will be.
        come = [FadeIn(pieces), FadeIn(self.two), Fade(loaf, 1.0, FAINT, run_time=0.5)]
        formula = self.sums
        self.sums = self.sums.copy().scale(min(1.0, 0.85 * wide / self.sums.width)).set_z_index(20)
        for one, box in zip(self.sums, self.two, strict=True):
            one.move_to(box.box.get_bottom() + px(46) * UP)
        self.play(*come, *map(Leave, (*self.loaf_words[1:], self.plus, *formula)), run_time=0.5)
        size = min(0.5 * wide / pieces[0].width, 0.45 * high / pieces[0].height)
        ends = [[box.box.get_center() + 0.18 * wide * LEFT] for box in self.two]
        self.play(Travel(list(pieces), ends, [[size]] * 2, leg=0.8, apart=0.3))
        self.play(FadeIn(self.sums), run_time=0.4)

    def add_partial(self, products: int) -> None:
        """What SM A has computed goes to SM B, which adds it; each number has so many products then."""
        first, second = self.two
        room = first.box.width
        partial = Partial(min(px(150), 0.3 * room), min(px(100), 0.2 * room))
        word = self.word("partial sum", 36, self.theme.text)
        fit(word, 0.4 * room).next_to(partial, DOWN, px(10))
        token = VGroup(partial, word).set_z_index(20).next_to(self.sums[0], UP, px(12))
        token.shift(0.29 * room * RIGHT)
        self.play(FadeOut(self.pieces[0]), FadeIn(token), run_time=0.4)
        # Beside what SM B has computed, so that both of what is added are seen.
        down = second.box.get_center() - first.box.get_center()
        self.play(Travel([token], [[token.get_center() + down]], leg=0.9))
        plus = label("+", 70, bold=True).set_z_index(20)
        plus.move_to((self.pieces[1].get_right() + token[0].get_left()) / 2).set_y(token[0].get_y())
        self.play(FadeIn(plus), run_time=0.6)
        wide = self.pieces[1].width
        whole = rectangle(wide, 0.55 * wide, sm_colour(1, 4)).move_to(second.box)
        whole.shift(0.14 * room * RIGHT + px(10) * UP)
        done = fit(self.bold("the whole tile", 50), 0.9 * wide).move_to(whole)
        total = label(terms(1, products), 44).move_to(self.sums[1])
        fit(total, 0.85 * room).set_z_index(20)
        leaving = map(Leave, (token, plus, self.pieces[1], self.sums[1]))
        self.play(*leaving, FadeIn(whole, done, total), run_time=0.8)
        self.split = VGroup(self.two, whole, done, total, self.sums[0], self.loaf, self.loaf_words[0])

    def appear(self, *mobjects: Mobject) -> list[Animation]:
        """Mobjects come up."""
        return [Fade(one, 0.0, 1.0) for one in mobjects]


def _title(text: str, below: Mobject, area: Area) -> Mobject:
    title = label(text, 46)
    return fit(title, area.width).next_to(below, UP, px(24), aligned_edge=LEFT)


class Stacks(VGroup):
    """Times as bars of parts, to scale: each of `rows` a name and its parts, µs; the sum on the right.

    `fills`: the colors of parts, in their order. A figure stands in a part where there is room for it, else
    below it, that of the last part beside it. `above`: names stand above bars. `parts[row][n]` is one with
    its figure, `names` and `sums` are words.
    """

    def __init__(
        self, rows: Sequence[tuple[str, Sequence[float]]], fills: Sequence[Colour], width: float, row: float,
        size: float = 44, above: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        theme, gap = theme_now(), px(24)
        self.names = VGroup(*(label(name, size) for name, _ in rows))
        self.sums = VGroup(*(Figure(f"{sum(parts):.1f} µs", size, align=1.0) for _, parts in rows))
        side = 0.0 if above else self.names.width + gap
        beside, small = px(2.3 * size), 0.8 * size
        # The middle of its digits is not that of its em.
        rise = (0.5 - HALF_DIGIT) * px(small) * UP
        room = width - side - max(one.width for one in self.sums) - beside
        scale = room / max(sum(parts) for _, parts in rows)
        self.parts: list[list[VGroup]] = []
        for number, (_, parts) in enumerate(rows):
            left, drawn = side, []
            for value, fill in zip(parts, fills, strict=True):
                if not value:
                    drawn.append(VGroup())
                    continue
                box = rectangle(scale * value, (0.42 if above else 0.52) * row, fill)
                box.move_to([left, -number * row, 0], LEFT)
                left += scale * value
                figure = Figure(f"{value:.1f}", small, ink_on(fill), align=0.5)
                if figure.width < 0.98 * box.width:
                    figure.move_to(box).shift(rise)
                else:
                    last = len(drawn) == len(parts) - 1
                    ink = theme.wait_text if last else theme.text
                    figure = Figure(f"{value:.1f}", small, ink, align=0.5)
                    figure.next_to(box, RIGHT if last else DOWN, px(10)).shift(rise * last)
                drawn.append(VGroup(box, figure))
            self.parts.append(drawn)
            name = self.names[number]
            if above:
                name.next_to(drawn[0][0], UP, px(12), aligned_edge=LEFT)
            else:
                name.move_to([side - gap, -number * row, 0], RIGHT)
            self.sums[number].move_to([width, -number * row, 0], RIGHT)
        self.add(self.names, *(part for drawn in self.parts for part in drawn), self.sums)
