"""Galleries: films from a file that lists them, whole or not at all, and one sentence for each mistake."""

from pathlib import Path

import pytest
from command_line import tilesim
from film_files import frames
from PIL import Image

pytest.importorskip("manim", reason="the films need Manim")

from tilesim import Device, Problem, simulate
from tilesim.cli.arguments.options import MAX_TILES
from tilesim.cli.packages import declared, load

ROOT = Path(__file__).parents[2]
SHORT = 'size = "128x72"\nfps = 5\n'
SCENE = """
from manim import *

class Moves(Scene):
    def construct(self):
        self.play(Square().animate.shift(RIGHT), run_time=1)
"""
TWO = f"""
[[film]]
scene = "naive"
output = "naive.mp4"
poster = "naive.png"
trace = "runs/a.npz"
theme = "light"
to = 2
{SHORT}

[[film]]
scene = "moves.py:Moves"
output = "moves.gif"
from = 0.2
{SHORT}
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for folder in ("out", "lists", "lists/runs"):
        (tmp_path / folder).mkdir()
    simulate("naive", Problem(384, 768, 64), Device(3)).save("lists/runs/a.npz")
    Path("lists/moves.py").write_text(SCENE, "utf-8")
    return tmp_path


def gallery(text, *args, code=0):
    Path("lists/films.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return tilesim("gallery", "lists/films.toml", "-o", "out", *args, code=code)


def made():
    return sorted(path.name for path in Path("out").iterdir())


def test_a_gallery_is_its_films_whatever_number_of_processes_makes_it(here):
    result = gallery(TWO, "--jobs", "1")
    assert result.stdout == "" and made() == ["moves.gif", "naive.mp4", "naive.png"]
    said = [line.split(", ")[0] for line in result.stderr.splitlines()]
    assert said == ["wrote out/naive.mp4 (2 s", "wrote out/naive.png (128x72", "wrote out/moves.gif (0.8 s"]
    shown = frames("out/naive.mp4", "rgb24")
    assert len(shown) == 10 and shown[0].shape == (72, 128, 3) and shown[0][2, 2].min() > 240
    with Image.open("out/naive.png") as poster:
        assert poster.size == (128, 72)
    alone = {name: Path("out", name).read_bytes() for name in made()}
    assert gallery(TWO, "--jobs", "2").stdout == ""
    assert {name: Path("out", name).read_bytes() for name in made()} == alone


def test_without_a_file_it_is_every_film(here, monkeypatch):
    orders, exporting = [], load("scenes", "render.export")
    made_up = exporting.Exported(1.0, exporting.Extras(), {})
    monkeypatch.setattr(exporting, "export", lambda *order: orders.append(order[:2]) or made_up)
    assert tilesim("gallery", "-o", "out", "--jobs", "1").stdout == ""
    assert [str(output) for _, output in orders] == [f"out/{name}.mp4" for name in declared()]
    assert all(order.format.form == "mp4" and order.is_ours for order, _ in orders)


FILM = f'[[film]]\nscene = "naive"\noutput = "a.mp4"\n{SHORT}'
COURSE = f'[[film]]\nscene = "course"\noutput = "a.mp4"\nfilms = FILMS\n{SHORT}'
LINKS = {"link.png": "linked.png", "gallery.mp4": "../lists/films.toml", "trace.mp4": "../lists/runs/a.npz"}
"""In the folder that is written into."""
LINKED = f'{FILM}poster = "link.png"\n{FILM.replace("a.mp4", "b.mp4")}poster = "linked.png"'
TRACE = FILM.replace("a.mp4", "trace.mp4")
MISTAKES = {
    "no TOML": ("film = [", "lists/films.toml: this is not a TOML file"),
    "binary": (b"\xff\xfe[\0" + bytes(99), "lists/films.toml: this is not a TOML file ("),
    "no films": ("", "film is None; it must be a table [[film]] for each film, and at least one"),
    "one table": ('[film]\nscene = "naive"', "a table [[film]] for each film"),
    "another entry": (f'title = "x"\n{FILM}', "there is no entry 'title'"),
    "no scene": ('[[film]]\noutput = "a.mp4"', "film 1 of the gallery: it has no scene"),
    "no output": ('[[film]]\nscene = "naive"', "film 1 of the gallery: it has no output"),
    "wrong scene": (FILM.replace("naive", "naiv"), "there is no film 'naiv'; did you mean 'naive'?"),
    "wrong size": (FILM.replace("128x72", "8k"), "there is no size '8k'"),
    "wrong fps": (FILM.replace("fps = 5", "fps = 500"), "fps is 500; it must be a whole number from 1 to"),
    "scene as a number": ('[[film]]\nscene = 1\noutput = "a.mp4"', "scene is 1; it must be a text"),
    "no such trace": (f'{FILM}trace = "no.npz"', "lists/no.npz"),
    "the second": (f"{FILM}{FILM}sms = 0", "film 2 of the gallery: "),
    "wrong setting": (f"{FILM}colour = 1", "film 1 of the gallery: there is no film setting 'colour'"),
    "no film": (FILM.replace("a.mp4", "a.avi"), "'a.avi' ends in no format of a film"),
    "a poster": (f'{FILM}poster = "a.jpg"', "the poster 'a.jpg' must end in .png"),
    "an empty part": (f"{FILM}from = 3\nto = 2", "there is no part of a film from 3 s to 2 s"),
    "no such scene in a file": (FILM.replace("naive", "moves.py:Move"), "did you mean 'Moves'?"),
    "a setting of films": (f'{FILM.replace("naive", "moves.py")}theme = "dark"', "--theme is of tilesim's"),
    "two of a name": (FILM + FILM, "cannot write out/a.mp4 and out/a.mp4"),
    "another spelling": (
        FILM + FILM.replace("a.mp4", "./../out/a.mp4"),
        "out/../out/a.mp4 and out/a.mp4",
    ),
    "a poster of a link": (LINKED, "cannot write out/linked.png and out/link.png: they are the"),
    "the gallery itself": (FILM.replace("a.mp4", "gallery.mp4"), "cannot write out/gallery.mp4: it is read"),
    "its own trace": (f'{TRACE}trace = "runs/a.npz"', "out/trace.mp4: it is read as lists/runs/a.npz"),
    "a trace of another film": (f'{FILM}trace = "runs/a.npz"\n{TRACE}', "it is read as lists/runs/a.npz"),
    "a key misspelt": (f'{FILM}postre = "b.png"', "did you mean 'poster'?"),
    "a hexadecimal of 5,000 digits": (f"{FILM}seed = 0x{'f' * 5000}", "seed is an int of thousands of dig"),
    "a null in its name": (FILM.replace("a.mp4", "a\\u0000.mp4"), "it must be a file's name"),
    "a date": (f"{FILM}m = 1979-05-27", "m is datetime.date(1979, 5, 27); it must be a whole number"),
    "a ladder's film of SMs": (FILM.replace("naive", "ladder") + "sms = 4", "no film setting 'sms'"),
    "a course of nothing": (COURSE.replace("FILMS", "[]"), "films is []; it must be a list of films, and at"),
    "a course of a number": (COURSE.replace("FILMS", "[3]"), "films is [3]; it must be a list of films"),
    "a course of a typo": (COURSE.replace("FILMS", '["naiv"]'), "did you mean 'naive'?"),
    "a course from": (COURSE.replace("FILMS", '["naive"]') + "from = 2", "--from is of one film; a course"),
    "another folder": (FILM.replace("a.mp4", "no/a.mp4"), "the folder out/no does not exist"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_sentence_before_any_film_is_made(case, here):
    text, words = MISTAKES[case]
    for link, target in LINKS.items():
        Path("out", link).symlink_to(target)
    before = made()
    assert words in gallery(text, "--jobs", "1", code=1).stderr
    assert made() == before


def test_limits_of_a_gallery(here):
    refusal = tilesim("gallery", "/dev/zero", "-o", "out", code=1).stderr
    assert "/dev/zero: this is larger than" in refusal, "one without an end is not read for ever"
    assert load("scenes", "film.traces").MOST_TILES == MAX_TILES


def test_the_gallery_of_the_readme_makes_what_it_shows():
    entries = [entry for film in declared().values() for entry in film.gallery]
    made = {entry[key] for entry in entries for key in ("output", "poster") if key in entry}
    assert made | {"sawtooth.png"} == {path.name for path in (ROOT / "media").iterdir()}


def test_a_folder_of_films_is_a_gallery_of_what_they_declare(here):
    (folder := Path("films")).mkdir()
    entry = {"output": "mine.gif", "size": "128x72", "fps": 5}
    film = {"title": "Mine", "question": "Whose is it?", "gallery": [entry]}
    (folder / "mine.py").write_text(f"FILM = {film}\n{SCENE}", "utf-8")
    (folder / "other.py").write_text("", "utf-8")
    tilesim("gallery", "films", "-o", "out", "--jobs", "1")
    assert made() == ["mine.gif"]
    (folder / "mine.py").unlink()
    (empty := Path("empty")).mkdir()
    assert "empty: no film" in tilesim("gallery", empty, "-o", "out", code=1).stderr
