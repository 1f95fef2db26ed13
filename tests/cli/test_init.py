"""`tilesim init`: a scene that renders as it was written, and never over another file."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import tilesim

from tilesim import cli
from tilesim.cli.commands.init import TAKEN, class_name


def init(*words):
    found = tilesim("init", *words)
    assert found.stdout == ""
    return found.stderr


def test_what_was_written_renders_as_options_of_the_command_line_say(tmp_path, monkeypatch):
    pytest.importorskip("manim")
    monkeypatch.chdir(tmp_path)
    said = init(tmp_path / "my_film.py")
    assert "my_film.py:MyFilm" in said
    small = ("--size", "480p", "--fps", "4", "--jobs", "1")
    tilesim("export", "my_film.py:MyFilm", *small, "-o", "x.mp4")
    assert (tmp_path / "x.mp4").stat().st_size > 10_000
    words = ["manim", "render", "-ql", "-s", "--media_dir", "media", "my_film.py"]
    subprocess.run([sys.executable, "-m", *words], check=True, capture_output=True, timeout=300)
    assert list((tmp_path / "media").rglob("MyFilm*.png"))
    words = ("--schedule", "naive", "--sms", "2", "--m", "256", "--n", "512", "--size", "480p", "-o", "a.png")
    tilesim("export", "my_film.py", *words)
    assert (tmp_path / "a.png").stat().st_size > 5_000


@pytest.mark.parametrize(
    "stem",
    ["my_film", "race-2", "3 waves", "run", "film", "größe", "class", "--", "_", "tileGrid", "TileGrid"],
)
def test_any_name_makes_a_scene(tmp_path, stem):
    init("--", tmp_path / f"{stem}.py")
    tree = ast.parse((tmp_path / f"{stem}.py").read_text("utf-8"))
    (scene,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert scene.name == class_name(stem)
    assert scene.name not in TAKEN


def test_the_names_that_it_imports_are_known():
    template = Path(cli.__file__).with_name("new_scene.txt").read_text("utf-8")
    imported = {
        name.name
        for node in ast.walk(ast.parse(template.replace("$name", "Mine")))
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    assert {name for name in imported if not name.isupper()} == set(TAKEN)
