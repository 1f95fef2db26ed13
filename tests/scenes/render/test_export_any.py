# ruff: noqa: E731, F403, F405 (scenes as Manim's users write them)
"""Any scene, exported by one process or several: Manim's frames, in one file that is always the same."""

import inspect
import random
from pathlib import Path

import av
import numpy as np
import pytest
from foreign_scenes import SCENES, frames_of_manim
from manim import *

from tilesim_scenes.render import export, running
from tilesim_scenes.render.files import formats
from tilesim_scenes.render.files.formats import Format
from tilesim_scenes.render.running import RenderRequest

SIZE, FPS = (214, 120), 10
SMALL = {
    "pixel_width": SIZE[0], "pixel_height": SIZE[1], "frame_rate": FPS, "verbosity": "ERROR", "seed": 5,
    "progress_bar": "none", "disable_caching": True, "dry_run": True,
}  # fmt: skip


@pytest.fixture(autouse=True)
def without_loss(monkeypatch):
    """Frames as they were drawn, in segments shorter than any scene."""
    monkeypatch.setitem(formats.CODECS, "h264", formats.CODECS["animation"])
    monkeypatch.setattr(running, "SEGMENT", 0.4)
    with tempconfig({"seed": 5}):
        yield


def order(scene, **about):
    file = Path(inspect.getfile(scene))
    return RenderRequest(scene, file, Format("mov", SIZE, FPS), **about)


def decoded(path):
    with av.open(str(path)) as film:
        return [frame.to_ndarray(format="rgba") for frame in film.decode(video=0)]


def differing(some, others):
    """The numbers of the frames that are not the same."""
    assert len(some) == len(others)
    pairs = enumerate(zip(some, others, strict=True))
    return [number for number, (one, other) in pairs if not np.array_equal(one, other)]


class Turns(Animation):
    """Turns its mobject a little further whenever it is asked, whatever for."""

    def interpolate_mobject(self, alpha):
        self.mobject.rotate(0.1)


class Swells(Square):
    """Grows with each look at it."""

    def interpolate(self, *args, **kwargs):
        self.set_stroke(width=self.get_stroke_width() + 1)
        return self


class AnimationWithAMemory(Scene):
    def construct(self):
        self.play(Turns(Square()), run_time=1.3)


class MobjectWithAMemory(Scene):
    def construct(self):
        self.play(Swells().animate.shift(RIGHT), run_time=1.3)


class RateWithAMemory(Scene):
    def construct(self):
        asked = []
        self.play(Square().animate(rate_func=lambda t: asked.append(t) or len(asked) / 40).shift(3 * RIGHT))


class RandomEachFrame(Scene):
    def construct(self):
        place = lambda: [random.uniform(-3, 3), np.random.uniform(-2, 2), 0]
        self.add(Dot().add_updater(lambda dot, dt: dot.move_to(place())))
        self.wait(1.5)


class TextEachFrame(Scene):
    def construct(self):
        now = ValueTracker(0)
        self.add(always_redraw(lambda: Text(f"{now.get_value():.1f} s")))
        self.play(now.animate.set_value(2), run_time=1.2)


class WaitsUntil(Scene):
    def construct(self):
        dot = Dot().add_updater(lambda dot, dt: dot.shift(dt * RIGHT))
        self.add(dot)
        self.wait_until(lambda: dot.get_x() > 0.9, 3)
        dot.clear_updaters()
        self.play(dot.animate.shift(UP), run_time=0.7)


class EndsInTearDown(Scene):
    def construct(self):
        self.play(Create(Square()), run_time=0.6)

    def tear_down(self):
        self.play(Create(Circle()), run_time=0.7)


class Prints(Scene):
    def construct(self):
        for number in range(3):
            print("play", number)
            self.play(FadeIn(Dot(number * RIGHT)), run_time=0.5)


HARD = [
    AnimationWithAMemory, MobjectWithAMemory, RateWithAMemory, RandomEachFrame, TextEachFrame, WaitsUntil,
    EndsInTearDown, Prints,
]  # fmt: skip
"""Scenes in which frames depend on more than the instant, or on what processes share."""


@pytest.mark.parametrize("scene", [*SCENES, *HARD], ids=lambda scene: scene.__name__)
def test_frames_are_those_of_manim_and_files_the_same_at_any_number_of_processes(scene, tmp_path):
    told = []
    export.export(order(scene), tmp_path / "one.mov", 1)
    export.export(order(scene), tmp_path / "three.mov", 3, told.append)
    with tempconfig(SMALL):
        theirs, ours = frames_of_manim(scene), decoded(tmp_path / "three.mov")
    assert len(theirs) > 3 and differing(theirs, ours) == []
    assert sum(told) == len(ours)
    assert (tmp_path / "one.mov").read_bytes() == (tmp_path / "three.mov").read_bytes()


def test_random_numbers_without_a_seed_are_the_same_in_all_processes(tmp_path, monkeypatch):
    """One process and several do not draw the same dots then; but several agree on where they are."""

    class Unseeded(Scene):
        def construct(self):
            places = np.random.default_rng().uniform(-3, 3, (20, 3)) * (1, 0.7, 0)
            self.add(*map(Dot, places))
            self.wait(1.5)

    export.export(order(Unseeded), tmp_path / "a.mov", 3)
    shown = decoded(tmp_path / "a.mov")
    assert len(shown) == 15 and differing(shown, [shown[0]] * 15) == []


def test_what_a_scene_prints_is_printed_once_and_not_with_figures(tmp_path, capfd):
    export.export(order(Prints), tmp_path / "a.mov", 3)
    said = capfd.readouterr()
    assert said.out == "" and [line for line in said.err.splitlines() if "play" in line] == [
        "play 0", "play 1", "play 2"
    ]  # fmt: skip
