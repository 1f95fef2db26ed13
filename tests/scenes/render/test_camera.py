"""Frames that are drawn where they change are those of Manim, byte for byte."""

import subprocess
import sys
from functools import partial
from itertools import pairwise
from threading import Thread
from unittest.mock import patch

import av
import pytest
from foreign_scenes import (
    SCENES,
    Images,
    InSpace,
    LaggedSquares,
    Lowest,
    MovingCameraOver,
    MovingSquare,
    Opacity,
    Sections,
    StrokeBehind,
    TextTransforms,
    TimeUpdaters,
    Waits,
    frames_of_manim,
)
from manim import tempconfig
from manim._config import video_encoder
from watching import frame

from tilesim_scenes.render import IncrementalRenderer, made
from tilesim_scenes.render.files.planes import Planes
from tilesim_scenes.render.manim_inside import writer
from tilesim_scenes.render.manim_inside.writer import Room

small = partial(frame, 213, 120, frame_rate=10)


class Recorder(IncrementalRenderer):
    """Keeps the frames, and what was said to be different in each."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.kept = []

    def hand_on(self, repeat):
        self.kept += [(self.camera.pixel_array.copy(), self.changed)] * repeat


def recorded(scene, renderer=Recorder):
    shown = made(scene, renderer)
    shown.render()
    return shown.renderer


@pytest.mark.parametrize("scene", [Images, Opacity, StrokeBehind, TextTransforms])
def test_transparent_frames_are_those_of_manim(scene):
    with small(background_opacity=0.0):
        for one, (other, _) in zip(frames_of_manim(scene), recorded(scene).kept, strict=True):
            assert (one == other).all()


@pytest.mark.parametrize("scene", SCENES)
def test_nothing_changes_but_where_it_is_said(scene):
    """That all frames are those of Manim is tested with the films they make."""
    with small():
        ours = recorded(scene).kept
    assert len(ours) > 3
    for (before, _), (after, changed) in pairwise(ours):
        rest = after.copy()
        for place in changed:
            rest[place.rows, place.columns] = before[place.rows, place.columns]
        assert (rest == before).all()


def test_little_changes_where_little_moves():
    with small():
        kept = recorded(MovingSquare).kept
    shares = [sum(place.width * place.height for place in changed) / (213 * 120) for _, changed in kept]
    assert max(shares[2:]) < 0.6 and min(shares[2:]) > 0


def test_skipped_and_undrawn_frames_leave_the_others_as_they_are():
    class Some(Recorder):
        """Draws some frames, begun and ended in the middle of plays."""

        def before(self, repeat):
            self.drawing = self.frames % 7 > 2

    with small():
        for scene in (TimeUpdaters, LaggedSquares, Lowest):
            every, some = recorded(scene), recorded(scene, Some)
            wanted = [number for number in range(len(every.kept)) if number % 7 > 2]
            assert some.frames == every.frames == len(every.kept) and some.time == every.time
            assert len(some.kept) == len(wanted)
            for number, (frame, _) in zip(wanted, some.kept, strict=True):
                assert (frame == every.kept[number][0]).all()


def written(scene, make, form, folder):
    """What Manim writes in that format, as frames where the file holds random numbers."""
    settings = {
        "media_dir": str(folder),
        "dry_run": False,
        "format": form,
        "pixel_width": 214,
        "transparent": form == "mov",
    }
    # With its macroblock tree, x264 may make other bits of the same frames from one run to the next.
    options = video_encoder._DEFAULT_OPTIONS | {"libx264": {"crf": "23", "x264-params": "mbtree=0"}}
    with small(**settings), patch.object(video_encoder, "_DEFAULT_OPTIONS", options):
        make(scene).render()
    files = sorted(path for path in folder.rglob(f"*.{form}") if "partial_movie_files" not in path.parts)
    if form != "webm":
        return [path.read_bytes() for path in files]
    with av.open(str(files[0])) as container:
        return [frame.to_ndarray().tobytes() for frame in container.decode(video=0)]


def same_files(scene, form, folder):
    ours = written(scene, made, form, folder / "ours")
    return bool(ours) and ours == written(scene, lambda scene: scene(), form, folder / "theirs")


@pytest.mark.parametrize(
    "scene", [MovingSquare, LaggedSquares, MovingCameraOver, Images, Waits, Sections, InSpace]
)
def test_the_file_is_the_one_that_manim_writes(scene, tmp_path):
    assert same_files(scene, "mp4", tmp_path)


@pytest.mark.parametrize("at_once", [1, 2])
@pytest.mark.parametrize("size", [1, 10**5])
def test_the_file_is_the_same_however_little_is_drawn_ahead(size, at_once, tmp_path):
    with (
        patch.object(writer, "AHEAD", 1),
        patch.object(writer, "Room", lambda _: Room(size)),
        tempconfig({"max_inflight_encoders": at_once}),
    ):
        assert same_files(Sections, "mp4", tmp_path)


def test_who_finds_no_room_waits_until_there_is_some():
    room = Room(10)
    room.take(30)
    waiting = Thread(target=room.take, args=(6,), daemon=True)
    waiting.start()
    waiting.join(0.05)
    assert waiting.is_alive() and room.used == 30
    room.give(30)
    waiting.join()
    assert room.used == 6


def test_an_encoder_that_fails_ends_the_film_though_drawing_waits_for_it(tmp_path):
    with (
        patch.object(writer, "Room", lambda _: Room(1)),
        patch.object(Planes, "paste", side_effect=MemoryError("no more")),
        pytest.raises(RuntimeError, match=r"Failed to encode .*: no more"),
    ):
        written(LaggedSquares, made, "mp4", tmp_path)


@pytest.mark.parametrize("form", ["png", "gif", "webm", "mov"])
def test_other_formats_hold_what_manim_writes(form, tmp_path):
    assert same_files(MovingSquare, form, tmp_path)


def test_segments_that_manim_has_kept_are_not_drawn_again(tmp_path):
    drawn = []

    class Counting(IncrementalRenderer):
        def hand_on(self, repeat):
            drawn.append(repeat)
            super().hand_on(repeat)

    settings = {"media_dir": str(tmp_path), "dry_run": False, "disable_caching": False, "pixel_width": 214}
    counts = []
    for _ in range(2):
        with small(**settings, format="mp4"):
            made(Opacity, Counting).render()
        counts.append(len(drawn))
    assert counts[0] == counts[1] > 0


def test_other_versions_of_manim_draw_for_themselves():
    code = (
        "import manim; manim.__version__ = '0.23.1'; from tilesim_scenes.render import *\n"
        "print(KNOWN, IncrementalRenderer.__name__, type(made(manim.Scene).renderer).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-3:] == ["False", "CairoRenderer", "CairoRenderer"]
    assert (done.stdout + done.stderr).count("0.23.1") == 1
