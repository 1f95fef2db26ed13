"""The language of what films and the player say."""

from collections.abc import Mapping

import click

from tilesim.cli.packages import load

LANGUAGES = ("en", "zh", "pt")
SOURCE = LANGUAGES[0]

language_option = click.option("--lang", type=click.Choice(LANGUAGES), help=f"Of what it says.  [{SOURCE}]")


def catalogue(lang: str) -> Mapping[str, str]:
    """The translations into `lang`, by their English; none where that is the language.

    Raises TilesimError where what reads them is missing.
    """
    return {} if lang == SOURCE else load("scenes", "look.language").catalogue(lang)
