"""The course: every film is in the teaching order once, has a title there, and names the one after it."""

import tomllib
from itertools import chain
from pathlib import Path

import pytest

import tilesim_scenes
from tilesim.cli.packages import OTHERS, scene_class, scene_names, scene_parts
from tilesim_scenes.story import course

SCENES = Path(tilesim_scenes.__file__).parent
LISTED = tuple(
    chain.from_iterable(part["films"] for part in tomllib.loads((SCENES / "course.toml").read_text())["part"])
)
"""As the file has it, films that are not there included."""


def test_every_film_is_in_the_order_once():
    assert set(scene_names()) <= set(LISTED) and len(set(LISTED)) == len(LISTED)
    assert OTHERS not in scene_parts()


@pytest.mark.skipif(len(LISTED) > len(scene_names()), reason="films of the course are still being made")
def test_every_film_of_the_order_is_there():
    assert tuple(scene_names()) == course.order() == LISTED


def test_every_film_of_the_order_has_a_title_in_one_line():
    titles = course.titles()
    assert set(titles) == set(LISTED)
    assert all(len(title.split()) <= 4 for title in titles.values())


def test_the_command_line_and_the_films_have_one_order():
    assert tuple(scene_names()) == course.order()


def test_each_film_is_followed_by_the_next_and_the_last_by_none():
    files = [SCENES / f"{name.replace('-', '_')}.py" for name in course.order()]
    assert all(course.after(file) == name for file, name in zip(files, course.order()[1:], strict=False))
    assert course.after(files[-1]) == ""


def test_a_film_of_one_s_own_is_followed_by_none(tmp_path):
    assert course.after(SCENES / "naive.py") == "persistent"
    assert course.after(tmp_path / "naive.py") == course.after(SCENES / "mine.py") == ""


def test_a_film_that_is_not_there_is_left_out(tmp_path, monkeypatch):
    """Of three films of the course, the one between is missing."""
    first, _, last = LISTED[:3]
    (tmp_path / "course.toml").write_bytes((SCENES / "course.toml").read_bytes())
    for name in (first, last):
        (tmp_path / f"{name.replace('-', '_')}.py").touch()
    monkeypatch.setattr(course, "FILMS", tmp_path)
    course.order.cache_clear()
    try:
        assert course.order() == (first, last)
        assert course.after(tmp_path / f"{first.replace('-', '_')}.py") == last
    finally:
        course.order.cache_clear()


@pytest.mark.parametrize("name", scene_names())
def test_a_film_says_in_its_first_line_which_question_it_answers(name):
    called, _, question = scene_names()[name].partition(": ")
    assert called and "?" in question
    assert scene_class(name).__doc__
