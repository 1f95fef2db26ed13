"""What an end card says of the next film: its title, once the card could be read, and on no poster."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from prepared import prepared
from reading import faults
from watching import ASPECTS, watch

from tilesim.cli import main
from tilesim.cli.packages import scene_class
from tilesim_scenes import Film, Finding
from tilesim_scenes.film.scene import CARD, NEXT

NEXT_TITLE = "Next: Naive and persistent kernels"
ASIDE = "elsewhere it costs as much"


class Ends(Film):
    """A finding, and nothing before it."""

    aside = ASIDE

    def construct(self) -> None:
        self.finding(Finding("It moved", "×2", aside=self.aside))


class Bare(Ends):
    aside = ""


def said(seen):
    """What stands on screen at the end of each play."""
    return [{word.text for word in words} for _, words in seen.moments]


@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("film", [Ends, Bare])
def test_the_title_stands_where_the_aside_was(film, aspect):
    seen = watch(film, aspect, {"next": "race"})
    *before, last = said(seen)
    assert last == {"×2", "It moved", NEXT_TITLE} and faults(seen) == []
    full = next(number for number, texts in enumerate(before) if {"×2", "It moved"} <= texts)
    assert film.aside in (*before[full], "")
    named = next(number for number, texts in enumerate(said(seen)) if NEXT_TITLE in texts)
    assert seen.moments[named][0] - seen.moments[full][0] >= CARD - NEXT
    assert seen.scene.now - seen.moments[named][0] >= NEXT
    assert seen.scene.now - seen.moments[full][0] >= CARD
    word = next(word for word in seen.moments[-1][1] if word.text == NEXT_TITLE)
    sentence = next(word for word in seen.moments[-1][1] if word.text == "It moved")
    assert word.size >= 40 and word.box[3] < sentence.box[2]


Written = type("Written", (Ends,), {"__module__": "no_file_has_it"})
"""As in a notebook."""


@pytest.mark.parametrize(("film", "settings"), [(Ends, {}), (Ends, {"next": "none"}), (Written, {})])
def test_a_film_of_one_s_own_names_none(film, settings):
    assert said(watch(film, "wide", settings))[-1] == {"×2", "It moved", ASIDE}


@pytest.mark.parametrize(
    ("lang", "words"),
    [("zh", "下一部：朴素内核与持久化内核"), ("pt", "A seguir: Kernels ingênuo e persistente")],
)
def test_it_is_named_in_the_film_s_language(lang, words, monkeypatch):
    # What is said needs no font that can write it.
    monkeypatch.setattr("tilesim_scenes.film.configured_scene.check_font", lambda name: None)
    assert words in said(watch(Ends, "wide", {"next": "race", "lang": lang}))[-1]


def test_a_film_of_the_course_names_the_next_and_the_last_one_none():
    assert prepared(scene_class("naive")).next_title == "Persistent"
    assert prepared(scene_class("run")).next_title == ""


def test_a_poster_names_no_film_unless_that_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    look = ["--size", "160x90", "-o"]
    for name, more in {"end": [], "none": ["--next", "none"], "race": ["--next", "race"]}.items():
        result = CliRunner().invoke(main, ["export", "wave-quantization", *look, f"{name}.png", *more])
        assert result.exit_code == 0, result.output
    end, none, race = (Path(f"{name}.png").read_bytes() for name in ("end", "none", "race"))
    assert end == none != race
