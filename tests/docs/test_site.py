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
from types import SimpleNamespace
import figures
made = json.load(sys.stdin)
figures.figures = lambda: made
sys.modules["stills"] = SimpleNamespace(draw=lambda folder: None)
from sphinx.cmd.build import main
sys.exit(main(sys.argv[1:]))
"""
"""Sphinx with the figures that this process made, and without stills of scenes, as both take seconds."""


def text(page: Path) -> str:
    """What a page says, without its markup."""
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8")))


def test_the_site_is_built_without_a_warning_and_shows_all_that_there_is(tmp_path: Path) -> None:
    """A warning, such as of a dead link or an unknown figure, is an error. One build answers all."""
    site = tmp_path / "html"
    words = ("-q", "-W", "--keep-going", "-n", "-d", tmp_path / "trees", "-b", "html")
    paths = os.pathsep.join([str(ROOT / "docs"), str(ROOT / "benchmarks"), os.environ.get("PYTHONPATH", "")])
    built = run(
        *(sys.executable, "-c", BUILD, *words, ROOT / "docs", site),
        cwd=ROOT, said=json.dumps(made_figures()), PYTHONPATH=paths,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr

    pages = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in DOCS}
    assert len(pages) >= 15 and pages <= {page.relative_to(site) for page in site.rglob("*.html")}
    assert not [page for page in site.rglob("*.html") if "{{" in text(page)], "a figure is left out"

    linked = re.findall(r'href="ideas/([\w-]+)\.html"', (site / "index.html").read_text("utf-8"))
    listed = [name for name in dict.fromkeys(linked) if name in declared()]
    in_order = [name for name in declared() if (ROOT / "docs" / "ideas" / f"{name}.md").is_file()]
    assert listed == in_order, "the sidebar has the pages of films in the order of the course"

    playground = site / "_static" / "playground"
    assert "tilesim playground" in (playground / "index.html").read_text("utf-8")
    assert (playground / "tilesim.zip").is_file()
    linked = re.findall(r'class="playground" href="([^"]+)"', (site / "playground.html").read_text("utf-8"))
    assert linked == ["_static/playground/index.html"] * (playground / "pyodide").is_dir()

    for page in (site / "ideas").glob("*.html"):
        for name in re.findall(r'(?:data-src|poster)="([^"]+)"', page.read_text("utf-8")):
            assert (page.parent / name).is_file(), (page, name)
    assert "data-src" in (site / "ideas" / "race.html").read_text("utf-8"), "films play on their pages"

    for name in main.list_commands(click.Context(main)):
        command, shown = main.get_command(click.Context(main), name), text(site / "commands" / f"{name}.html")
        assert command and f"tilesim {name} [OPTIONS]" in shown
        assert all(option in shown for p in command.params for option in p.opts if option.startswith("--"))

    row = r"^\S+(?: table)? \d+x\d+x\d+ .* µs +.* µs "
    shown = re.findall(row, text(site / "accuracy.html"), re.MULTILINE)
    runs = list((ROOT / "tilesim" / "data" / "held_out").glob("*.npz"))
    assert len(shown) == len(runs) > 50, "accuracy shows every run that is held out"


def test_every_figure_is_on_a_page() -> None:
    names = made_figures()
    pages = "".join(page.read_text("utf-8") for page in DOCS)
    assert len(names) > 50
    assert not [name for name in names if f"{{{{ {name} }}}}" not in pages]
