"""The site is built without a warning, and shows what the code is."""

import html
import json
import os
import re
import sys
from pathlib import Path

import click
import pytest
from pages import DOCS, ROOT, made_figures, run

from tilesim.cli import main
from tilesim.cli.packages import declared

pytest.importorskip("sphinx")
pytest.importorskip("myst_parser")


BUILD = """
import json, sys
import figures
made = json.load(sys.stdin)
figures.figures = lambda: made
from sphinx.cmd.build import main
sys.exit(main(sys.argv[1:]))
"""
"""Sphinx with the figures that this process made, as they take seconds."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built pages; a warning, such as of a dead link or an unknown figure, is an error."""
    folder = tmp_path_factory.mktemp("site")
    words = ("-q", "-W", "--keep-going", "-n", "-d", folder / "trees", "-b", "html")
    paths = os.pathsep.join([str(ROOT / "docs"), str(ROOT / "benchmarks"), os.environ.get("PYTHONPATH", "")])
    built = run(
        *(sys.executable, "-c", BUILD, *words, ROOT / "docs", folder / "html"),
        cwd=ROOT, said=json.dumps(made_figures()), PYTHONPATH=paths,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return folder / "html"


def text(page: Path) -> str:
    """What a page says, without its markup."""
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8")))


def test_every_page_is_built(site: Path) -> None:
    pages = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in DOCS}
    assert len(pages) >= 15
    assert pages <= {page.relative_to(site) for page in site.rglob("*.html")}


def test_the_sidebar_has_the_pages_of_films_in_the_order_of_the_course(site: Path) -> None:
    linked = re.findall(r'href="ideas/([\w-]+)\.html"', (site / "index.html").read_text("utf-8"))
    listed = [name for name in dict.fromkeys(linked) if name in declared()]
    assert listed == [name for name in declared() if (ROOT / "docs" / "ideas" / f"{name}.md").is_file()]


def test_the_playground_is_where_its_page_says(site: Path) -> None:
    built = site / "_static" / "playground"
    assert "tilesim playground" in (built / "index.html").read_text("utf-8")
    assert (built / "tilesim.zip").is_file()


def test_the_playground_is_linked_where_it_can_run(site: Path) -> None:
    linked = re.findall(r'class="playground" href="([^"]+)"', (site / "playground.html").read_text("utf-8"))
    there = (site / "_static" / "playground" / "pyodide").is_dir()
    assert linked == ["_static/playground/index.html"] * there


def test_films_play_on_their_pages_and_are_there(site: Path) -> None:
    for page in (site / "ideas").glob("*.html"):
        for name in re.findall(r'(?:data-src|poster)="([^"]+)"', page.read_text("utf-8")):
            assert (page.parent / name).is_file(), (page, name)
    assert "data-src" in (site / "ideas" / "race.html").read_text("utf-8")


def test_no_figure_is_left_out(site: Path) -> None:
    assert not [page for page in site.rglob("*.html") if "{{" in text(page)]


def test_the_command_line_has_every_command_and_option(site: Path) -> None:
    for name in main.list_commands(click.Context(main)):
        command, shown = main.get_command(click.Context(main), name), text(site / "commands" / f"{name}.html")
        assert command and f"tilesim {name} [OPTIONS]" in shown
        assert all(option in shown for p in command.params for option in p.opts if option.startswith("--"))


def test_accuracy_shows_every_run_that_is_held_out(site: Path) -> None:
    runs = list((ROOT / "tilesim" / "data" / "held_out").glob("*.npz"))
    shown = re.findall(
        r"^\S+(?: table)? \d+x\d+x\d+ .* µs +.* µs ", text(site / "accuracy.html"), re.MULTILINE
    )
    assert len(shown) == len(runs) > 50


def test_every_figure_is_on_a_page() -> None:
    names = made_figures()
    pages = "".join(page.read_text("utf-8") for page in DOCS)
    assert len(names) > 50
    assert not [name for name in names if f"{{{{ {name} }}}}" not in pages]
