"""Film: what its settings do, and what it keeps in place and in time."""

from typing import Any

import numpy as np
import pytest
from manim import RIGHT, Dot, FadeIn, Square, config
from watching import ASPECTS, frame, watch

from tilesim import Device, Problem
from tilesim.cli.packages import scene_class
from tilesim_scenes import Badge, Film, Lanes, PlayTrace
from tilesim_scenes.film.traces import Default
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.words.finding import Finding, reading_time

QUESTION, FIRST, SECOND = "Who is first?", "Four SMs take a tile each", "Then they take another"


class Short(Film):
    """Two captions, a clock, and a camera that goes in and comes out."""

    default = Default(("persistent",), Problem(256, 768, 512), Device.named("h200", sms=4))

    def construct(self) -> None:
        (trace,) = self.traces
        self.title(QUESTION)
        self.lanes = Lanes(trace, width=self.area.width * 0.7)
        self.badge(trace)
        self.ticking = self.clock(trace.makespan)
        self.say(FIRST)
        self.play(FadeIn(self.lanes))
        self.before = self.on_screen()
        self.say(SECOND)
        self.dive(self.lanes.span(tile=0))
        self.inside = self.on_screen()
        self.play(PlayTrace(self.lanes, self.ticking, until=trace.makespan, run_time=1.0))
        self.come_out()
        self.after = self.on_screen()

    def on_screen(self) -> np.ndarray:
        """Where badge and clock stand in the frame, as shares of it."""
        view = self.camera.frame
        badge = next(one for one in self.mobjects if isinstance(one, Badge))
        places = [badge.get_center(), self.ticking.get_corner(RIGHT)]
        return np.array([(place - view.get_center()) / view.width for place in places])


def test_a_film_keeps_badge_and_clock_in_place_and_tells_when_what_was_said_and_run() -> None:
    scene = watch(Short, "wide").scene
    assert scene.inside == pytest.approx(scene.before)
    assert scene.after == pytest.approx(scene.before)
    assert scene.camera.frame.width == pytest.approx(8 * 16 / 9)
    assert np.allclose(scene.camera.frame.get_center(), 0)
    assert [one.text for one in scene.captions] == [FIRST, SECOND]
    assert scene.captions[0].end == scene.captions[1].start
    assert all(one.end - one.start >= reading_time(one.text) - 0.05 for one in scene.captions)
    # The last stands until the last frame ends.
    assert 0 <= scene.captions[-1].end - scene.now < 1 / 12
    (ran,) = scene.runs
    assert (ran.since, ran.until) == (0, scene.traces[0].makespan)
    assert ran.end - ran.start == pytest.approx(1.0)


class Walled(Film):
    """A wall larger than the frame, into which the camera looks."""

    def construct(self) -> None:
        self.add(Square(20, fill_opacity=1.0))
        self.tops = []
        for move in (lambda: self.dive(Dot()), self.come_out):
            move()
            self.camera.reset()
            self.camera.capture_mobjects(self.mobjects)
            self.tops.append(self.camera.pixel_array[:, 5, 0] > 128)


def test_where_badge_and_clock_stand_the_camera_sees_nothing_else() -> None:
    with frame(320, 180):
        scene = Walled(skip_animations=True)
        scene.settings = {}
        scene.render()
    inside, outside = scene.tops
    head = round((0.5 - scene.area.top / config.frame_height) * 180)
    assert not inside[: head - 1].any() and inside[head + 1 :].all() and outside.all()


class Slowed(Short):
    """A badge as long as those of measured runs, and a clock in slow motion."""

    def construct(self) -> None:
        self.badge(Badge("measured on NVIDIA H200", "measured"))
        self.ticking = self.clock(999_900).run_at(99).run_at(1)
        self.wait(0.1)


@pytest.mark.parametrize("aspect", ASPECTS)
def test_slow_motion_is_said_beside_the_badge(aspect: str) -> None:
    scene = watch(Slowed, aspect).scene
    badge = next(one for one in scene.mobjects if isinstance(one, Badge))
    assert scene.ticking.factor.text == ("slow motion, 1/99" if aspect == "wide" else "×1/99")
    assert scene.ticking.get_right()[0] < badge.get_left()[0]


def test_the_caption_before_a_finding_is_kept_too() -> None:
    class Told(Film):
        def construct(self) -> None:
            for sentence in ("One square", "And still that one"):
                self.say(sentence)
                self.play(FadeIn(Square()))
            self.finding(Finding("It moved"))

    captions = watch(Told, "wide").scene.captions
    assert [one.text for one in captions] == ["One square", "And still that one"]
    assert all(one.start < one.end for one in captions) and captions[0].end == captions[1].start


@pytest.mark.parametrize("seconds", [3, 40])
def test_a_film_lasts_as_long_as_asked_for(seconds: float) -> None:
    natural, asked = watch(Short, "wide").scene, watch(Short, "wide", {"seconds": seconds}).scene
    assert asked.now == pytest.approx(seconds, rel=0.03)
    pairs = zip(natural.captions, asked.captions, strict=True)
    stretch = seconds / natural.now
    assert all(long.start == pytest.approx(short.start * stretch, abs=0.3) for short, long in pairs)


def test_a_film_that_refuses_some_traces_lasts_as_long_as_asked_for_too() -> None:
    scene = watch(scene_class("sim-vs-silicon"), "wide", {"seconds": 30}).scene
    assert scene.now == pytest.approx(30, rel=0.03)


def test_a_title_can_be_another_or_none() -> None:
    said = {word.text for _, words in watch(Short, "wide", {"title": "Mine"}).moments for word in words}
    assert "Mine" in said and QUESTION not in said
    said = {word.text for _, words in watch(Short, "wide", {"opening": False}).moments for word in words}
    assert QUESTION not in said


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"seconds": 2}, "error: the film lasts 2 s; it must last from 3 to 600 s"),
        ({"lang": "xx"}, "error: .*xx.*en.*zh.*pt"),
        ({"opening": "no"}, "error: opening is 'no'; it must be true or false"),
        ({"trace": "gone.npz"}, "error: .*gone.npz"),
    ],
)
def test_a_wrong_setting_is_one_sentence(settings: dict, sentence: str) -> None:
    with pytest.raises(SystemExit, match=sentence) as raised:
        watch(Short, "wide", settings)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("theme", "light"), [("dark", False), ("light", True)])
def test_a_theme_changes_ground_and_ink(theme: str, light: bool) -> None:
    with frame(320, 180):
        scene = Short(skip_animations=True)
        scene.settings = {"theme": theme}
        scene.render()
        ground = scene.camera.background_color.to_rgb()
        assert scene.theme.dark != light
    assert (ground.mean() > 0.5) == light


@pytest.mark.parametrize("pixels", [(480, 854), (320, 320), (854, 480)])
def test_a_film_fits_whatever_pixels_manim_was_asked_for(pixels: tuple[int, int]) -> None:
    with frame(1920, 1080, pixel_width=pixels[0], pixel_height=pixels[1]):
        before = dict(config)
        scene = Short(skip_animations=True)
        scene.settings = {"theme": "light"}
        scene.render()
        view = scene.camera.frame
        assert view.width / view.height == pytest.approx(pixels[0] / pixels[1])
        assert scene.camera.frame_height == pytest.approx(view.height)
        assert dict(config) == before


def test_a_frame_that_somebody_chose_stays() -> None:
    with frame(1920, 1080, frame_width=20.0, frame_height=10.0):
        assert Short(skip_animations=True).camera.frame.width == pytest.approx(20)


def test_a_badge_changes_with_the_next_play_and_only_where_it_says_something_else() -> None:
    stood: list[list[str]] = []

    class Says(Film):
        def construct(self) -> None:
            for said in ("model", "counted", "counted"):
                self.badge(Badge("of no play", "measured"))
                self.badge(Badge(said, said))
                self.look()
                self.wait(0.5)
                self.look()

        def look(self) -> None:
            stood.append([one.text for one in self.mobjects if isinstance(one, Badge)])

    moments = watch(Says, "wide").moments
    assert stood == [[], ["model"], ["model"], ["counted"], ["counted"], ["counted"]]
    assert [word.text for word in moments[-1][1]] == ["counted"]


@pytest.mark.parametrize(("said", "fades"), [("counted", False), ("model", True)])
def test_a_badge_fades_for_the_finding_only_where_that_has_another(said: str, fades: bool) -> None:
    faded: list[bool] = []

    class Ends(Film):
        def construct(self) -> None:
            self.badge(Badge(said, said))
            self.finding(Finding("It moved", badge=Badge("counted", "counted")))

        def play(self, *animations: Any, **kwargs: Any) -> None:
            moved = [one for animation in animations for one in animation.mobject.get_family()]
            faded.append(any(isinstance(one, Badge) for one in moved))
            super().play(*animations, **kwargs)

    seen = watch(Ends, "wide")
    assert any(faded) == fades
    assert [sum(word.text == "counted" for word in words) for _, words in seen.moments][-1] == 1


def test_bars_of_a_finding_are_not_seen_before_they_grow() -> None:
    """Bars that do not grow are there with the card."""

    class Grows(Short):
        def construct(self) -> None:
            bars = Bars([("seen", 3.0, "measured"), ("grows", 2.0, "measured")], "s")
            self.finding(Finding("It grew", "×1.5", bars), [bars.grow(1)])

    moments = [{word.text for word in words} for _, words in watch(Grows, "wide").moments]
    first = next(words for words in moments if "It grew" in words)
    assert {"seen", "×1.5"} <= first and not {"grows", "2.0 s"} & first
    assert {"seen", "3.0 s", "grows", "2.0 s"} <= moments[-1]


@pytest.mark.parametrize("rate", [10, 24])
@pytest.mark.parametrize("seconds", [3.0, 30.0])
def test_a_film_has_its_length_to_the_frame_at_any_rate(rate: int, seconds: float) -> None:
    with frame(160, 90, frame_rate=rate):
        scene = Short()
        scene.settings = {"seconds": seconds}
        scene.renderer.drawing = False
        scene.render()
        assert scene.now == pytest.approx(seconds)
        assert abs(scene.renderer.frames - seconds * rate) <= 1
