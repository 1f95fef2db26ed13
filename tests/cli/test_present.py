"""`tilesim present`: films as slides that loop, in the order that was asked for, with notes."""

from base64 import b64decode
from functools import partial
from html import unescape
from io import BytesIO
from re import findall

import av
import pytest
from command_line import tilesim

pytest.importorskip("manim", reason="films need Manim")

from programs import TALK, data_in

LOOK = ["--size", "160x90", "--fps", "10"]
present = partial(tilesim, "present")


@pytest.fixture(scope="module")
def talk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("talk")
    (folder / "talk.py").write_text(TALK, "utf-8")
    file = folder / "talk.html"
    said = present(file, f"{folder}/talk.py:Talk", "naive", *LOOK, "--theme", "light", "--title", "A < B")
    assert "2 slides" in said.stderr
    return file


def test_a_film_is_a_slide_with_its_captions_and_its_finding_as_notes(talk):
    text = talk.read_text("utf-8")
    first, second = (
        unescape(note).split("<br>") for note in findall(r'<aside class="notes">(.*?)</aside>', text)
    )
    assert first == ["A <b>square</b>", "turns"]
    assert len(second) > 3
    with av.open(BytesIO(b64decode(data_in(text)["films"][0]))) as film:
        assert sum(1 for _ in film.decode(video=0)) == 14
    assert "<title>A &lt; B</title>" in text
    assert 'data-theme="light"' in text


def test_a_slide_loops_until_the_speaker_moves_on(talk, browser):
    page = browser.new_page()
    page.goto(talk.as_uri())
    first = page.locator("video").first
    restarts = first.evaluate(
        """(video) => new Promise((done) => {
            let before = 0, restarts = 0;
            video.addEventListener('timeupdate', () => {
                if (video.currentTime < before) restarts++;
                before = video.currentTime;
                if (restarts > 1) done(restarts);
            });
        })"""
    )
    assert restarts == 2
    assert page.locator("section.present video").evaluate("(video) => !video.paused && !video.ended")
    assert first.evaluate("(video) => video.closest('section').classList.contains('present')")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelectorAll('section')[1].classList.contains('present')")
    assert first.evaluate("(video) => video.paused")
    page.close()
