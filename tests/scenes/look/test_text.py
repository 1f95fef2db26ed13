"""Text: lines break where they are told to, in frames of any size."""

from itertools import pairwise

import pytest
from manim import config
from watching import frame

from tilesim_scenes.look.text import LEAST_SIZE, cut, label, lines, px, width
from tilesim_scenes.look.theme import THEMES, contrast, hexadecimal, readable, sm_colour

LONG = "a title that goes on and on " * 6


@pytest.mark.parametrize("side", [64, 240, 1080])
def test_a_label_is_one_line_as_long_as_in_any_frame(side: int) -> None:
    with frame(1080, 1080):
        width = label(LONG, 60).width / px(60)
    with frame(side, side):
        whole = label(f"{LONG} ", 60)
        assert whole.height < 1.5 * px(60) and whole.width / px(60) == pytest.approx(width, rel=0.02)
        assert config.pixel_width == side


def test_a_line_does_not_part_a_figure_from_its_unit() -> None:
    said = "Main loops take 5.8 µs longer on silicon"
    with frame(1080, 1080):
        for room in (2.5, 3.5, 5.0):
            rows = [row.original_text for row in lines(said, 62, room, most=4)]
            assert len(rows) > 1 and any("5.8 µs" in row for row in rows)


@pytest.mark.parametrize("theme", THEMES)
def test_names_of_sms_stand_out_from_the_ground(theme: str) -> None:
    ground = THEMES[theme].background
    with frame(1080, 1080, background_color=hexadecimal(ground)):
        for sms in (4, 132):
            hues = [sm_colour(sm, sms) for sm in range(sms)]
            assert min(contrast(readable(hue), ground) for hue in hues) >= 3
            assert all(readable(hue) == hue for hue in hues if contrast(hue, ground) >= 3)


def test_lines_of_a_long_title_fit_and_do_not_touch() -> None:
    with frame(640, 360):
        rows = lines(LONG, 96, 12.0, most=3, bold=True)
        assert len(rows) == 3 and rows.width <= 12.01
        for upper, lower in pairwise(rows):
            assert upper.get_bottom()[1] > lower.get_top()[1]


@pytest.mark.parametrize("letter", ["i", "W", "核"])
def test_a_name_is_cut_to_the_room_it_has_and_no_shorter(letter: str) -> None:
    shown = cut(letter * 1000, px(400))
    assert shown.endswith("…") and px(width(shown, LEAST_SIZE)) <= px(400)
    assert px(width(f"{letter}{shown}", LEAST_SIZE)) > px(400)
    assert cut(shown, px(400)) == shown
