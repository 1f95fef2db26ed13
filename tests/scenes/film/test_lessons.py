"""Lessons: what they say is true of the data they show, or they are not made."""

from dataclasses import replace

import numpy as np
import pytest
from prepared import prepared
from watching import watch

from tilesim.cli.packages import scene_class
from tilesim_scenes import naive, persistent, race
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.run_film import RunFilm
from tilesim_scenes.film.traces import shipped

LESSONS = {"naive": naive, "persistent": persistent, "race": race}
NEUTRAL = {"naive": RunFilm, "persistent": RunFilm, "race": RaceFilm}
NAMES = {"naive": naive.Naive, "persistent": persistent.Persistent, "race": race.Race}


def slower(trace):
    """The same run, in twice the time."""
    spans = trace.spans.copy()
    for name in ("issue", "start", "drain", "ready", "fixup", "done"):
        spans[name] *= 2
    return replace(trace, spans=spans)


def dealt(trace):
    """The same run, each block of it on the SM whose turn it would be."""
    spans = trace.spans.copy()
    spans["sm"] = spans["cta"] % trace.device.sms
    return replace(trace, spans=spans)


def shuffled(trace):
    """The same run, the SMs' names mixed up anew for each round of tiles."""
    spans = trace.spans.copy()
    order = np.argsort(spans["start"], kind="stable")
    sms = trace.device.sms
    for turn in range(0, len(order), sms):
        rows = order[turn : turn + sms]
        spans["sm"][rows] = (spans["sm"][rows] + turn // sms) % sms
    return replace(trace, spans=spans)


@pytest.mark.parametrize(
    ("name", "file", "change", "claim"),
    [
        ("race", "persistent-4096", slower, "to a quarter"),
        ("race", "persistent-no-overlap", slower, "makes pauses shorter"),
        ("naive", "naive", dealt, "dealing"),
        ("persistent", "persistent", shuffled, "leaves its SM"),
    ],
)
def test_data_that_does_not_bear_out_what_a_lesson_says_is_refused(name, file, change, claim, monkeypatch):
    def altered(path):
        trace = shipped(path)
        return change(trace) if f"h200-{file}" in path else trace

    monkeypatch.setattr(LESSONS[name], "shipped", altered)
    with pytest.raises(SystemExit, match=claim) as refused:
        prepared(NAMES[name])
    assert str(refused.value).count("\n") == 0


@pytest.mark.parametrize("name", NEUTRAL)
def test_data_of_one_s_own_leads_to_the_neutral_film(name):
    scene = prepared(scene_class(name), {"sms": 4, "m": 384, "n": 1536})
    assert isinstance(scene, NEUTRAL[name]) and scene.traces[0].problem.m == 384


def test_the_picture_of_the_work_can_be_left_out():
    with_it, without = (watch(race.Race, "wide", {"work": work}).scene for work in (True, False))
    assert with_it.now - without.now > 3
    assert set(without.captions) != set(with_it.captions)
    assert {one.text for one in without.captions} < {one.text for one in with_it.captions}
