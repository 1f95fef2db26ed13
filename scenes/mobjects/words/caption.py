"""Caption: the sentence that a film says at a time."""

from manim import ManimColor, Rectangle, VGroup, config

from tilesim_scenes.look.text import lines, px, width
from tilesim_scenes.look.theme import theme_now

SIZE, SMALLER, BASELINE, MARGIN = 62, 54, 1006, 0.05
"""Pixels of a 1080-row frame: of its letters in one line and in several, and from the frame's top to its
lowest baseline; and the share of the frame's width that stays free on both sides."""
GROUND = 0.8
"""Opacity of the ground that captions stand on, in the colour of the background."""


class Caption(VGroup):
    """`text`, bold and centred at the foot of the frame, in two lines where one is too narrow."""

    def __init__(self, text: str) -> None:
        room = config.frame_width * (1 - 2 * MARGIN)
        one_line = px(width(text, SIZE, bold=True)) <= room
        words = lines(text, SIZE if one_line else SMALLER, room, most=3, bold=True)
        # Where a camera has come near, the picture reaches below the words.
        ground = Rectangle(
            width=words.width + px(SIZE),
            height=words.height + px(0.6 * SIZE),
            stroke_width=0,
            fill_color=ManimColor(theme_now().background),
            fill_opacity=GROUND,
        ).move_to(words)
        super().__init__(ground, *words)
        self.text = text
        foot = config.frame_height / 2 - px(1080 - BASELINE)
        self.move_to([0, words.height / 2 - foot, 0])


def reading_time(text: str) -> float:
    """Seconds to notice a caption and read it aloud: 1, and 0.33 a word, or two letters without spaces.

    >>> reading_time("Each tick counts.")
    1.99
    """
    words = len(text.split()) if " " in text or text.isascii() else len(text) / 2
    return 1 + 0.33 * words
