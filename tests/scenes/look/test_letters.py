"""Letters are what Manim's `Text` makes of the same text."""

import numpy as np
import pytest
from manim import Text

from tilesim_scenes.look.letters import Letters

TEXTS = (
    "Thread block 3 computes µs, “ab”",
    "fi ffl ( )\n  second line",
    "标题 naïve\N{GREEK SMALL LETTER MU} e\N{COMBINING ACUTE ACCENT}",
    "שלום نص",
    " ",
    "",
    "a letter that no font has: \N{EGYPTIAN HIEROGLYPH A001}",
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("weight", ["NORMAL", "BOLD"])
def test_letters_are_manims(text, weight):
    look = {"font": "DejaVu Sans", "weight": weight, "font_size": 33, "color": "#ff8800"}
    ours, theirs = Letters(text, **look), Text(text, **look)
    assert len(ours) == len(theirs)
    for own, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(own.points, other.points, rtol=0, atol=1e-9)
        for part in ("fill_rgbas", "stroke_rgbas", "stroke_width"):
            np.testing.assert_array_equal(getattr(own, part), getattr(other, part))


def test_a_letter_is_read_once_for_all_texts(monkeypatch):
    from tilesim_scenes.look import letters

    Letters("sevens", font_size=21)
    monkeypatch.setattr(letters, "VMobjectFromSVGPath", None)
    assert len(Letters("seven", font_size=21)) == 5
