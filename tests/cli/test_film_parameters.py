"""What films can be asked for: whatever does not fit is one sentence, wherever it was asked."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("manim", reason="the films need Manim")

from manim import tempconfig

from tilesim.cli import main
from tilesim.cli.arguments.film_parameters import PARAMETERS
from tilesim.cli.packages import scene_class, scene_names
from tilesim.errors import TilesimError
from tilesim_scenes.film.traces import ENVIRONMENT

ASKED = {name: scene_class(name).asked for name in scene_names()}
WRONG = (-1, 10**12, "x", 1.5, True, [[]])
"""Values that no parameter takes."""
OWN = [(film, name) for film, asked in ASKED.items() for name in PARAMETERS if name in asked]
MINE = """
from tilesim_scenes import Film
from tilesim_scenes.film.settings import LOOK, whole

class Mine(Film):
    asked = LOOK | {"warps": whole(1, 32)}
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE, "utf-8")
    return tmp_path


def refused(*words):
    """What a command that must not write anything says, in one line."""
    before = sorted(Path().iterdir())
    result = CliRunner().invoke(main, words)
    assert result.exit_code in (1, 2) and sorted(Path().iterdir()) == before, result.output
    assert result.stdout == "" and result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    return result.stderr


def as_toml(name, value):
    return f"{name} = {json.dumps(value)}\n"


def refused_by_gallery(film, name, value):
    text = f'[[film]]\nscene = "{film}"\noutput = "a.mp4"\n{as_toml(name, value)}'
    Path("films.toml").write_text(text, "utf-8")
    return refused("gallery", "films.toml", "-o", ".")


def refused_by_the_scene(scene, name, value, monkeypatch):
    """What a scene says of the file that TILESIM_FILM names, as Manim's own command would show it."""
    Path("settings.toml").write_text(as_toml(name, value), "utf-8")
    monkeypatch.setenv(ENVIRONMENT, "settings.toml")
    with tempconfig({"dry_run": True}), pytest.raises(SystemExit, match=r"^error: [^\n]+$") as error:
        scene().setup()
    return str(error.value)


def refused_by_its_class(film, name, value):
    with pytest.raises(TilesimError, match=r"^[^\n]+$") as error:
        scene_class(film).checked({name: value})
    return str(error.value)


@pytest.mark.parametrize("film", ASKED)
def test_a_parameter_of_other_films(film, here, monkeypatch):
    foreign = [name for name in PARAMETERS if name not in ASKED[film]]
    for name in foreign:
        assert f"there is no film setting '{name}'" in refused_by_its_class(film, name, 3)
    name, *_ = foreign
    said = f"there is no film setting '{name}'"
    assert said in refused("export", film, f"--{name}", "3")
    assert said in refused_by_gallery(film, name, 3)
    assert said in refused_by_the_scene(scene_class(film), name, 3, monkeypatch)


@pytest.mark.parametrize(("film", "name"), OWN)
def test_a_value_that_a_parameter_does_not_take(film, name, here, monkeypatch):
    option = f"--{name.replace('_', '-')}"
    for value in WRONG:
        assert name in refused_by_its_class(film, name, value)
    for value in ("x", "-1"):
        assert name in refused("export", film, f"{option}={value}").replace("-", "_")
    assert name in refused_by_gallery(film, name, -1)
    assert name in refused_by_the_scene(scene_class(film), name, -1, monkeypatch)


@pytest.mark.parametrize("film", ASKED)
def test_a_list_in_a_list_is_no_setting(film):
    for name in ASKED[film]:
        assert f"{name} is [[]]; it must be " in refused_by_its_class(film, name, [[]])


@pytest.mark.parametrize("value", ["0", "33", "-1"])
def test_a_number_of_warps_that_an_sm_has_not(value, here):
    said = refused("export", "mine.py", f"--warps={value}", "-o", "a.mp4")
    assert f"warps is {value}; it must be a whole number from 1 to 32" in said


def test_what_is_no_number_of_warps(here):
    assert "'--warps': 'x' is not a valid integer" in refused("export", "mine.py", "--warps", "x")


def test_a_next_film_that_there_is_not(here, monkeypatch):
    assert "did you mean 'naive'?" in refused("export", "race", "--next", "naiv")
    assert "did you mean 'naive'?" in refused_by_gallery("race", "next", "naiv")
    assert "did you mean 'naive'?" in refused_by_the_scene(scene_class("race"), "next", "naiv", monkeypatch)
