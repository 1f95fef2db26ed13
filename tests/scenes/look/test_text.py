"""Text: lines break where they are told to, in frames of any size."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manim import ManimColor, Square, config
from watching import frame

from tilesim_scenes.look.text import LEAST_SIZE, cut, keep_apart, label, lines, px, width
from tilesim_scenes.look.theme import THEMES, contrast, readable, sm_colour

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
    with frame(1080, 1080, background_color=ManimColor(ground)):
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


BOXES = st.lists(
    st.tuples(st.integers(-3, 3), st.floats(0.1, 2)), min_size=1, max_size=6, unique_by=lambda box: box[0]
)
"""Where words stand, and how large they are."""


@given(BOXES, st.integers(0, 1))
def test_words_are_kept_apart_in_their_order_and_between_the_ends(boxes: list, dim: int) -> None:
    words = [Square().stretch_to_fit_width(wide).stretch_to_fit_height(wide) for _, wide in boxes]
    for word, (at, _) in zip(words, boxes, strict=True):
        word.set_coord(at, dim)
    order = sorted(range(len(words)), key=lambda number: boxes[number][0])
    keep_apart(words, 0.2, -4.0, 4.0, dim)
    ends = [[word.get_extremum_along_dim(dim=dim, key=side) for side in (-1, 1)] for word in words]
    assert min(low for low, _ in ends) >= -4 - 1e-6 and max(high for _, high in ends) <= 4 + 1e-6
    moved = [ends[number] for number in order]
    assert all(later[0] > earlier[1] - 1e-6 for earlier, later in pairwise(moved))
