"""SM: a streaming multiprocessor as a box, with its name beside it, and room for thread blocks."""

from manim import LEFT, RIGHT, UP, ManimColor, RoundedRectangle, VGroup

from tilesim_scenes.look.text import label, px
from tilesim_scenes.look.theme import AnyColour, mixed, readable, theme_now
from tilesim_scenes.mobjects.drawing.quads import stroke_width


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
        width, height = width or px(360), height or px(300)
        self.box = RoundedRectangle(
            width=width,
            height=height,
            corner_radius=px(20),
            stroke_color=ManimColor(colour),
            stroke_width=stroke_width(6),
            fill_color=ManimColor(mixed(theme.background, theme.panel, 0.8)),
            fill_opacity=1.0,
        )
        self.heading = label(name, size, readable(colour), bold=True)
        self.heading.next_to(self.box.get_corner(UP + LEFT), RIGHT, px(24)).shift(-UP * px(14 + size / 2))
        self.colour = colour
        super().__init__(self.box, self.heading)
