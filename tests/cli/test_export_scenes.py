"""`tilesim export FILE.py:Scene`: files as asked for, and one sentence for whatever is wrong with a scene."""

import errno
import json
import os
import signal
import struct
import subprocess
import sys
import time
import wave
import xml.etree.ElementTree as ET
from dataclasses import replace

import av
import numpy as np
import pytest
from command_line import said, tilesim
from film_files import captions, frames, marks
from PIL import Image

pytest.importorskip("manim", reason="the films need Manim")

from tilesim import Device, Problem, simulate
from tilesim.cli.packages import load

SCENES = """
from manim import *
from manim.renderer.cairo_renderer import CairoRenderer

class Moves(Scene):
    def construct(self):
        square = Square(color=RED, fill_opacity=1)
        self.add(square)
        self.wait(0.8)
        self.next_section("to the right")
        self.play(square.animate.shift(3 * RIGHT), run_time=1, subcaption="It moves")
        self.next_section("unnamed")
        self.wait(0.4)

class Says(Scene):
    def construct(self):
        self.add_subcaption("later", duration=0.4, offset=1)
        self.add_subcaption("at once", duration=0.4)
        self.wait(2)

class Sounds(Scene):
    def construct(self):
        self.wait(0.4)
        self.add_sound("beep.wav")
        self.play(Create(Circle()), run_time=0.6)

class HasItsOwn(Scene):
    def __init__(self):
        super().__init__(CairoRenderer())
    def construct(self):
        self.play(Create(Square()), run_time=0.4)

class Fails(Scene):
    def construct(self):
        self.wait(0.4)
        self.play(Create(Sqare()))

class Quits(Scene):
    def construct(self):
        raise SystemExit(3)

class Stands(Scene):
    def construct(self):
        self.add(Square())

class Mixed(Scene):
    def construct(self):
        pixels = np.full((4, 4, 4), (0, 255, 0, 255), np.uint8)
        pixels[0] = 255
        self.add(ImageMobject(pixels).set_height(2).shift(3 * LEFT))
        self.add(Square(fill_opacity=1).set_color([BLUE, RED]), Text("ab").shift(3 * RIGHT))
        self.wait(0.4)

class Endless(Scene):
    def construct(self):
        while True:
            self.wait(1, frozen_frame=False)
"""
WORDS = """
from manim import *
from tilesim_scenes.look.text import Figure, label

class Words(Scene):
    def construct(self):
        self.add(label("a < b, & c", 48, color="#FF0000").shift(UP))
        self.add(Figure("12.5"))
        self.add(Square(fill_opacity=1, stroke_width=0).shift(2 * LEFT))
        self.add(label("turned", 48).rotate(0.5))
        self.wait(0.4)
"""
SVG = "{http://www.w3.org/2000/svg}"
FILM = '''
from manim import Square, linear
from tilesim_scenes.film.scene import Film

class Tiny(Film):
    def construct(self):
        square = Square()
        self.add(square)
        self.say("A square")
        self.play(square.animate.shift([1, 0, 0]), run_time=1)
        self.say("It stands")
        self.wait(1)
'''  # fmt: skip
SMALL = ["--size", "128x72", "--fps", "5", "--jobs", "1"]
INPUTS = ("scenes.py", "film.py", "beep.wav")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenes.py").write_text(SCENES, "utf-8")
    (tmp_path / "film.py").write_text(FILM, "utf-8")
    with wave.open("beep.wav", "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes(b"".join(struct.pack("<h", 9000 * (n // 8 % 2 * 2 - 1)) for n in range(4000)))
    return tmp_path


def exported(*args):
    result = tilesim("export", *args)
    assert result.stdout == ""
    return result.stderr


def held(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("form", ["mp4", "webm", "mov"])
def test_a_film_is_its_scene_with_captions_and_chapters(form, here):
    said = exported("scenes.py:Moves", "-o", f"a.{form}", "--captions", *SMALL)
    assert said.startswith(f"wrote a.{form} (2.2 s, ") and "wrote a.vtt (1 caption, " in said
    assert {path.name for path in here.iterdir() if path.is_file()} == {*INPUTS, f"a.{form}", "a.vtt"}
    assert (here / "a.vtt").read_text() == "WEBVTT\n\n00:00:00.800 --> 00:00:01.800\nIt moves\n"
    assert len(frames(f"a.{form}")) == 11
    with av.open(f"a.{form}") as film:
        stream = film.streams.video[0]
        assert (stream.width, stream.height, stream.average_rate) == (128, 72, 5)
        assert stream.codec_context.colorspace == 1 or form != "mp4"
    assert marks(f"a.{form}") == [(0.0, "Moves"), (0.8, "to the right"), (1.8, "Moves")]
    assert captions(f"a.{form}") == [(pytest.approx(0.8), pytest.approx(1.8), "It moves")]
    exported("scenes.py:Says", "-o", f"b.{form}", *SMALL)
    assert [(start, text) for start, _, text in captions(f"b.{form}")] == [(0.0, "at once"), (1.0, "later")]


@pytest.mark.parametrize("form", ["mp4", "webm"])
def test_sound_stays(form, here):
    exported("scenes.py:Sounds", "-o", f"a.{form}", *SMALL)
    with av.open(f"a.{form}") as film:
        rate = film.streams.audio[0].rate
        heard = np.concatenate([frame.to_ndarray().mean(0) for frame in film.decode(audio=0)])
    assert len(heard) / rate == pytest.approx(1.0, abs=0.05)
    assert np.abs(heard[: int(0.35 * rate)]).max() < 0.02 < np.abs(heard[int(0.45 * rate) :]).max()


@pytest.mark.parametrize("form", ["mov", "webm"])
def test_a_transparent_film_shows_what_is_behind_it_and_a_part_of_it_is_that_part(form, here):
    exported("scenes.py:Moves", "-t", "-o", f"a.{form}", *SMALL)
    if form == "mov":
        shown = frames("a.mov")
    else:
        # FFmpeg's own decoder of VP9 leaves transparency out.
        context = av.CodecContext.create("libvpx-vp9", "r")
        with av.open("a.webm") as film:
            packets = [packet for packet in film.demux(video=0) if packet.size]
            decoded = [frame for packet in packets for frame in context.decode(packet)]
        shown = [frame.to_ndarray(format="rgba") for frame in decoded]
    assert len(shown) == 11
    assert shown[0][2, 2, 3] == 0 and shown[0][36, 64, 3] == 255
    assert abs(int(shown[0][36, 64, 0]) - 252) < 8
    exported("scenes.py:Moves", "-t", "-o", "part.mov", *SMALL, "--from", "1", "--to", "1.6")
    part = frames("part.mov")
    assert len(part) == 3 and [title for _, title in marks("part.mov")] == ["to the right"]
    assert form != "mov" or all(np.array_equal(*pair) for pair in zip(part, shown[5:8], strict=True))


def test_a_gif_begins_with_motion_as_do_its_captions_and_says_what_was_chosen(here):
    said = exported("scenes.py:Moves", "-o", "a.gif", "--captions", "--jobs", "1")
    assert "960x540 at 20 frames/s" in said and (here / "a.gif").stat().st_size < 3_000_000
    with Image.open("a.gif") as loop:
        # 0.8 s stand still before the square moves.
        assert loop.size == (960, 540) and loop.info["loop"] == 0 and 24 <= loop.n_frames <= 29
        first = np.asarray(loop.convert("RGB")).astype(int)
        loop.seek(2)
        assert (np.abs(first - np.asarray(loop.convert("RGB"))) > 40).any()
        assert f"a.gif ({loop.n_frames / 20:.3g} s" in said
        start = 0.8 - (44 - loop.n_frames) / 20
    assert f"00:00:00.{1000 * start:03.0f} --> " in (here / "a.vtt").read_text()


@pytest.mark.parametrize("end", [0.8, 1.0, 1.2, 1.6])
def test_the_captions_of_a_part_last_to_its_end(end, here):
    def told_captions(*part):
        told = tilesim("export", "film.py", "-o", "a.mp4", *SMALL, "--json", *part).stdout
        return json.loads(told)["captions"]

    cut = [[start, min(until, end), text] for start, until, text in told_captions() if start < end]
    assert told_captions("--to", str(end)) == cut


def test_a_gif_that_is_too_large_is_made_smaller(here, monkeypatch):
    monkeypatch.setattr(load("scenes", "render.files.gifs"), "MOST", 12_000)
    said = exported("scenes.py:Moves", "-o", "a.gif", "--jobs", "1")
    assert "960x540 at 20" not in said and (here / "a.gif").stat().st_size <= 12_000


def test_a_still_is_the_frame_of_its_second_and_a_poster_the_end(here):
    exported("scenes.py:Moves", "-t", "-o", "a.mov", "--poster", "poster.png", *SMALL)
    exported("scenes.py:Moves", "-t", "-o", "part.mov", "--poster", "same.png", "--to", "0.4s", *SMALL)
    exported("scenes.py:Moves", "-t", "-o", "at.png", "--at", "1.2s", *SMALL)
    exported("scenes.py:Moves", "-t", "-o", "end.png", *SMALL)
    shown = frames("a.mov")
    with Image.open("at.png") as at, Image.open("end.png") as end:
        assert np.array_equal(np.asarray(at), shown[6]) and np.array_equal(np.asarray(end), shown[-1])
    for poster in ("poster.png", "same.png"):
        assert (here / poster).read_bytes() == (here / "end.png").read_bytes()
    assert len(frames("part.mov")) == 2


@pytest.mark.parametrize("form", ["svg", "pdf"])
def test_a_moment_is_written_as_vectors(form, here):
    exported("scenes.py:Mixed", "-o", f"a.{form}", "--size", "640x360", "--jobs", "1")
    data = (here / f"a.{form}").read_bytes()
    assert data.startswith(b"<?xml" if form == "svg" else b"%PDF")
    assert (b"<path" if form == "svg" else b"/Page") in data
    assert (b"<image" if form == "svg" else b"/XObject") in data
    assert (b'width="640px" height="360px"' if form == "svg" else b"[ 0 0 640 360 ]") in data


def test_the_texts_of_an_svg_are_texts_where_they_are_drawn(here):
    """Each stands on its baseline, between what is behind and before it; what is turned stays an outline."""
    (here / "words.py").write_text(WORDS, "utf-8")
    exported("words.py:Words", "-o", "a.svg", "--size", "640x360", "--jobs", "1")
    root = ET.parse(here / "a.svg").getroot()
    found = list(root.iter())
    texts = [one for one in found if one.tag == f"{SVG}text"]
    assert [one.text for one in texts] == ["a < b, & c", "12.5"]
    first, figure = (one.attrib for one in texts)
    assert [first["fill"], figure["font-weight"]] == ["#FF0000", "bold"]
    assert float(figure["x"]) == pytest.approx(320, abs=0.1)
    assert float(figure["y"]) == pytest.approx(180, abs=0.1)
    # 48 pixels of a frame with 1080, two units high, up from the frame's middle.
    assert float(figure["font-size"]) == pytest.approx(48 * 360 / 1080, abs=0.2)
    assert float(first["y"]) < 180 < float(figure["y"]) + 0.2
    names = {one.tag.removeprefix(SVG): one.text for one in found if one.text and one.get("id")}
    assert names["title"] == "Words"
    assert names["desc"] == "a < b, & c; 12.5"
    order = [one for one in found if one in texts or one.get("style", "").startswith(" stroke:none")]
    assert order.index(texts[0]) < len(order) - 1, "a shape covers it"


def test_vectors_are_drawn_as_the_frame_is(here, monkeypatch):
    """On a surface of pixels, what goes to an SVG gives the picture."""
    import cairo

    vectors = load("scenes", "render.files.vectors")
    surface = cairo.ImageSurface(cairo.FORMAT_ARGB32, 320, 180)

    def draw(scene, camera, form):
        vectors.paint(cairo.Context(surface), scene, camera)
        return b""

    monkeypatch.setattr(load("scenes", "render.files.moments"), "draw", draw)
    exported("scenes.py:Mixed", "-o", "a.svg", "--size", "320x180", "--jobs", "1")
    exported("scenes.py:Mixed", "-o", "a.png", "--size", "320x180", "--jobs", "1")
    pixels = np.frombuffer(surface.get_data(), np.uint8).reshape(180, 320, 4)[..., [2, 1, 0]]
    with Image.open("a.png") as frame:
        assert np.abs(np.asarray(frame).astype(int) - pixels).max() <= 3


def test_a_scene_with_a_renderer_of_its_own_is_rendered_by_manim(here):
    said = exported("scenes.py:HasItsOwn", "-o", "a.mp4", *SMALL)
    assert "HasItsOwn has a renderer of its own, so Manim itself renders it" in said
    assert len(frames("a.mp4")) == 2


MISTAKES = {
    "no such file": (["none.py"], 2, "there is no file 'none.py'"),
    "no such scene": (["scenes.py:Move"], 2, "scenes.py: there is no scene 'Move'; did you mean 'Moves'?"),
    "several scenes": (["scenes.py"], 2, "scenes; name one of them: scenes.py:"),
    "no scene in it": (["empty.py"], 2, "empty.py defines no scene"),
    "wrong syntax": (["broken.py"], 1, "broken.py, line 2: SyntaxError: "),
    "a failure": (["scenes.py:Fails"], 1, "scenes.py, line 36: NameError: name 'Sqare' is not defined"),
    "a program that ends": (["scenes.py:Quits"], 1, "scenes.py, line 40: SystemExit: 3"),
    "nothing is played": (["scenes.py:Stands"], 1, "Stands plays nothing; write a .png of it"),
    "settings of films": (["scenes.py:Moves", "--theme", "light"], 2, "--theme is of tilesim's own films"),
    "a setting it has not": (["film.py", "--sms", "4"], 2, "'sms' for this film, which shows data"),
    "an odd size": (["scenes.py:Moves", "--size", "127x72"], 2, "the size is 127x72; it must be"),
    "a transparent mp4": (["scenes.py:Moves", "-t"], 2, "a film in mp4 cannot be transparent"),
    "beyond the end": (["scenes.py:Moves", "--from", "9"], 1, "from 9 s on; it lasts 2.2 s"),
    "a still beyond the end": (["scenes.py:Moves", "-o", "a.png", "--at", "9"], 1, "there is no second 9"),
    "a missing folder": (["film.py", "-o", "none/a.mp4"], 1, "the folder none does not exist"),
    "its own file": (["scenes.py:Moves", "-o", "scenes.py", "--format", "mp4"], 2, "cannot write scenes.py"),
}
DRAWN = ("a failure", "a program that ends", "beyond the end")
"""Mistakes that show when frames are drawn, by this process or by others."""


@pytest.mark.parametrize(
    ("case", "jobs"), [*((case, 2) for case in MISTAKES), *((case, 1) for case in DRAWN)]
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(case, jobs, here):
    (here / "empty.py").write_text("from manim import *\n")
    (here / "broken.py").write_text("from manim import *\nclass A(Scene:\n")
    args, code, words = MISTAKES[case]
    before = held(here)
    output = [] if "-o" in args else ["-o", "a.mp4"]
    size = [] if "--size" in args else ["--size", "128x72"]
    assert words in said("export", *args, *output, *size, "--fps", "5", "--jobs", jobs, code=code)
    assert held(here) == before


@pytest.mark.parametrize("step", ["join", "copyfileobj"])
def test_a_full_disk_is_one_sentence_and_keeps_the_old_film(step, here, monkeypatch):
    (here / "a.mp4").write_text("old")

    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    exporting = load("scenes", "render.export")
    monkeypatch.setattr(exporting if step == "join" else exporting.shutil, step, full)
    assert "No space left" in said("export", "scenes.py:Moves", "-o", "a.mp4", *SMALL, code=1)
    assert (here / "a.mp4").read_text() == "old"


def test_a_film_shows_what_was_asked_for(here):
    """A still of an instant is the film's second at which its clock shows that instant."""
    small = ["--m", "256", "--n", "512", "--k", "128", "--sms", "4", "--size", "256x144"]
    exported("naive", "-o", "a.png", "--at", "1us", *small)
    exported("naive", "-o", "b.png", "--at", "1000ns", *small)
    assert (here / "a.png").read_bytes() == (here / "b.png").read_bytes()
    exported("naive", "-o", "c.png", "--at", "0us", *small)
    assert (here / "a.png").read_bytes() != (here / "c.png").read_bytes()
    for us in ("0.7", "1.3"):
        exported("naive", "-o", "a.svg", "--at", f"{us}us", "--fps", "5", *small)
        assert f"{us} µs<" in (here / "a.svg").read_text("utf-8")
    refusal = said("export", "naive", "-o", "d.png", "--at", "9ms", *small, code=1)
    assert "there is no instant 9000us of the trace" in refusal


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_processes_and_leaves_nothing(how, here):
    (here / "tmp").mkdir()
    command = [sys.executable, "-m", "tilesim", "export", "scenes.py:Endless", "-o", "a.mp4", "--jobs", "2"]
    process = subprocess.Popen(
        [*command, "--size", "128x72"],
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(here / "tmp")},
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not list((here / "tmp").glob("*/segment-*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(how)
    try:
        said = process.communicate(timeout=30)[1].decode()
    finally:
        process.kill()
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[how] and "Traceback" not in said
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert not (here / "a.mp4").exists() and not list((here / "tmp").glob("tilesim-*"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_that_dies_is_one_sentence(here):
    ends = "os.getpid() == home or os.kill(os.getpid(), 9)"
    head = "import os\nfrom manim import *\nhome = os.getpid()\nclass Dies(Scene):\n"
    (here / "dies.py").write_text(f"{head}    def construct(self):\n        self.wait(0.4)\n        {ends}\n")
    refusal = said("export", "dies.py", "-o", "a.mp4", *SMALL[:4], "--jobs", "2", code=1)
    assert "a process that drew a part of this film died" in refusal and not (here / "a.mp4").exists()


def test_a_trace_films_itself_whoever_wrote_its_kernel(tmp_path):
    ran = simulate("naive", Problem(256, 256, 512), Device(sms=2))
    still = replace(ran, schedule="somebody's own").film(tmp_path / "still.png", size="320x180", at=1)
    with Image.open(still) as image:
        assert image.size == (320, 180)
