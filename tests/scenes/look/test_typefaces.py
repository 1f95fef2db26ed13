"""Typefaces: the fonts that come with films have what these need, and are found."""

import subprocess
import sys
from itertools import product

import cairo
import pytest

from tilesim_scenes.look.text import _by_pango, _context, _lacks, advance
from tilesim_scenes.look.typefaces import MONO, SANS, missing

FACES = list(product((SANS, MONO), (False, True)))
LETTERS = "Ação, Ödön, ůž; Αθήνα λΣμΔ; 12.5 µs × − ± ≤ ≥ ≈ ≠ √ ∞ · → ← ↑ ↓ … ’ “ ” – ° ² ³ ¹⁰⁶ x₀"


@pytest.mark.parametrize(("family", "bold"), FACES)
def test_a_face_has_the_letters_of_films(family: str, bold: bool) -> None:
    context = _context(cairo.RecordingSurface(cairo.CONTENT_ALPHA, None), family, bold)
    assert context.get_font_face().get_family() == family and family not in missing()
    assert not [letter for letter in LETTERS if _lacks(context, letter)]


@pytest.mark.parametrize(("family", "bold"), FACES)
def test_digits_are_equally_wide(family: str, bold: bool) -> None:
    for digit in "0123456789":
        assert advance(digit, family, bold) == advance("0", family, bold)
        assert advance(f"1{digit}", family, bold) == pytest.approx(2 * advance("0", family, bold))


@pytest.mark.parametrize(("family", "bold"), FACES)
def test_pango_and_cairo_set_the_same_face(family: str, bold: bool) -> None:
    for text in ("1.5", "Hamburg", "mill"):
        assert _by_pango(text, family, bold)[1] == pytest.approx(advance(text, family, bold), rel=0.01)


def test_fonts_are_found_where_a_text_was_set_before(tmp_path) -> None:
    """As in a notebook that draws with Manim first: Pango then knows only the fonts that it had found."""
    code = (
        "from manim import Text; Text('0', font='serif');"
        "from tilesim_scenes.look.typefaces import MONO;"
        "wide = lambda text: Text(text, font=MONO, warn_missing_font=False).width;"
        "print(wide('WWWWWWWW') / wide('iiiiiiii') < 1.2)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == ["True"], done.stderr
