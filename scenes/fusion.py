"""Fusion: why are eight small kernels slower than one?

manim render scenes/fusion.py

Eight lines of PyTorch change 67 million numbers, as eight kernels and as one. A kernel's trip to memory and
back is nearly all its time, and one kernel for all lines makes it once.
"""

from collections.abc import Sequence

from manim import DOWN, LEFT, RIGHT, UP, Create, LaggedStart, Line, ManimColor, VGroup

from tilesim.devices.gpus import preset_of
from tilesim.devices.presets import presets
from tilesim.ideas.fusion import WIDTH
from tilesim.ladder.reports import row
from tilesim_scenes.animations.fade import Fade, FadeIn, FadeOut
from tilesim_scenes.animations.travel import Travel
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.kit.round_trip import PIECES, Piece, RoundTrip, code
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import fit, label, lines, px
from tilesim_scenes.look.theme import mixed, readable
from tilesim_scenes.mobjects.drawing.quads import edged, quad, rectangle, shape
from tilesim_scenes.mobjects.words.badge import Badge

FILM = {
    "title": "Fusion",
    "question": "Why are eight small kernels slower than one?",
    "finding": (
        "On an H200, eight lines take an eighth of the time in one kernel, because x makes one round trip"
        " instead of eight."
    ),
    "part": "Kernels",
    "place": 230,
    "seconds": 80,
    "shows": "Eight lines of PyTorch as eight kernels and as one: their trips to memory, and their times.",
    "takes": "report",
}
LINES = (
    "x = x * 1.5", "x = x + 0.25", "x = x * 0.5", "x = x - 0.5",
    "x = x * 2", "x = x + 0.75", "x = x * (2 / 3)", "x = x + 1 / 1024",
)  # fmt: skip
"""What `tilesim bench fusion` times, as PyTorch users write it."""
LANE, FOOT = 60, 130
"""Pixels: of a lane's height, and of the room at the picture's foot that it takes with its figure."""


class Fusion(Lesson):
    """Eight lines, a kernel each and all in one, as measured on an H200."""

    def prepare(self) -> None:
        report = self.report("fusion")
        self.gpu, self.kernels = report["machine"]["gpu"], len(LINES)
        numbers, count = max(one["elements"] for one in report["rows"]), self.kernels
        line, *whole = (
            row(report, kernel=name, elements=numbers, functions=functions)["us"]
            for name, functions in (
                ("eager", 1),
                ("eager", count),
                ("fused", count),
                ("torch.compile", count),
            )
        )
        self.separate, self.fused, self.compiled = (float(f"{us:.1f}") for us in whole)
        self.each = float(f"{self.separate / count:.1f}")
        self.guard("H200" in self.gpu, "the program ran on an H200")
        preset = presets()[preset_of(self.gpu)]
        # The peak counts a multiplication and an addition in one instruction as two operations.
        self.cache, self.rate = preset["l2_mb"], preset["peak_tflops"]["fp32"] / 2
        self.tb = preset["memory_gb_per_s"] / 1000
        self.count, self.mb = numbers / 1e6, WIDTH * numbers / 1e6
        self.arithmetic = numbers / self.rate / 1e6
        # From the figures as printed, so that anybody can work it out.
        self.trip = float(f"{2 * round(self.mb) / float(f'{self.tb:.1f}'):.1f}")
        self.guard(round(self.separate / self.fused) == count, "one kernel takes an eighth of the time")
        self.guard(self.fused < 1.01 * line, "eight lines in one kernel take as long as one line")
        self.guard(abs(self.each / line - 1) < 0.01, "a line takes an eighth of all eight")
        self.guard(self.compiled < 1.02 * self.fused, "torch.compile's kernel is as fast")
        self.guard(self.mb > 2 * self.cache, "x is much larger than the cache")
        self.guard(self.arithmetic < 0.05 * self.each, "arithmetic is a sliver of a kernel's time")
        self.guard(0.8 * self.each < self.trip < self.each, "a trip is most of a kernel's time")

    def construct(self) -> None:
        self.done = mixed(self.theme.background, self.theme.measured, 0.6)
        self.ask("A kernel is a program that runs on a GPU.")
        self.the_program()
        self.eight_kernels()
        self.one_line()
        self.first_trip()
        self.more_trips()
        self.too_large_for_the_cache()
        self.what_fills_the_time()
        self.one_kernel()
        self.both_times()
        self.close(
            "On an H200, eight lines take an eighth of the time in one kernel, "
            "because x makes one round trip instead of eight.",
            [(tr("eight kernels"), self.separate), (tr("one kernel"), self.fused)],
            "times",
            "{:,.1f} µs",
            self.measured(),
            self.tr("x: {mb:.0f} MB, {count:.0f} million 32-bit numbers"),
        )

    # The program, and how long it takes.

    def the_program(self) -> None:
        """Eight lines on the left, and x on the right."""
        area = self.area
        self.code = code(LINES, 46)
        numbers = VGroup(*(Piece(px(400), px(58)) for _ in range(PIECES))).arrange(DOWN, buff=px(10))
        size = VGroup(
            label("x", 60, bold=True, mono=True),
            self.word("{count:.0f} million numbers", 46, self.theme.text),
            self.word("{mb:.0f} MB, drawn as six pieces", 42),
        ).arrange(DOWN, buff=px(18))
        x = VGroup(size, numbers).arrange(DOWN, buff=px(30))
        both = VGroup(self.code, x).arrange(RIGHT, buff=px(220 if not self.narrow else 60))
        fit(both, area.width, area.height - px(FOOT + 40)).move_to([area.center[0], area.top, 0], UP)
        self.say("This Python program changes {count:.0f} million numbers, x, in eight short lines.")
        self.play(FadeIn(x), LaggedStart(*map(FadeIn, self.code), lag_ratio=0.25, run_time=2.4))
        self.numbers = x

    def lane(self, parts: int, us: float, y: float, width: float, height: float = LANE) -> VGroup:
        """A bar of `parts` kernels, as long as `us` say."""
        each, bar = width * us / self.separate / parts, VGroup()
        for number in range(parts):
            one = rectangle(each - px(5) * (parts > 1), px(height), self.done)
            bar.add(one.move_to([self.area.left + number * each, y, 0], LEFT))
        return bar

    def eight_kernels(self) -> None:
        """Line after line sends off its kernel, which is a part of the lane."""
        area = self.area
        y = area.bottom + px(LANE / 2)
        self.lanes = self.lane(self.kernels, self.separate, y, area.width)
        self.took = label(tr("{us:,.1f} µs", us=self.separate), 54, bold=True, mono=True)
        self.took.next_to(self.lanes, UP, px(18), aligned_edge=RIGHT)
        self.of = self.word("time: one kernel after the other", 44)
        self.of.next_to(self.lanes, UP, px(22), aligned_edge=LEFT)
        self.say(
            "PyTorch runs one kernel for each line. All eight take {us:,.1f} microseconds.", us=self.separate
        )
        self.badge(self.measured())
        self.play(FadeIn(self.of), run_time=0.3)
        lit = ManimColor(readable(self.hue))
        for (line, _), part in zip(self.code, self.lanes, strict=True):
            line.save_state()
            comes = FadeIn(part, target_position=line, scale=0.5)
            self.play(comes, line.animate.set_color(lit), run_time=0.4)
            line.restore()
        self.play(FadeIn(self.took), run_time=0.3)

    def one_line(self) -> None:
        """One kernel's part of the lane grows: arithmetic is a sliver of it."""
        area, theme = self.area, self.theme
        self.say(
            "One line takes {us:.1f} microseconds, but its arithmetic needs only {flop:.1f}. "
            "What fills the rest?", us=self.each, flop=self.arithmetic,
        )  # fmt: skip
        big = rectangle(area.width, px(190), self.done).move_to([area.center[0], area.center[1] + px(80), 0])
        part, sides = self.lanes[0].copy(), VGroup()
        self.play(FadeOut(self.code, self.numbers, run_time=0.4))
        self.play(part.animate(run_time=1.0).become(big))
        for side in (LEFT, RIGHT):
            sides.add(Line(big.get_corner(DOWN + side), self.lanes[0].get_corner(UP + side)))
        edged(sides, theme.quiet, 3)
        whole = (
            self.bold("one line: {us:.1f} µs", 54, us=self.each)
            .next_to(big, UP, px(24), aligned_edge=LEFT)
            .shift(px(20) * RIGHT)
        )
        sliver = rectangle(max(area.width * self.arithmetic / self.each, px(12)), px(190), theme.panel)
        edged(sliver, theme.text, 5).move_to(big.get_left(), LEFT)
        name = self.bold("arithmetic: {us:.1f} µs", 50, us=self.arithmetic)
        name.next_to(big, DOWN, px(20), aligned_edge=LEFT).shift(px(20) * RIGHT)
        how = self.word("model: {count:.0f} million adds or multiplies, at {rate:.1f} trillion a second", 38)
        how.next_to(name, DOWN, px(14), aligned_edge=LEFT)
        rest = label("?", 100, bold=True).move_to(big)
        self.play(FadeOut(self.of), FadeIn(whole), Create(sides), run_time=0.4)
        self.badge(Badge(tr("measured; outlined: model"), "measured"))
        self.play(FadeIn(sliver, name, how), run_time=0.5)
        self.play(FadeIn(rest), run_time=0.4)
        self.leave(part, sides, whole, sliver, name, how, rest, self.took)
        self.part = big

    # Trips to memory and back.

    def machine(self, operations: Sequence[str]) -> RoundTrip:
        """Memory and processors, above the lane."""
        foot, top = self.lanes.get_top()[1] + px(90), self.area.top - px(10)
        names = tr("memory"), self.tr("x: {mb:.0f} MB"), tr("processors"), tr("registers")
        made = RoundTrip(*names, operations, self.area.width, top - foot)
        up = (top + foot) / 2 - made.processors.box.get_y()
        made.shift(up * UP)
        made.pieces.shift(up * UP)
        return made

    def first_trip(self) -> None:
        """Parts of x come into registers, are multiplied, and have to go back, as the kernel ends."""
        self.say(
            "Processors compute in registers, tiny memories of their own. Each part of x has to travel there."
        )
        # What fills the pieces, above the lane.
        swatch = rectangle(px(60), px(34), self.hue)
        self.means = VGroup(swatch, self.word("lines done", 44).next_to(swatch, RIGHT, px(18)))
        self.means.next_to(self.lanes, UP, px(24), aligned_edge=RIGHT)
        self.begin_trips([LINES[0]])
        self.play(self.trips.stream(5.4, (0, 1 / self.kernels), (0, 0.6)))
        self.say("Registers are lost when a kernel ends, so it writes each part back.")
        self.play(self.trips.stream(3.0, (0, 1 / self.kernels), (0.6, 1)))
        self.end_of_kernel(0)

    def begin_trips(self, lines_of_code: Sequence[str]) -> None:
        """Memory and processors come up, which apply so many lines; nothing has been done yet."""
        self.trips = self.machine([line.removeprefix("x = ") for line in lines_of_code])
        self.badge(Badge(tr("schematic"), "model"))
        self.lanes.set_fill(ManimColor(self.theme.idle))
        self.count_of = self.counter(0)
        come = FadeIn(self.trips), Fade(self.trips.pieces, 0.0, 1.0), FadeIn(self.count_of, self.means)
        self.play(*come, run_time=0.6)

    def counter(self, number: int) -> VGroup:
        """How often x has been to the processors and back, above the lane."""
        one = VGroup(self.bold("round trips: {number}", 50, number=number))
        return one.next_to(self.lanes, UP, px(20)).align_to(self.lanes, LEFT)

    def end_of_kernel(self, number: int) -> None:
        """The lane has a part more, and registers are empty: the kernel is over."""
        slots, idle = self.trips.slots, ManimColor(self.theme.idle)
        slots.set_fill(ManimColor(self.theme.background))
        self.remove(self.count_of)
        self.count_of = self.counter(number + 1)
        self.add(self.count_of)
        more = self.lanes[number].animate.set_fill(ManimColor(self.done))
        self.play(more, slots.animate.set_fill(idle), run_time=0.3)

    def more_trips(self) -> None:
        self.say("The next kernel reads the same numbers again: eight lines, eight round trips.")
        seconds = 1.0
        for number, line in enumerate(LINES[1:], 1):
            old = self.trips.operations
            self.trips.run([line.removeprefix("x = ")])
            self.remove(old, *old)
            self.play(self.trips.stream(1.2 * seconds, (number / self.kernels, (number + 1) / self.kernels)))
            self.end_of_kernel(number)
            seconds = max(0.6 * seconds, 0.35)

    def too_large_for_the_cache(self) -> None:
        """x on its way into the cache, which has room for little more than a piece."""
        trips = self.trips
        shelf = trips.memory.shelf
        step = trips.slots[0].height
        left, right = shelf.get_right()[0], trips.processors.box.get_left()[0]
        cache = rectangle(0.8 * (right - left), step * self.cache / self.mb * PIECES, self.theme.panel)
        edged(cache, self.theme.text, 4)
        cache.move_to([(left + right) / 2, trips.slots[-1].get_bottom()[1] + px(70) * self.narrow, 0], DOWN)
        name = lines(tr("cache: {mb} MB", mb=self.cache), 44, 0.9 * (right - left), bold=True)
        name.next_to(cache, DOWN, px(14))
        width = 0.7 * (right - left) / trips.pieces[0].width
        copies = VGroup(*(piece.copy() for piece in trips.pieces))
        places = [[cache.get_x(), cache.get_bottom()[1] + px(4) + (n + 0.5) * step, 0] for n in range(PIECES)]
        self.say("A faster cache lies between them. But it holds {cache} MB, and x is {mb:.0f} MB.")
        self.play(FadeIn(cache, name), run_time=0.5)
        self.add(copies)
        for copy in copies:
            copy.body.stretch(width, 0)
            copy.fill_to(copy.done)
        self.play(Travel(list(reversed(copies)), [[place] for place in places], leg=0.7, apart=0.2))
        out, waits = copies[-2::-1], self.theme.wait_text
        beside = lines(tr("no room"), 44, 0.9 * (right - left), color=waits, bold=True)
        beside.next_to(out, UP, px(14))
        self.play(*(edged(piece.body.animate, waits, 5) for piece in out), FadeIn(beside))
        self.leave(trips, trips.pieces, copies, cache, name, beside, self.count_of, self.means)

    def what_fills_the_time(self) -> None:
        """The large bar again, most of which is a trip at memory's full speed."""
        big = self.part
        whole = self.bold("one line: {us:.1f} µs", 54, us=self.each)
        whole.next_to(big, UP, px(24), aligned_edge=LEFT)
        trip = edged(shape(self.theme.panel), self.theme.text, 5)
        trip.points = quad(big, 0.0, self.trip / self.each)
        model = self.tr("model: twice {mb:.0f} MB at {tb:.1f} MB per µs")
        inside = VGroup(
            self.bold("round trip of x: {us:.1f} µs", 54, us=self.trip),
            lines(model, 40, 0.95 * trip.width, color=self.theme.quiet),
        ).arrange(DOWN, buff=px(14)).move_to(trip)  # fmt: skip
        rest = self.word("rest: {us:.1f} µs", us=self.each - self.trip)
        rest.next_to(big, DOWN, px(24), aligned_edge=RIGHT)
        self.say(
            "Even at memory's full speed, a round trip of x takes {trip:.1f} of the {each:.1f} microseconds."
        )
        self.badge(Badge(tr("measured; outlined: model"), "measured"))
        self.play(FadeIn(big, whole, self.took), run_time=0.5)
        self.play(Fade(trip, 0.0, 1.0), FadeIn(inside), run_time=0.8)
        self.play(FadeIn(rest), run_time=0.5)
        self.leave(big, whole, trip, inside, rest, self.took)

    def one_kernel(self) -> None:
        """All eight lines run while a part of x is in registers."""
        self.say("One kernel for all lines reads x once and keeps each part in registers.")
        self.begin_trips(LINES)
        trips = self.trips
        self.play(trips.stream(5.0, part=(0, 0.65)))
        self.say("It writes x back once: one round trip instead of eight.")
        self.play(trips.stream(2.4, part=(0.65, 1)))
        self.end_of_kernel(0)
        self.leave(trips, trips.pieces, self.count_of, self.means, self.lanes)

    # What that wins.

    def both_times(self) -> None:
        """Lanes of eight kernels, of one, and of torch.compile's, on one scale."""
        area = self.area
        room = area.width - px(330)
        step = min(px(235), area.height / 3)
        rows = VGroup()
        for place, (name, parts, us) in enumerate((
            (tr("eight kernels"), self.kernels, self.separate),
            (tr("one kernel"), 1, self.fused),
            (tr("torch.compile's kernel"), 1, self.compiled),
        )):  # fmt: skip
            bar = self.lane(parts, us, area.top - px(120) - place * step, room, 90)
            word = label(name, 48, self.theme.text).next_to(bar, UP, px(14)).align_to(bar, LEFT)
            figure = label(tr("{us:,.1f} µs", us=us), 54, bold=True, mono=True).next_to(bar, RIGHT, px(24))
            rows.add(VGroup(word, bar, figure))
        decorator = label("@torch.compile", 50, mono=True).next_to(rows[2], RIGHT, px(80))
        above = self.word("one more line, above the eight", 42)
        above.next_to(decorator, UP, px(20), aligned_edge=LEFT)
        if decorator.get_right()[0] > area.right:
            decorator.next_to(rows[2], DOWN, px(30), aligned_edge=LEFT)
            above.next_to(decorator, DOWN, px(16), aligned_edge=LEFT)
        self.say("That takes {us:.1f} microseconds, as long as one line before.", us=self.fused)
        self.badge(self.measured())
        self.play(FadeIn(rows[0]), run_time=0.5)
        self.play(FadeIn(rows[1], lag_ratio=0.3), run_time=0.8)
        frame = rectangle(rows[0][1][0].width, rows[0][1].height).move_to(rows[0][1][0])
        edged(frame, self.theme.measured, 5)
        self.play(Fade(frame, 0.0, 1.0))
        self.play(frame.animate(run_time=1.0).set_y(rows[1][1].get_y()))
        self.say("torch.compile writes such a kernel for you, and it takes {us:.1f}.", us=self.compiled)
        self.play(FadeIn(decorator, above), run_time=0.5)
        self.play(FadeIn(rows[2], lag_ratio=0.3), run_time=0.8)
