"""Language: every sentence that a film says goes through `tr`, whose first argument is its English.

Translations are gettext catalogues, `locale/zh.po` and so on, read as they are by Babel: nothing is compiled.
"""

import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tilesim.errors import TilesimError

SOURCE = "en"
CATALOGUES = Path(__file__).parents[1] / "locale"
OWN_LETTERS_END = "\u0400"
"""The letters before this, Latin and Greek, come with films, in `typefaces`."""
_sentences: Mapping[str, str] = {}


def tr(sentence: str, **fields: Any) -> str:
    """`sentence` in the film's language, with its fields filled in."""
    return _sentences.get(sentence, sentence).format(**fields)


def use_language(name: str) -> None:
    """Speak the language `name`, such as "en", from now on.

    Raises TilesimError where its catalogue, or Babel, which reads it, is missing.
    """
    global _sentences
    _sentences = {} if name == SOURCE else catalogue(name)


@cache
def check_font(name: str) -> None:
    """Raise TilesimError where the language `name` has letters of its own, and fontconfig no font with them.

    Where fontconfig's own `fc-list` is not installed, as on Windows, nothing is raised for want of a font.
    """
    command = shutil.which("fc-list")
    if name == SOURCE or command is None:
        return
    letters = filter(str.isalpha, "".join(catalogue(name).values()))
    if all(letter < OWN_LETTERS_END for letter in letters):
        return
    found = subprocess.run([command, f":lang={name}", "family"], capture_output=True, timeout=60)
    if found.returncode == 0 and not found.stdout.strip():
        raise TilesimError(
            f"no font for captions in {name} is installed; install one, such as Noto "
            "(apt install fonts-noto-cjk for Chinese, fonts-noto for other scripts)"
        )


@cache
def catalogue(name: str) -> Mapping[str, str]:
    """The translations into the language `name`, by their English."""
    try:
        from babel.messages.pofile import read_po
    except ImportError:
        raise TilesimError(
            f"captions in {name} need Babel; install it with: pip install '.[films]'"
        ) from None
    try:
        with open(CATALOGUES / f"{name}.po", "rb") as file:
            messages = list(read_po(file, locale=name))
    except OSError as error:
        raise TilesimError(f"the captions in {name} cannot be read ({error.strerror})") from None
    return {one.id: one.string for one in messages if one.id and one.string}
