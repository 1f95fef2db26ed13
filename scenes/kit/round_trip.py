"""Places of bytes, as panels with their names. RoundTrip: numbers go from memory into registers and back."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, Animation, ManimColor, VGroup, VMobject, smoothstep

from tilesim_scenes.animations.direct import Direct
from tilesim_scenes.look.text import advance, fit, label, lines, px
from tilesim_scenes.look.theme import mixed, readable, theme_now
from tilesim_scenes.mobjects.drawing.quads import edged, quad, rectangle, rounded, shape
from tilesim_scenes.mobjects.hardware.memory import SM, MemoryLevel

PIECES = 6
"""Of x, that travel one after the other."""
SHARES, SHARES_NARROW, NARROW = (0.27, 0.46), (0.23, 0.6), 1200
"""Of the width, for memory and for processors, and those where it has fewer pixels than that."""
NAME, OPERATION = 44, 44
"""Pixels of letters."""


class Piece(VGroup):
    """A piece of x: a box that fills from the left as operations are applied to it."""

    def __init__(self, width: float, height: float) -> None:
        theme = theme_now()
        body = rectangle(width, height, mixed(theme.background, theme.operand, 0.45))
        self.body = edged(body, theme.operand, 3)
        self.filled = shape(theme.by_phase["multiply"])
        super().__init__(self.body, self.filled)
        self.fill_to(0.0)

    def fill_to(self, share: float) -> None:
        """So large a share of the operations has been applied."""
        self.done = share
        self.filled.points = quad(self.body, 0.0, share)


class RoundTrip(VGroup):
    """Main memory with x in pieces on the left, processors with a register for each piece on the right.

    `memory`, `size`, `processors`, `registers`: how memory, x, processors, and what is in them are called.
    `operations` stand at the head of the processors; one that runs is lit. `width`, `height`: units.
    """

    def __init__(
        self,
        memory: str,
        size: str,
        processors: str,
        registers: str,
        operations: Sequence[str],
        width: float,
        height: float,
    ) -> None:
        super().__init__()
        theme = theme_now()
        memory_share, processors_share = SHARES if width > px(NARROW) else SHARES_NARROW
        self.memory = MemoryLevel(memory, memory_share * width, height, NAME)
        self.memory.move_to([-width / 2, 0, 0], LEFT)
        self.processors = SM(processors, theme.quiet, processors_share * width, height, NAME)
        self.processors.shift(([width / 2, 0, 0] - self.processors.box.get_right())[0] * RIGHT)
        box = self.processors.box
        head, foot = px(86), px(66)
        each = (height - head - foot) / PIECES
        wide = 0.8 * memory_share * width
        self.size = label(size, NAME, theme.text)
        fit(self.size, 0.94 * memory_share * width)
        self.size.move_to(self.memory.shelf.get_bottom() + foot / 2 * UP)
        self.registers = label(registers, NAME, theme.text)
        self.slots, self.pieces = VGroup(), VGroup()
        x = box.get_right()[0] - px(40) - wide / 2
        for number in range(PIECES):
            y = height / 2 - head - (number + 0.5) * each
            piece = Piece(wide, 0.66 * each)
            self.pieces.add(piece.move_to([self.memory.shelf.get_x(), y, 0]))
            slot = rounded(wide + px(24), 0.84 * each, px(10), theme.quiet, 3, theme.idle)
            self.slots.add(slot.move_to([x, y, 0]))
        self.registers.move_to([x, self.size.get_y(), 0])
        self.add(self.memory, self.size, self.processors, self.registers, self.slots)
        self.operations = VGroup()
        self.run(operations)

    def run(self, operations: Sequence[str]) -> None:
        """Other operations take the place of those that stand in the processors."""
        count = len(operations)
        written = code(operations, OPERATION + 14 * (count == 1), numbered=False)
        for one in written:
            light(one, False)
        left = self.processors.box.get_left()[0] + px(28)
        room = self.slots.get_left()[0] - px(28) - left
        fit(written, room, self.slots.height)
        written.move_to([left, self.slots.get_y(), 0], LEFT)
        old, self.operations = self.operations, written
        self.remove(old)
        self.add(written)

    @property
    def homes(self) -> list[Any]:
        """Where pieces stand in memory."""
        x = self.memory.shelf.get_x()
        return [[x, slot.get_y(), 0] for slot in self.slots]

    def stream(
        self, run_time: float, share: tuple[float, float] = (0, 1), part: tuple[float, float] = (0, 1)
    ) -> Animation:
        """Pieces come, are filled from one share to another and go back, several on their way at once.

        `part`: from where to where in all that, of 1.
        """
        return Stream(self, share, part, run_time=run_time)


def light(operation: VGroup, lit: bool) -> None:
    """Show an operation as running, or not."""
    theme = theme_now()
    operation.set_fill(ManimColor(readable(theme.by_phase["multiply"]) if lit else theme.text))


class Stream(Direct):
    """Each piece comes, fills and goes back in three equal legs; the next one starts half a leg later."""

    def __init__(
        self, trip: RoundTrip, share: tuple[float, float], part: tuple[float, float], **kwargs: Any
    ) -> None:
        self.trip, self.share, self.part = trip, share, part
        super().__init__(trip, trip.pieces, **kwargs)

    def interpolate_mobject(self, alpha: float) -> None:
        trip = self.trip
        (low, high), (first, last) = self.share, self.part
        through = first + alpha * (last - first)
        legs = through * (3 + 0.5 * (PIECES - 1))
        for number, (piece, home, slot) in enumerate(zip(trip.pieces, trip.homes, trip.slots, strict=True)):
            come, fill, back = (smoothstep(legs - 0.5 * number - n) for n in range(3))
            piece.move_to(np.array(home) + (come - back) * (slot.get_center() - home))
            piece.fill_to(low + fill * (high - low))
        for one in trip.operations:
            light(one, legs > 1 and through < 1)


def code(rows: Sequence[str], size: float, numbered: bool = True) -> VGroup:
    """Lines of a Python program, each with its number in front if they are `numbered`."""
    theme = theme_now()
    written = VGroup()
    for number, row in enumerate(rows, 1):
        one = VGroup(label(row, size, theme.text, mono=True))
        if numbered:
            one.add(label(str(number), size, theme.quiet, mono=True).next_to(one[0], LEFT, px(0.9 * size)))
        # Letters with descenders would stand lower.
        one.shift((-number * 1.5 * px(size) - one[0].get_bottom()[1]) * UP)
        spaces = len(row) - len(row.lstrip())
        one.shift((advance(" " * spaces) * px(size) - one[0].get_left()[0]) * RIGHT)
        written.add(one)
    return written


class Place(VGroup):
    """A `room` with its name and some facts on top as `words`; from `floor` to `ceiling` it is free."""

    def __init__(self, room: VMobject, name: str, *facts: str) -> None:
        theme, wide = theme_now(), room.width - px(30)
        self.room = room.set_fill(ManimColor(theme.panel), 1.0)
        self.words = VGroup(lines(name, 48, wide, color=theme.text, bold=True))
        self.words.add(*(lines(fact, 42, wide, color=theme.quiet) for fact in facts))
        for line in self.words:
            fit(line, wide)
        self.words.arrange(DOWN, buff=px(20)).next_to(room.get_top(), DOWN, px(24))
        super().__init__(self.room, self.words)

    @property
    def floor(self) -> float:
        return float(self.room.get_bottom()[1]) + px(28)

    @property
    def ceiling(self) -> float:
        return float(self.words.get_bottom()[1]) - px(28)


class Processors(Place):
    """A panel with `boxes`, row by row, each a processor."""

    def __init__(self, room: VMobject, rows: int, columns: int, name: str, *facts: str) -> None:
        super().__init__(room, name, *facts)
        high, wide = (self.ceiling - self.floor) / rows, (room.width - px(50)) / columns
        self.columns, self.boxes = columns, VGroup()
        for _ in range(rows * columns):
            self.boxes.add(rounded(0.82 * wide, 0.78 * high, px(12), theme_now().quiet, 4))
        self.boxes.arrange_in_grid(rows=rows, cols=columns, buff=(0.18 * wide, 0.22 * high))
        self.boxes.move_to([room.get_x(), (self.floor + self.ceiling) / 2, 0])
        self.add(self.boxes)

    def row(self, number: int) -> VGroup:
        return VGroup(*self.boxes[number * self.columns : (number + 1) * self.columns])
