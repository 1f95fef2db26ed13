"""A film is a function of its second: no state between frames, the same states at every frame rate."""

import av
import numpy as np
import pytest
from films import SCENES, film, painted
from manim import tempconfig

from tilesim_scenes._stage.export import Cut, begin
from tilesim_scenes._stage.reel import Reel


def export(name, path, cut):
    begin(SCENES[name], film(name), path, "mp4", cut).finish()


def seconds_seen(name, fps, monkeypatch, folder):
    """The seconds of a film that are painted, in half a second at `fps`."""
    seen, paint = [], Reel.paint

    def note(self, frame, second, since=None):
        seen.append(second)
        return paint(self, frame, second, since)

    with monkeypatch.context() as patch:
        patch.setattr(Reel, "paint", note)
        export(name, folder / f"{fps}.mp4", Cut("480p", fps, 5.0, 5.5))
    return seen


def test_a_film_shows_the_same_seconds_at_24_and_60_frames_a_second(monkeypatch, tmp_path):
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
        export("race", tmp_path / f"{fps}.mp4", Cut("480p", fps, 6.0, 6.5))
        films[fps] = decoded(tmp_path / f"{fps}.mp4")
    assert [len(frames) for frames in films.values()] == [12, 30]
    truth = [painted("race", 6 + count / 12)[..., :3].astype(int) for count in range(6)]
    for count in range(6):
        slow, fast = films[24][2 * count], films[60][5 * count]
        # What is left is the encoder's own.
        assert np.abs(slow - fast).mean() < 2
        for frame in (slow, fast):
            off = [np.abs(frame - other).mean() for other in truth]
            assert off.index(min(off)) == count and min(off) < 6


def test_manims_own_settings_are_left_alone(tmp_path):
    with tempconfig({"pixel_width": 321, "frame_rate": 7}) as _:
        from manim import config

        before = dict(config.items())
        export("naive", tmp_path / "a.mp4", Cut("480p", 5, 3.0, 4.0))
        assert dict(config.items()) == before
