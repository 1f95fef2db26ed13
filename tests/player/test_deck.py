"""A deck is one file: a section a slide, its film in the data, and what a note says stays text."""

from base64 import b64decode

import pytest
from programs import data_in
from test_page import HOSTILE, Elements

from tilesim.player.deck import Slide, deck


@pytest.fixture(scope="module")
def made():
    return deck(
        [Slide(b"\x00one", "A note\nof lines"), Slide(b"two", HOSTILE)], (640, 360), HOSTILE, "light", "pt"
    )


def test_each_slide_has_its_film_and_its_note(made):
    elements = Elements(made)
    assert elements.tags.count("section") == elements.tags.count("video") == 2
    labels = [attributes["aria-label"] for tag, attributes in elements.attributes if tag == "video"]
    assert labels == ["A note of lines", " ".join(HOSTILE.split())]
    data = data_in(made)
    assert [b64decode(film) for film in data["films"]] == [b"\x00one", b"two"]
    assert data["size"] == [640, 360]


def test_what_a_note_and_a_title_say_stays_text(made):
    plain = Elements(deck([Slide(b"", "")] * 2, (640, 360), "")).tags
    assert [tag for tag in Elements(made).tags if tag != "br"] == plain
    assert not [name for _, a in Elements(made).attributes for name in a if name.startswith("on")]


def test_the_policy_lets_no_network_in(made):
    policy = next(a["content"] for _, a in Elements(made).attributes if "http-equiv" in a)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert "connect-src" not in rules
    assert "unsafe" not in rules["script-src"]
    assert rules["media-src"] == "blob:"
