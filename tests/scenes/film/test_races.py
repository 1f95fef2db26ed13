"""Races of other runs than the film's own: whatever is given is played to its finding, and is named."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from prepared import prepared
from watching import ASPECTS, frame, watch

from tilesim import Device, Problem, simulate
from tilesim_scenes.film.course import OURS
from tilesim_scenes.film.race_film import heat
from tilesim_scenes.film.settings import FilmError
from tilesim_scenes.look.text import POINTS_PER_UNIT, px
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors
from tilesim_scenes.race import Race

SMALL = {"device": "h200", "sms": 4, "m": 384, "n": 1536, "k": 512}
ASKED = {
    "four SMs": SMALL,
    "four": SMALL | {"schedule": ["naive", "persistent", "stream-k", "split-k:2"]},
    "two residents": SMALL | {"sms": 2, "ctas_per_sm": 2},
    "a draw": SMALL | {"costs": "ideal"},
    "one tile": SMALL | {"m": 128, "n": 256},
    "many SMs": {"m": 2048, "n": 2048, "k": 512, "schedule": ["split-k:2", "persistent-contiguous"]},
}


def words(seen):
    return " ".join(word.text for _, shown in seen.moments for word in shown)


@cache
def raced(name):
    return watch(Race, "wide", ASKED[name]).scene


@pytest.mark.parametrize("name", ASKED)
def test_whatever_is_asked_for_races(name):
    assert raced(name).card.sentence
    assert len(raced(name).traces) == len(ASKED[name].get("schedule", "ab"))


@pytest.mark.parametrize("aspect", ["wide", "tall"])
def test_traces_that_are_given_race(aspect, tmp_path):
    device = Device.named("h200", sms=4)
    runs = [simulate(name, Problem(384, 1536, 512), device) for name in ("naive", "persistent")]
    paths = [str(tmp_path / f"{number}.npz") for number in range(2)]
    replace(runs[0], schedule="FlashInfer-2", origin="measured", meta={}).save(paths[0])
    runs[1].save(paths[1])
    said = words(watch(Race, aspect, {"trace": paths}))
    assert "FlashInfer-2" in said and "Persistent" in said
    assert "measured and simulated" in said and "measured on" not in said


@pytest.mark.parametrize("aspect", ASPECTS)
@pytest.mark.parametrize("fastest", range(4))
def test_four_runs_fit_above_the_caption_and_have_names_that_can_be_read(aspect, fastest):
    names = ["naive", "persistent-dynamic", "stream-k", "split-k:2"]
    names.insert(fastest, "persistent")
    runs = [simulate(name, Problem(384, 1536, 512), Device.named("h200", sms=4)) for name in names[:4]]
    with frame(*ASPECTS[aspect]):
        scene = prepared(Race, {"sms": 4})
        panels, area = scene.panels(heat(tuple(runs))), scene.stage
        # A cursor is a little longer than its lanes are high.
        assert panels.get_top()[1] <= area.top + px(10) and panels.get_bottom()[1] >= area.bottom - px(10)
        for upper, lower in pairwise(panels):
            assert upper.get_bottom()[1] > lower.get_top()[1]
        sizes = [line.font_size / POINTS_PER_UNIT for panel in panels for line in panel.title]
        assert min(sizes) >= px(24 if aspect == "square" else 28)


@pytest.mark.parametrize("count", [1, 5])
def test_a_race_is_of_two_to_four(count):
    with pytest.raises(FilmError, match=f"2 to 4 schedules; {count} w"):
        Race().traces_of(SMALL | {"schedule": ["naive"] * count})


@pytest.mark.parametrize("name", ["four SMs", "many SMs", "a draw"])
def test_lanes_become_the_bars_of_the_finding(name):
    scene = raced(name)
    lanes = [one for one in scene.mobjects if isinstance(one, LaneVectors | LaneImage)]
    grounds = [one.grounds if isinstance(one, LaneVectors) else one for one in lanes]
    for found, bar in zip(grounds, scene.card.bars.grounds, strict=True):
        assert found.get_center() == pytest.approx(bar.get_center())
        assert found.width == pytest.approx(bar.width)


def test_the_gif_of_the_readme_has_the_measured_runs_from_their_start_to_their_ends():
    (gif,) = (entry for entry in OURS["race"].gallery if entry["output"] == "race.gif")
    moments = watch(Race, "wide").moments
    part = [[word.text for word in said] for now, said in moments if gif["from"] <= now <= gif["to"]]
    assert all("measured on NVIDIA H200" in said for said in part)
    assert " 0.0 µs" in part[0]
    assert "33.8 µs" in part[-1]
