"""The language of what films and the player say."""

from typing import Any

import click

from tilesim.cli.packages import load

LANGUAGES = ("en", "zh", "pt")
SOURCE = LANGUAGES[0]

language_option = click.option("--lang", type=click.Choice(LANGUAGES), help=f"Language.  [{SOURCE}]")


def spoken(lang: str | None) -> dict[str, Any]:
    """The language, English where none is named, and its words by their English, as a page takes them."""
    lang = lang or SOURCE
    return {"lang": lang, "words": {} if lang == SOURCE else load("scenes", "look.language").catalogue(lang)}
