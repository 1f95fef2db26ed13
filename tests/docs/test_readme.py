"""The README is short and shows what is so, and the examples run, each in an empty folder."""

import re
import runpy
import shutil
from pathlib import Path

import pytest
from pages import DOCS, ROOT, made_figures, there
from refresh import refreshed

from tilesim.cli.output.tables import NOT_COUNTED
from tilesim.cli.packages import declared

SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
README = (ROOT / "README.md").read_text("utf-8")


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 200
    assert (len(SCRIPTS), len(NOTEBOOKS)) == (4, 3), "it says how many examples there are"


def test_its_tables_figures_and_outputs_are_those_of_now_and_none_names_a_field_that_lacks() -> None:
    """`python docs/refresh.py` writes them anew."""
    assert README.count("<!-- table:") == 1
    assert refreshed(README, made_figures()) == README
    assert not [name for name, text in made_figures().items() if NOT_COUNTED in text]


def test_what_it_links_is_there_and_what_is_loaded_with_it_is_small() -> None:
    for page in ("README.md", "CONTRIBUTING.md"):
        links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", (ROOT / page).read_text("utf-8"))
        assert links and all((ROOT / link).exists() for link in links)
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


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_runs(script: Path, tmp_path: Path) -> None:
    if "tilesim_scenes" in script.read_text("utf-8"):
        pytest.importorskip("manim")
    with there(tmp_path):
        runpy.run_path(str(script), run_name="__main__")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells), "a notebook is kept without its outputs"
    if any("manim" in cell.source for cell in notebook.cells):
        pytest.importorskip("manim")
    for cell in notebook.cells:
        small = cell.source.replace('size="480p", fps=15', 'size="256x144", fps=2')
        cell.source = small.replace("-r 640,360 --fps 15", "-r 160,90 --fps 2")
    # What Manim writes lies below the folder that a notebook runs in.
    for name in ("examples", "tests"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / "tests" / "own_kernel.csv", tmp_path / "tests")
    resources = {"metadata": {"path": str(tmp_path / "examples")}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    shown = [output.get("data", {}).get("text/html", "") for output in outputs]
    assert any("<iframe" in html and "sandbox" in html for html in shown), "the player"
    assert sum("<video" in html for html in shown) == 2, "a film of a trace, and a scene of one's own"
