"""Places: where bytes are, as panels with their names: memories, and the processors that load from them."""

from manim import DOWN, ManimColor, Rectangle, RoundedRectangle, VGroup

from tilesim_scenes.look.text import lines, px
from tilesim_scenes.look.theme import theme_now
from tilesim_scenes.mobjects.drawing.quads import rectangle, stroke_width


class Place(VGroup):
    """A `room` with its name and some facts on top as `words`; from `floor` to `ceiling` it is free."""

    def __init__(self, room: Rectangle, name: str, *facts: str) -> None:
        theme, wide = theme_now(), room.width - px(30)
        self.room = room.set_fill(ManimColor(theme.panel), 1.0)
        self.words = VGroup(lines(name, 48, wide, color=theme.text, bold=True))
        self.words.add(*(lines(fact, 42, wide, color=theme.quiet) for fact in facts))
        for line in self.words:
            line.scale(min(1.0, wide / line.width))
        self.words.arrange(DOWN, buff=px(20)).next_to(room.get_top(), DOWN, px(24))
        super().__init__(self.room, self.words)

    @property
    def floor(self) -> float:
        return float(self.room.get_bottom()[1]) + px(28)

    @property
    def ceiling(self) -> float:
        return float(self.words.get_bottom()[1]) - px(28)

    def spot(self, height: float) -> Rectangle:
        """Where a strip lies, at a share of the free height."""
        wide = 0.7 * min(self.room.width, px(330))
        strip = rectangle(wide, wide / 6)
        return strip.move_to([self.room.get_x(), self.floor + height * (self.ceiling - self.floor), 0])


class Processors(Place):
    """A panel with `boxes`, row by row, each a processor."""

    def __init__(self, room: Rectangle, rows: int, columns: int, name: str, *facts: str) -> None:
        super().__init__(room, name, *facts)
        high, wide = (self.ceiling - self.floor) / rows, (room.width - px(50)) / columns
        self.columns, self.boxes = columns, VGroup()
        for _ in range(rows * columns):
            box = RoundedRectangle(width=0.82 * wide, height=0.78 * high, corner_radius=px(12))
            self.boxes.add(box.set_stroke(ManimColor(theme_now().quiet), stroke_width(4)))
        self.boxes.arrange_in_grid(rows=rows, cols=columns, buff=(0.18 * wide, 0.22 * high))
        self.boxes.move_to([room.get_x(), (self.floor + self.ceiling) / 2, 0])
        self.add(self.boxes)

    def row(self, number: int) -> VGroup:
        return VGroup(*self.boxes[number * self.columns : (number + 1) * self.columns])
