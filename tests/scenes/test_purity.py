"""A film is a function of its second: no state between frames, the same states at every frame rate."""

import av
import numpy as np
import pytest
from films import SCENES, drawn_once, film, ground, painted, picture
from hypothesis import given, settings
from hypothesis import strategies as st
from manim import tempconfig

from tilesim_scenes._stage import picture as pictures
from tilesim_scenes._stage import words
from tilesim_scenes._stage.export import Cut, export


@pytest.mark.parametrize("name", ["naive", "race", "classroom race"])
def test_a_second_looks_the_same_after_any_other(name):
    made = picture(name)
    seconds = (0.0, 2.0, 2.6, 4.9, 6.3, 8.8, 11.7, 15.0)
    first = {second: painted(name, second) for second in seconds}
    pixels = ground(name).copy()
    for second in (8.8, 0.0, 15.0, 6.3, 2.6, 4.9, 2.0, 11.7, 0.0):
        pixels[...] = ground(name)
        made.paint(pixels, second)
        assert (pixels == first[second]).all(), second


@settings(max_examples=25)
@given(st.floats(0, 15), st.floats(0, 15))
def test_no_second_leaves_a_trace(second, other):
    fresh = painted("classroom race", second)
    painted("classroom race", other)
    assert (painted("classroom race", second) == fresh).all()


def seconds_seen(name, fps, monkeypatch, folder):
    """The seconds that Manim asks a film to paint, in half a second at `fps`."""
    seen, paint = [], pictures.Picture.paint

    def note(self, frame, second):
        seen.append(second)
        return paint(self, frame, second)

    with monkeypatch.context() as patch:
        patch.setattr(pictures.Picture, "paint", note)
        patch.setattr(words, "Text", drawn_once)
        export(SCENES[name], film(name), folder / f"{fps}.mp4", "mp4", Cut("480p", fps, 5.0, 5.5))
    return seen


def test_manim_shows_the_same_seconds_at_24_and_60_frames_a_second(monkeypatch, tmp_path):
    seen = {fps: seconds_seen("naive", fps, monkeypatch, tmp_path) for fps in (24, 60)}
    assert [len(dict.fromkeys(seconds)) for seconds in seen.values()] == [12, 30]
    for fps, seconds in seen.items():
        assert sorted(set(seconds)) == pytest.approx([5 + frame / fps for frame in range(fps // 2)])
    # Every twelfth of a second has a frame in both.
    for count in range(6):
        both = [list(dict.fromkeys(seconds))[count * fps // 12] for fps, seconds in seen.items()]
        assert both[0] == pytest.approx(both[1], abs=1e-9)


def decoded(path):
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]


def test_exported_films_agree_where_they_meet(tmp_path):
    films = {}
    for fps in (24, 60):
        export(SCENES["race"], film("race"), tmp_path / f"{fps}.mp4", "mp4", Cut("480p", fps, 6.0, 6.5))
        films[fps] = decoded(tmp_path / f"{fps}.mp4")
    assert [len(frames) for frames in films.values()] == [12, 30]
    truth = [painted("race", 6 + count / 12)[..., :3].astype(int) for count in range(6)]
    for count in range(6):
        slow, fast = films[24][2 * count], films[60][5 * count]
        # What is left is the encoder's own.
        assert np.abs(slow - fast).mean() < 1.5
        for frame in (slow, fast):
            off = [np.abs(frame - other).mean() for other in truth]
            assert off.index(min(off)) == count and min(off) < 6


def test_manims_own_settings_are_left_alone(tmp_path):
    with tempconfig({"pixel_width": 321, "frame_rate": 7}) as _:
        from manim import config

        before = dict(config.items())
        export(SCENES["naive"], film("naive"), tmp_path / "a.png", "png", Cut("480p", 5, 3.0))
        assert dict(config.items()) == before
