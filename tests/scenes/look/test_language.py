"""Captions in other languages: every sentence has a translation, with the same fields."""

import ast
import re
import shutil
from pathlib import Path
from string import Formatter

import numpy as np
import pytest
from babel.messages.pofile import read_po
from click.testing import CliRunner
from player_sentences import SENTENCES

import tilesim_scenes
from tilesim import Costs, Device
from tilesim.cli import main
from tilesim.costs import badge
from tilesim.errors import TilesimError
from tilesim_scenes.film.course import OURS
from tilesim_scenes.film.settings import LANGUAGES
from tilesim_scenes.look.language import CATALOGUES, SOURCE, catalogue, check_font, tr, use_language
from tilesim_scenes.look.text import MONO, SANS, _by_pango, advance, outline
from tilesim_scenes.mobjects.words.badge import of_costs

SCENES = Path(tilesim_scenes.__file__).parent
SAID = ("tr", "say", "word", "bold", "ask", "close", "tally", "heading")
"""Functions whose first argument is a sentence to translate."""
OTHERS = [name for name in LANGUAGES if name != SOURCE]


def literals(*names):
    """The literals that calls of these functions begin with, and where they stand.

    Babel's own extraction overlooks a sentence in the arguments of another.
    """
    for file in SCENES.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant):
                name, text = getattr(call.func, "id", getattr(call.func, "attr", "")), call.args[0].value
                if name in names and isinstance(text, str) and text:
                    yield text, f"{file.relative_to(SCENES)}:{call.lineno}"


def sentences():
    """What films say through `tr`, what they declare, and what the player says, with where it stands."""
    declared = {text: film.file.name for film in OURS.values() for text in (film.title, film.question)}
    return dict.fromkeys(SENTENCES, "the player") | declared | dict(literals(*SAID))


def fields(text):
    """What a sentence says of its fields: their names, and how they are written."""
    return sorted((name, form) for _, name, form, _ in Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("name", OTHERS)
def test_a_catalogue_has_every_sentence_with_its_fields_and_no_other(name):
    with open(CATALOGUES / f"{name}.po", "rb") as file:
        messages = [one for one in read_po(file, locale=name) if one.id]
    said, known = sentences(), {one.id for one in messages if one.string}
    assert not {text: where for text, where in said.items() if text not in known}, "not translated"
    assert not {one.id for one in messages} - set(said), "said by no film"
    assert not [one.id for one in messages if fields(one.id) != fields(one.string)], "other fields"
    assert not [one.id for one in messages if one.fuzzy], "to be looked at again"


@pytest.mark.parametrize("name", OTHERS)
def test_a_film_speaks_the_language_that_was_asked_for(name):
    english = tr("launch")
    use_language(name)
    assert tr("launch") == catalogue(name)["launch"] != english
    use_language(SOURCE)
    assert tr("launch") == english


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize(
    ("costs", "device"),
    [
        (Costs(k_step=5, device="h200"), "h200"),
        (Costs(k_step=5, device="h200"), "a100"),
        (Costs(k_step=5, device="h200", scaled_to="a100"), "t4"),
        (Costs(), "h200"),
        (Costs(k_step=5), "h200"),
        ({}, "h200"),
    ],
)
def test_a_badge_says_whose_costs_in_the_film_s_language(name, costs, device):
    label = badge(costs, Device.named(device))
    english = of_costs(label).text
    use_language(name)
    said = of_costs(label).text
    assert not {"costs", "overheads", "simulated"} & set(re.findall("[a-z]+", said)) and said != english
    assert set(re.findall("[A-Z0-9]+", said)) == set(re.findall("[A-Z0-9]+", english))


def test_no_badge_is_written_in_one_language_only():
    """Its words are what `tr` gives, never a literal."""
    assert not list(literals("Badge"))


def test_a_sentence_without_a_translation_stays_english_and_a_language_without_a_catalogue_is_refused():
    use_language(OTHERS[0])
    assert tr("not said by any film: {n}", n=3) == "not said by any film: 3"
    with pytest.raises(TilesimError, match="captions in xx cannot be read"):
        use_language("xx")


@pytest.mark.skipif(shutil.which("fc-list") is None, reason="nobody knows which fonts there are")
def test_a_language_that_no_font_has_is_one_sentence_and_no_film(tmp_path, monkeypatch):
    config = "<fontconfig><dir>{}</dir></fontconfig>".format(tmp_path / "none")
    (tmp_path / "fonts.conf").write_text(config, "utf-8")
    monkeypatch.setenv("FONTCONFIG_FILE", str(tmp_path / "fonts.conf"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    check_font.cache_clear()
    command = ["export", "naive", "-o", str(tmp_path / "a.png"), "--lang"]
    result = CliRunner().invoke(main, [*command, "zh"])
    said = "error: no font for captions in zh is installed; install one, such as Noto"
    assert result.exit_code == 2 and result.output.count("\n") == 1, result.output
    assert result.stderr.startswith(said) and not (tmp_path / "a.png").exists()
    for name in ("en", "pt"):  # Their letters come with films.
        check_font(name)
    check_font.cache_clear()


@pytest.mark.parametrize("family", [MONO, SANS])
def test_letters_of_several_fonts_stand_where_those_of_one_do(family):
    one = outline("12.5 µs", family), advance("12.5 µs", family)
    several = _by_pango("12.5 µs", family, True)
    assert several[1] == pytest.approx(one[1], rel=0.01)
    for edge in (np.min, np.max):
        assert edge(several[0], axis=0) == pytest.approx(edge(one[0], axis=0), abs=0.03)


def test_a_figure_has_letters_that_its_font_lacks():
    """Of the fonts here, DejaVu Sans has this letter."""
    borrowed, own = (np.ptp(outline("ⵠ", family), axis=0) for family in (MONO, "DejaVu Sans"))
    assert borrowed == pytest.approx(own, rel=0.05)
    assert advance("8 ⵠ", MONO) - advance("8 ", MONO) == pytest.approx(advance("ⵠ", "DejaVu Sans"), rel=0.05)
