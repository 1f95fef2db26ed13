"""SM: a streaming multiprocessor as a box, with its name beside it, and room for thread blocks."""

from manim import LEFT, RIGHT, UP, VGroup

from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import AnyColour, mixed, readable, theme_now
from tilesim_scenes.mobjects.drawing.quads import rounded


class SM(VGroup):
    """A rounded box in the hue of the SM: `box`, and `heading` above its upper left corner."""

    def __init__(
        self,
        name: str,
        colour: AnyColour,
        width: float | None = None,
        height: float | None = None,
        size: float = 48,
    ) -> None:
        theme = theme_now()
        fill = mixed(theme.background, theme.panel, 0.8)
        self.box = rounded(width or px(360), height or px(300), px(20), fill, colour, 6)
        self.heading = label(name, size, readable(colour), bold=True)
        self.heading.next_to(self.box.get_corner(UP + LEFT), RIGHT, px(24)).shift(-UP * px(14 + size / 2))
        self.colour = colour
        super().__init__(self.box, self.heading)
