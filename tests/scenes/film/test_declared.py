"""What films declare: read without running them, it is what they are, and it alone makes the course."""

import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

from tilesim.cli.packages import scene_class
from tilesim.declared import OTHERS, TAKES, after, course, films, parts
from tilesim_scenes.film import settings
from tilesim_scenes.film.course import FILMS, OURS
from tilesim_scenes.film.settings import LOOK

FILM = '"""{name}."""\nFILM = {{"title": "{name}", "question": "Why?", "part": "{part}", "place": {place}}}\n'


def test_every_film_of_ours_declares_itself():
    assert OURS and OTHERS not in parts(OURS)
    for film in OURS.values():
        assert film.title and len(film.title.split()) <= 4 and film.question.endswith("?"), film.file
        assert film.seconds and film.shows.endswith(".") and film.finding.endswith("."), film.file
    places = [film.place for film in OURS.values()]
    assert len(set(places)) == len(places)


def test_the_films_of_a_part_follow_each_other():
    """So a list by parts is in the order of the course."""
    found = [part for part, _ in groupby(film.part for film in OURS.values())]
    assert found == list(parts(OURS)) and list(OURS) == [
        name for names in parts(OURS).values() for name in names
    ]


def test_each_film_is_followed_by_the_next_and_the_last_by_none():
    assert [after(name, OURS) for name in course(OURS)] == [*course(OURS)[1:], ""]
    assert after("mine", OURS) == ""


def test_a_film_takes_the_options_that_it_declares_of_tables_of_settings():
    for table, options in TAKES.items():
        assert set(options) == set(getattr(settings, table.upper())) - set(LOOK)
    for name, film in OURS.items():
        assert set(film.taken) == set(scene_class(name).asked) - set(LOOK)


def test_films_are_in_the_order_of_their_places_and_others_come_last(tmp_path):
    for name, part, place in (("b_film", "One", 20), ("a", "Two", 30), ("c", "One", 10)):
        (tmp_path / f"{name}.py").write_text(FILM.format(name=name, part=part, place=place), "utf-8")
    (tmp_path / "_not.py").write_text("raise SystemExit\n", "utf-8")
    (tmp_path / "mine.py").write_text('"""Mine: whose is it?"""\nraise SystemExit\n', "utf-8")
    found = films(tmp_path)
    assert list(found) == ["c", "b-film", "a", "mine"] and course(found) == ("c", "b-film", "a")
    assert parts(found) == {"One": ["c", "b-film"], "Two": ["a"], OTHERS: ["mine"]}
    assert after("b-film", found) == "a" and after("a", found) == after("mine", found) == ""
    assert found["mine"].about == "Mine: whose is it?"
    assert found["a"].gallery[0]["output"] == "a.mp4" and not found["mine"].gallery


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("def (", "invalid syntax"),
        ("FILM = 3", "must be a dict"),
        ('FILM = {"title": tr("Mine")}', "must be a literal"),
        ("FILM = {}", "a title and a question"),
        ('FILM = {"title": "Mine"}', "a title and a question"),
        ('FILM = {"title": 3, "question": "Why?"}', "title is 3; it must be a text"),
        ('FILM = {"titel": "Mine", "question": "Why?"}', "did you mean 'title'?"),
        ('FILM = {"title": "Mine", "question": "Why?", "place": 3}', "needs both"),
        ('FILM = {"title": "Mine", "question": "Why?", "takes": "trace"}', "did you mean 'traces'?"),
    ],
)
def test_a_film_whose_declaration_cannot_be_read_is_listed_with_the_reason(text, fault, tmp_path):
    (tmp_path / "mine.py").write_text(text, "utf-8")
    (film,) = films(tmp_path).values()
    assert "mine.py cannot be loaded (" in film.about and fault in film.about and "\n" not in film.about
    assert not film.part and not film.gallery


def test_declarations_are_read_without_manim_and_without_running_a_film():
    code = (
        "import sys; from tilesim.cli.packages import declared; assert declared()['race'].title;"
        "sys.exit(bool({'manim', 'tilesim_scenes'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(FILMS).parent).returncode == 0
