"""Galleries: films from a file that lists them, whole or not at all, and one sentence for each mistake."""

import tomllib
from pathlib import Path

import av
import numpy as np
import pytest
from click.testing import CliRunner
from ladders import write
from PIL import Image

pytest.importorskip("manim", reason="the films need Manim")

import tilesim
from tilesim import Device, Problem, simulate
from tilesim.cli import main
from tilesim.cli.packages import load, scene_names

ROOT = Path(tilesim.__file__).parents[1]
SHORT = 'size = "480p"\nfps = 5\n'
TWO = f"""
[[film]]
scene = "naive"
output = "naive.mp4"
poster = "naive.png"
trace = "runs/a.npz"
theme = "light"
{SHORT}

[[film]]
scene = "race"
output = "race.gif"
from = 6
to = 7.5
sms = 3
m = 384
n = 768
k = 64
{SHORT}
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("out", "lists", "lists/runs"):
        (tmp_path / folder).mkdir()
    simulate("naive", Problem(384, 768, 64), Device(3)).save("lists/runs/a.npz")
    return tmp_path


def gallery(text, *args):
    Path("lists/films.toml").write_text(text, "utf-8")
    return CliRunner().invoke(main, ["gallery", "lists/films.toml", "-o", "out", *args])


def made():
    return sorted(path.name for path in Path("out").iterdir())


def frames(name):
    with av.open(f"out/{name}") as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def test_a_gallery_is_its_films(here):
    result = gallery(TWO, "--jobs", "1")
    assert (result.exit_code, result.output) == (0, "")
    assert made() == ["naive.mp4", "naive.png", "race.gif"]
    shown, looped = frames("naive.mp4"), frames("race.gif")
    assert len(shown) == 75 and shown[0].shape == (480, 854, 3) and shown[0][2, 2].min() > 245
    assert 2 <= len(looped) <= 8
    with Image.open("out/naive.png") as poster:
        assert np.abs(np.asarray(poster).astype(int) - shown[-1]).mean() < 4


def test_processes_make_the_same_gallery(here):
    gallery(TWO, "--jobs", "1")
    alone = {name: Path("out", name).read_bytes() for name in made()}
    result = gallery(TWO, "--jobs", "2")
    assert (result.exit_code, result.output) == (0, "")
    assert {name: Path("out", name).read_bytes() for name in made()} == alone


def test_without_a_file_it_is_every_film(here, monkeypatch):
    begun, stage = [], load("scenes", "_stage.export")
    write(here / "ladder.json")
    monkeypatch.setattr("tilesim.ladder.file.FOLDER", here)

    class Begun:
        def finish(self):
            pass

    def begin(act, film, output, form, cut, executor, progress):
        begun.append((act.__module__, output, form, act.figures(film)))
        return Begun()

    monkeypatch.setattr(stage, "begin", begin)
    result = CliRunner().invoke(main, ["gallery", "-o", "out", "--jobs", "1"])
    assert (result.exit_code, result.output) == (0, "")
    assert [str(output) for _, output, _, _ in begun] == [f"out/{name}.mp4" for name in scene_names()]
    assert all(form == "mp4" and figures for _, _, form, figures in begun)


FILM = f'[[film]]\nscene = "naive"\noutput = "a.mp4"\n{SHORT}'
MISTAKES = {
    "no TOML": ("film = [", "lists/films.toml: this is not a TOML file"),
    "no films": ("", "lists/films.toml: a gallery has a table [[film]] for each film, and at least one"),
    "one table": ('[film]\nscene = "naive"', "a table [[film]] for each film"),
    "another entry": (f'title = "x"\n{FILM}', "there is no entry 'title'"),
    "no scene": ('[[film]]\noutput = "a.mp4"', "film 1 of the gallery: it has no scene"),
    "no output": ('[[film]]\nscene = "naive"', "film 1 of the gallery: it has no output"),
    "wrong scene": (FILM.replace("naive", "naiv"), "there is no scene 'naiv'; did you mean 'naive'?"),
    "wrong size": (FILM.replace("480p", "4k"), "there is no size '4k'"),
    "wrong fps": (FILM.replace("fps = 5", "fps = 500"), "fps is 500; it must lie between 1 and 120"),
    "fps as text": (FILM.replace("fps = 5", 'fps = "5"'), "fps is '5'; it must be a whole number"),
    "scene as a number": ('[[film]]\nscene = 1\noutput = "a.mp4"', "scene is 1; it must be a text"),
    "wrong setting": (f"{FILM}colour = 1", "film 1 of the gallery: there is no film setting 'colour'"),
    "no such trace": (f'{FILM}trace = "no.npz"', "lists/no.npz"),
    "the second": (f"{FILM}{FILM}sms = 0", "film 2 of the gallery: "),
    "a still": (FILM.replace("a.mp4", "a.png"), "the output 'a.png' must end in one of .mp4"),
    "a poster": (f'{FILM}poster = "a.jpg"', "the poster 'a.jpg' must end in .png"),
    "beyond the end": (f"{FILM}to = 99", "there is no part of the film from 0 s to 99 s"),
    "two of a name": (FILM + FILM, "film 2 of the gallery: another one writes 'a.mp4' as well"),
    "another folder": (FILM.replace("a.mp4", "no/a.mp4"), "the folder out/no does not exist"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_sentence_before_any_film_is_made(case, here):
    text, words = MISTAKES[case]
    result = gallery(text, "--jobs", "1")
    assert result.exit_code == 1 and result.stderr.count("\n") == 1
    assert result.stderr.startswith("error: ") and words in result.stderr
    assert isinstance(result.exception, SystemExit) and made() == []


def test_the_gallery_of_the_readme_makes_what_it_shows():
    films = tomllib.loads((ROOT / "media" / "gallery.toml").read_text("utf-8"))["film"]
    listed = {film[key] for film in films for key in ("output", "poster") if key in film}
    assert listed | {"gallery.toml", "sawtooth.png"} == {path.name for path in (ROOT / "media").iterdir()}
