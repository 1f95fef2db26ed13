"""The examples run: each script and notebook in an empty folder."""

import shutil
from pathlib import Path

import pytest
from pages import ROOT, run

SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


def test_there_are_as_many_as_the_readme_says() -> None:
    assert (len(SCRIPTS), len(NOTEBOOKS)) == (4, 3)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_runs(script: Path, tmp_path: Path) -> None:
    if "tilesim_scenes" in script.read_text("utf-8"):
        pytest.importorskip("manim")
    done = run("python", script, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells), "a notebook is kept without its outputs"
    if any("manim" in cell.source for cell in notebook.cells):
        pytest.importorskip("manim")
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
