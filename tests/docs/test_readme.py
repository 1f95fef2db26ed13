"""The README is short, and shows what is so."""

import re

import pytest
from pages import DOCS, ROOT, made_figures
from refresh import refreshed

from tilesim.cli.output.tables import NOT_COUNTED
from tilesim.cli.packages import declared

README = (ROOT / "README.md").read_text("utf-8")


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 200


def test_its_tables_figures_and_outputs_are_those_of_now() -> None:
    """`python docs/refresh.py` writes them anew."""
    assert README.count("<!-- table:") == 1
    assert refreshed(README, made_figures()) == README


def test_no_table_of_a_page_names_a_field_that_its_report_lacks() -> None:
    assert not [name for name, text in made_figures().items() if NOT_COUNTED in text]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_what_it_links_is_there(page: str) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / page).read_text("utf-8"))
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]


def test_what_is_loaded_with_it_is_small() -> None:
    pictures = set(re.findall(r"!\[[^]]*\]\(([^)]+)\)", README))
    assert (ROOT / "media/race.gif").stat().st_size <= 3 * 2**20
    assert max(film.stat().st_size for film in (ROOT / "media").glob("*.mp4")) <= 10**6
    assert sum((ROOT / picture).stat().st_size for picture in pictures) <= 4 * 2**20


def test_every_film_that_is_shown_is_in_the_gallery() -> None:
    """So `make media` renders all of them anew."""
    made = {entry["output"] for film in declared().values() for entry in film.gallery}
    pages = [README, *(page.read_text("utf-8") for page in DOCS)]
    films = {name for page in pages for name in re.findall(r"media/([\w-]+\.(?:mp4|gif))", page)}
    assert len(films) >= 8
    assert films <= made
