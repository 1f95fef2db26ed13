"""The lesson on Stream-K: what it says is true of the data, or it is not made."""

from dataclasses import replace

import numpy as np
import pytest
from prepared import prepared

from tilesim import Device, Problem, simulate
from tilesim_scenes import stream_k
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.traces import shipped


def swapped(trace):
    """The same run, with two blocks' segments exchanged, so that shares are not dealt in turn."""
    spans = trace.spans.copy()
    spans["cta"] = np.select([spans["cta"] == 1, spans["cta"] == 2], [2, 1], spans["cta"])
    return replace(trace, spans=spans)


def slower(trace):
    """The same run, in 1.3 times the time."""
    spans = trace.spans.copy()
    for name in ("issue", "start", "drain", "ready", "fixup", "done"):
        spans[name] = spans[name] * 13 // 10
    return replace(trace, spans=spans)


@pytest.mark.parametrize(
    ("file", "change", "claim"),
    [
        ("stream-k", swapped, "gives a part to the next one"),
        ("stream-k", slower, "partial sums"),
        ("stream-k", lambda trace: replace(trace, meta=trace.meta | {"kernel": "other"}), "one kernel"),
    ],
)
def test_data_that_does_not_bear_it_out_is_refused(file, change, claim, monkeypatch):
    def altered(path):
        trace = shipped(path)
        return change(trace) if f"h200-{file}" in path else trace

    monkeypatch.setattr(stream_k, "shipped", altered)
    with pytest.raises(SystemExit, match=claim):
        prepared(stream_k.StreamK)


def test_waiting_at_the_end_is_that_of_an_average_sm():
    run = simulate("persistent", Problem(128, 1280, 512), Device.named("h200", sms=4))
    last = [run.spans["done"][run.spans["sm"] == sm].max() for sm in range(4)]
    assert stream_k.idle_at_the_end(run) == pytest.approx(run.makespan / 1000 - np.mean(last) / 1000)


def test_what_is_painted_as_waiting_is_as_large_as_what_sms_wait():
    scene = prepared(stream_k.StreamK)
    lanes, _ = scene.rows(scene.whole, scene.area, "whole tiles")
    x, y, _ = scene.waiting(lanes).get_vertices().T
    painted = abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
    waited = 1000 * stream_k.idle_at_the_end(scene.whole) / scene.whole.makespan
    assert painted / (lanes.width * lanes.height) == pytest.approx(waited)


def test_data_of_one_s_own_leads_to_the_neutral_film():
    scene = stream_k.StreamK(skip_animations=True)
    scene.settings = {"sms": 8}
    scene.setup()
    assert isinstance(scene, RaceFilm) and scene.traces[1].schedule == "stream-k"
