"""Typefaces: the fonts that come with films, which therefore look alike on every machine.

They are Inter and JetBrains Mono with digits of one width, made by docs/fonts.py. Once this is imported,
Pango and Cairo find them, and so does Manim's own `Text(font=SANS)`.
"""

import ctypes
from contextlib import suppress
from pathlib import Path

import manimpango

SANS, MONO = "Tilesim Sans", "Tilesim Mono"
FILES = Path(__file__).parent / "fonts"


for file in sorted(FILES.glob("*.ttf")):
    manimpango.register_font(str(file))
# Pango keeps the fonts that it knew when it set its first text, until it is given none.
with suppress(OSError, AttributeError):
    ctypes.CDLL(manimpango.cmanimpango.__file__).pango_cairo_font_map_set_default(None)


def missing() -> list[str]:
    """Which of the families Pango does not find."""
    found = set(manimpango.list_fonts())
    return [family for family in (SANS, MONO) if family not in found]
