"""`tilesim export course`: films as one, with each one's captions and chapters where it begins."""

import json
import re
from functools import partial
from itertools import pairwise

import av
import pytest
from click.testing import CliRunner
from command_line import tilesim
from film_files import captions, frames, marks

pytest.importorskip("manim", reason="the films need Manim")

from tilesim.cli import exports, main, packages
from tilesim.cli.arguments import film_targets
from tilesim.cli.packages import declared, load
from tilesim.declared import Declared

FILMS = ["first", "second"]
SHORT = """
from manim import RIGHT, Square
from tilesim_scenes import Film, Finding
from tilesim_scenes.look.language import tr

class Short(Film):
    def construct(self):
        self.title(tr("Which run ends first?"))
        square = Square()
        for side in ({sides}):
            self.say(f"A square moves by {{side}}")
            self.play(square.animate(run_time=1).shift(side * RIGHT))
        self.finding(Finding("It moved", "{name}"))
"""
FPS = 5
SMALL = ["--size", "128x72", "--fps", str(FPS)]


export = partial(tilesim, "export")


def told(*words):
    return json.loads(export(*words, "--json").stdout)


def packets(path):
    """What is encoded of each frame, and when it is decoded and shown, in frames."""
    with av.open(str(path)) as film:
        video = film.streams.video[0]
        frame = 1 / video.average_rate / video.time_base
        return [
            (bytes(packet), round(packet.dts / frame), round(packet.pts / frame))
            for packet in film.demux(video)
            if packet.dts is not None
        ]


@pytest.fixture(scope="module", autouse=True)
def films(tmp_path_factory):
    """A folder with the files of two short FILMS, which are all that a course knows."""
    folder = tmp_path_factory.mktemp("films")
    for name, sides in zip(FILMS, ["2, -1", "1, 3, -4"], strict=True):
        (folder / f"{name}.py").write_text(SHORT.format(name=name, sides=sides), "utf-8")
    of_file = load("scenes", "render.scene_files").load
    with pytest.MonkeyPatch.context() as patch:
        known = {name: Declared(folder / f"{name}.py") for name in FILMS}
        for module in (film_targets, exports):
            patch.setattr(module, "declared", lambda: known)
        patch.setattr(exports, "scene_class", lambda name: of_file(folder / f"{name}.py"))
        yield folder


@pytest.fixture(scope="module")
def course(films, tmp_path_factory):
    """A folder with a course of FILMS, and the films alone, as they are in it; and what was said of each."""
    folder = tmp_path_factory.mktemp("course")
    alone = [*SMALL, "--jobs", "1", "--next", "none"]
    said = {name: told(films / f"{name}.py", "-o", folder / f"{name}.mp4", *alone) for name in FILMS}
    both = ["--films", ",".join(FILMS), *SMALL, "--jobs", "1", "--captions"]
    return folder, told("course", "-o", folder / "course.mp4", *both), said


def test_the_films_follow_each_other_and_nothing_is_encoded_again(course):
    folder, said, alone = course
    assert [film["film"] for film in said["films"]] == FILMS
    whole, done = packets(folder / "course.mp4"), 0
    for name in FILMS:
        own = packets(folder / f"{name}.mp4")
        assert len(own) == alone[name]["frames"]
        moved = [(data, dts - done, pts - done) for data, dts, pts in whole[done : done + len(own)]]
        assert moved == own
        done += len(own)
    assert done == len(whole) == said["frames"]
    assert sorted(pts for _, _, pts in whole) == list(range(done))
    assert all(one < other for (_, one, _), (_, other, _) in pairwise(whole))


def test_captions_and_chapters_are_those_of_the_films_where_these_begin(course):
    folder, said, alone = course
    starts = [sum(alone[name]["frames"] for name in FILMS[:number]) / FPS for number in range(len(FILMS))]
    assert [film["start"] for film in said["films"]] == pytest.approx(starts)
    cues = [
        (start + at, end + at, text)
        for at, name in zip(starts, FILMS, strict=True)
        for start, end, text in alone[name]["captions"]
    ]
    assert [tuple(cue[:2]) for cue in said["captions"]] == [pytest.approx(cue[:2]) for cue in cues]
    found = [(start, text) for start, _, text in captions(folder / "course.mp4")]
    assert found == [(pytest.approx(start, abs=1e-3), text) for start, _, text in cues]
    chapters = [
        (pytest.approx(start + at, abs=1e-3), title)
        for at, name in zip(starts, FILMS, strict=True)
        for start, title in alone[name]["chapters"]
    ]
    assert marks(folder / "course.mp4") == chapters
    assert [at for at in starts if at in [start for start, _ in marks(folder / "course.mp4")]] == starts
    times = re.findall(r"(\d+):(\d+):([\d.]+) --> (\d+):(\d+):([\d.]+)", (folder / "course.vtt").read_text())
    seconds = [[3600 * int(h) + 60 * int(m) + float(s) for h, m, s in (one[:3], one[3:])] for one in times]
    assert seconds == [pytest.approx(cue[:2], abs=1e-3) for cue in said["captions"]]
    assert all(start < end <= following for (start, end), (following, _) in pairwise(seconds))


def test_a_caption_lies_in_the_file_beside_its_picture(course):
    """Players of a long film read on from where somebody jumps to."""
    with av.open(str(course[0] / "course.mp4")) as film:
        places = [
            (packet.pos, packet.pts * packet.time_base, packet.stream.type)
            for packet in film.demux()
            if packet.pts is not None and packet.size > 2
        ]
    seen = 0.0
    for _, second, kind in sorted(places):
        if kind == "video":
            seen = max(seen, second)
        else:
            assert abs(second - seen) < 15


def test_all_findings_are_told(course, tmp_path):
    _, said, alone = course
    assert [film["finding"] for film in said["films"]] == [alone[name]["finding"] for name in FILMS]
    assert all(line.startswith(f"{name}: ") for line, name in zip(said["finding"], FILMS, strict=True))
    assert all(alone[name]["finding"][0] in line for line, name in zip(said["finding"], FILMS, strict=True))
    printed = export("course", "--films", "first", "-o", tmp_path / "a.mp4", *SMALL, "--finding").stdout
    assert printed.startswith("first: ") and printed.count("\n") == 1


@pytest.mark.parametrize("form", ["webm", "mov"])
def test_other_formats_have_what_an_mp4_has_in_the_theme_and_language_of_every_film(form, tmp_path):
    file = tmp_path / f"a.{form}"
    look = ["--theme", "light", "--lang", "pt", "--size", "64x64", "--fps", "1"]
    said = told("course", "-o", file, "--films", "first,second", *look)
    assert len(packets(file)) == said["frames"]
    assert [text for *_, text in captions(file)] == [text for _, _, text in said["captions"]]
    assert [title for _, title in marks(file)] == [title for _, title in said["chapters"]]
    title = load("scenes", "look.language").catalogue("pt")["Which run ends first?"]
    assert [name for _, name in said["chapters"]].count(title) == 2
    assert min(frame[0, 0] for frame in frames(file, "gray")) > 200


def test_without_films_it_is_the_course_in_teaching_order(tmp_path, monkeypatch):
    for name in ("declared", "scene_class"):
        monkeypatch.setattr(exports, name, getattr(packages, name))
    ordered, rendering = [], load("scenes", "render.course")

    def export_none(orders, *rest):
        ordered.extend(orders)
        raise OSError("drawn by nobody")

    monkeypatch.setattr(rendering, "export", export_none)
    export("course", "-o", tmp_path / "a.mp4", code=1)
    names = [order.file.stem.replace("_", "-") for order in ordered]
    assert names == list(declared())
    assert {order.settings["next"] for order in ordered} == {"none"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device"), MemoryError])
def test_a_course_that_fails_leaves_what_was_there(error, tmp_path, monkeypatch):
    """The second film does."""
    rendering, exporting = load("scenes", "render.course"), load("scenes", "render.export")
    drawn = []

    def fails(order, folder, *rest):
        if drawn:
            raise error
        drawn.append(folder)
        (folder / "segment").write_text("the first film")
        return exporting.Drawn((folder / "segment",), 1, load("scenes", "render.files.joining").Extras(), {})

    monkeypatch.setattr(rendering, "drawn", fails)
    (tmp_path / "a.mp4").write_text("old")
    look = ["--size", "64x64", "--fps", "1", "--jobs", "1"]
    words = ["export", "course", "--films", "first,second", "-o", str(tmp_path / "a.mp4"), *look]
    said = CliRunner().invoke(main, words)
    assert said.exit_code in (1, 130) and "Traceback" not in said.output
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]
    assert (tmp_path / "a.mp4").read_text() == "old" and not drawn[0].exists()


def test_a_gallery_and_processes_make_the_same_course(course, tmp_path):
    last = FILMS[-1]
    entry = f'scene = "course"\noutput = "a.mp4"\nfilms = ["{last}"]\nsize = "128x72"\nfps = {FPS}\n'
    (tmp_path / "films.toml").write_text(f"[[film]]\n{entry}")
    assert "a.mp4 (" in tilesim("gallery", tmp_path / "films.toml", "-o", tmp_path).stderr
    export("course", "-o", tmp_path / "two.mp4", "--films", last, *SMALL, "--jobs", "2")
    for made in ("a.mp4", "two.mp4"):
        assert (tmp_path / made).read_bytes() == (course[0] / f"{last}.mp4").read_bytes()
