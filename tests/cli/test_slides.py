"""Slides: `tilesim export NAME --format slides` stops at each caption, and `tilesim present` loops films."""

import json
import sys
from base64 import b64decode
from functools import partial
from html import unescape
from re import findall

import pytest
from command_line import tilesim
from film_files import frames

pytest.importorskip("manim", reason="slides are cut from films, and films need Manim")

from programs import NARROW, TALK, WIDE, data_in, opening, race

from tilesim import Trace

FPS = 10
SMALL = ["--size", "160x90", "--fps", str(FPS)]
FILM = """
from manim import RIGHT, Square
from tilesim import Device, Problem
from tilesim_scenes import Film, Finding
from tilesim_scenes.film.traces import Default

class Short(Film):
    default = Default(("naive",), Problem(256, 512, 128), Device.named("h200", sms=4))

    def construct(self):
        self.title("Who moves?")
        self.badge(self.traces[0])
        square = Square()
        for side in (2, -1, 3, -2):
            self.say(f"A square moves by {side}")
            self.play(square.animate(run_time=1).shift(side * RIGHT))
        self.finding(Finding(f"{self.traces[0].schedule} moved", "×2"))
"""
HOSTILE = "</script><script>document.title = 'in'</script><img src=x onerror=alert(1)>"

export = partial(tilesim, "export")


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """The file of a film of four captions."""
    file = tmp_path_factory.mktemp("film") / "short.py"
    file.write_text(FILM, "utf-8")
    return file


@pytest.fixture(scope="module")
def talk(short):
    """The page of the film's slides, and what the command said."""
    file = short.with_name("talk.html")
    said = export(short, *SMALL, "--format", "slides", "-o", file, "--json", "--theme", "light")
    return file, json.loads(said.stdout)


def notes_in(page):
    found = findall(r'<aside class="notes">(.*?)</aside>', page)
    return [unescape(note.replace("<br>", "\n")) for note in found]


def lengths(films):
    """The frames of each film."""
    return [len(frames(film)) for film in films]


def films_in(page):
    return [b64decode(film) for film in data_in(page)["films"]]


def test_a_talk_stops_at_every_caption_and_ends_on_the_finding_without_asking_the_network(talk):
    file, said = talk
    text = file.read_text("utf-8")
    assert '<html lang="en" data-theme="light">' in text
    assert "default-src &#x27;none&#x27;" in text
    assert "connect-src" not in text.partition("<title>")[0]
    notes = notes_in(text)
    captions = [text for _, _, text in said["captions"]]
    assert notes[1:-1] == captions
    assert notes[0] == said["chapters"][0][1]
    assert notes[-1].splitlines() == said["finding"]
    assert said["finding"][0] == said["chapters"][-1][1]
    counts = lengths(films_in(text))
    assert sum(counts) == said["frames"]
    ends = [sum(counts[: number + 1]) / FPS for number in range(len(counts))]
    for end, (start, until, _) in zip(ends[1:-1], said["captions"], strict=True):
        # A caption begins to leave 0.2 s after the change of captions has begun, and at once for a finding.
        assert start < end
        assert -0.5 / FPS <= until - end <= 0.2 + 0.5 / FPS


def test_powerpoint_has_the_same_slides_and_notes(talk, short, tmp_path):
    pptx = pytest.importorskip("pptx")
    pytest.importorskip("manim_slides")
    export(short, *SMALL, "-o", tmp_path / "talk.pptx", "--theme", "light")
    shown = pptx.Presentation(tmp_path / "talk.pptx")
    notes = [slide.notes_slide.notes_text_frame.text for slide in shown.slides]
    page = talk[0].read_text("utf-8")
    assert notes == notes_in(page)
    rels = [rel for slide in shown.slides for rel in slide.part.rels.values()]
    films = [rel.target_part.blob for rel in rels if rel.reltype.endswith("/video")]
    assert lengths(films) == lengths(films_in(page))
    assert shown.slide_width / shown.slide_height == pytest.approx(16 / 9)


def test_any_scene_stops_at_its_sections(tmp_path):
    (tmp_path / "talk.py").write_text(TALK, "utf-8")
    file = tmp_path / "talk.html"
    export(f"{tmp_path}/talk.py:Talk", *SMALL, "--format", "slides", "-o", file)
    text = file.read_text("utf-8")
    assert notes_in(text) == ["A <b>square</b>", "turns"]
    assert lengths(films_in(text)) == [6, 8]
    assert "<b>" not in text.partition("<script")[0]


def test_a_part_of_a_film_has_its_own_slides(talk, short, tmp_path):
    file, said = tmp_path / "part.html", talk[1]
    start, end = (said["captions"][number][0] for number in (1, 3))
    export(short, *SMALL, "--format", "slides", "-o", file, "--from", start, "--to", end)
    text = file.read_text("utf-8")
    assert set(notes_in(text)) >= {said["captions"][1][2], said["captions"][2][2]}
    assert sum(lengths(films_in(text))) == pytest.approx((end - start) * FPS, abs=1)


def test_without_manim_slides_a_pptx_is_one_sentence_and_a_page_is_made(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "manim_slides.config", None)
    said = export("naive", *SMALL, "-o", tmp_path / "talk.pptx", code=1)
    assert said.stderr.startswith("error: slides in .pptx need manim-slides; install it with: pip install")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def opened(browser):
    """Opens a talk, which asks for nothing outside."""

    def opened(file, viewport=WIDE):
        page = visit(file.as_uri(), viewport)
        page.wait_for_selector(".reveal.ready")
        return page

    with opening(browser, "file:", "blob:", "data:") as visit:
        yield opened


NOW = "document.querySelector('section.present video')"


def test_a_slide_plays_to_its_end_and_waits(opened, talk):
    page, counts = opened(talk[0]), lengths(films_in(talk[0].read_text("utf-8")))
    for count in counts[:2]:
        page.evaluate(f"{NOW}.playbackRate = 8")
        page.wait_for_function(f"() => {NOW}.ended")
        assert page.evaluate(f"{NOW}.duration") == pytest.approx(count / FPS, abs=0.5 / FPS)
        page.keyboard.press("ArrowRight")
    page.wait_for_function("() => location.hash === '#/2'")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function(f"() => {NOW}.currentTime > 0 && !{NOW}.ended")


def test_the_speakers_view_has_the_note(opened, talk):
    page = opened(talk[0])
    faults = []
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    view = popup.value
    view.on("console", lambda message: message.type == "error" and faults.append(message.text))
    notes = notes_in(talk[0].read_text("utf-8"))
    view.get_by_text(notes[0], exact=True).wait_for()
    page.keyboard.press("ArrowRight")
    view.get_by_text(notes[1], exact=True).wait_for()
    # Its pictures of the slides do not show the notes a second time.
    assert all(frame.locator(".show-notes").count() == 0 for frame in view.frames)
    assert len(view.frames) == 3
    assert faults == []


def test_an_upright_phone_shows_the_note_below(opened, talk):
    page = opened(talk[0], NARROW)
    film, note = page.locator("section.present video"), page.locator(".speaker-notes")
    assert note.inner_text().strip() == notes_in(talk[0].read_text("utf-8"))[0]
    assert note.bounding_box()["y"] > film.bounding_box()["y"] + film.bounding_box()["height"]
    assert film.bounding_box()["width"] == pytest.approx(360, abs=1)


def test_text_of_a_trace_stays_text(opened, short, tmp_path):
    trace = race()[0]
    hostile = Trace(trace.problem, trace.device, HOSTILE, trace.spans, "measured", 1, {"gpu": HOSTILE})
    hostile.save(tmp_path / "run.npz")
    file = tmp_path / "talk.html"
    given = ["--trace", tmp_path / "run.npz", "--title", HOSTILE]
    export(short, *SMALL, *given, "--format", "slides", "-o", file)
    page = opened(file)
    assert page.title() == HOSTILE
    assert page.locator(".slides img, .slides script").count() == 0
    notes = notes_in(file.read_text("utf-8"))
    assert notes[0] == HOSTILE and HOSTILE in notes[-1]


@pytest.fixture(scope="module")
def presented(short):
    short.with_name("talk.py").write_text(TALK, "utf-8")
    file = short.with_name("presented.html")
    words = [f"{short.parent}/talk.py:Talk", short, *SMALL, "--theme", "light", "--title", "A < B"]
    said = tilesim("present", file, *words)
    assert "2 slides" in said.stderr
    return file


def test_a_film_is_a_slide_with_its_captions_and_its_finding_as_notes(presented):
    text = presented.read_text("utf-8")
    first, second = (note.splitlines() for note in notes_in(text))
    assert first == ["A <b>square</b>", "turns"]
    assert len(second) > 3
    assert lengths(films_in(text))[0] == 14
    assert "<title>A &lt; B</title>" in text
    assert 'data-theme="light"' in text


def test_a_slide_loops_until_the_speaker_moves_on(presented, opened):
    page = opened(presented)
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
