"""The lesson on ways to cut: what it says is true of the data, or it is not made."""

import numpy as np
import pytest
from prepared import prepared

from tilesim import Device, Problem, simulate
from tilesim_scenes import split_k_and_friends
from tilesim_scenes.film.race_film import RaceFilm
from tilesim_scenes.film.traces import shipped
from tilesim_scenes.split_k_and_friends import cut_tiles, printed, steps_of_sms

SMALL, FOUR = Problem(384, 640, 2048), Device.named("h200", sms=4)


@pytest.mark.parametrize(
    ("mixed_up", "instead", "claim"),
    [
        ("naive", "stream-k-hybrid", "none is whole"),
        ("stream-k-hybrid", "stream-k", "a whole tile at the end"),
        ("stream-k", "stream-k-hybrid", "takes longer in Stream-K"),
    ],
)
def test_data_that_does_not_bear_it_out_is_refused(mixed_up, instead, claim, monkeypatch):
    monkeypatch.setattr(
        split_k_and_friends,
        "shipped",
        lambda path: shipped(path.replace(f"h200-{mixed_up}-1408", f"h200-{instead}-1408")),
    )
    with pytest.raises(SystemExit, match=claim):
        prepared(split_k_and_friends.SplitKAndFriends)


def test_cut_tiles_and_steps_are_those_of_the_plan():
    whole, cut = (simulate(name, SMALL, FOUR) for name in ("naive", "stream-k"))
    assert cut_tiles(whole) == 0 < cut_tiles(cut)
    assert np.ptp(steps_of_sms(cut)) <= 1 and steps_of_sms(cut).sum() == SMALL.tiles * SMALL.k_steps


@pytest.mark.parametrize("name", ["naive", "split-k:2", "stream-k"])
def test_an_average_sm_s_time_adds_up_as_it_is_printed(name):
    run = simulate(name, SMALL, FOUR)
    assert sum(printed(run)) == pytest.approx(round(run.makespan / 1000, 1), abs=1e-9)
    assert min(printed(run)) >= 0


def test_data_of_one_s_own_leads_to_the_neutral_film():
    scene = split_k_and_friends.SplitKAndFriends(skip_animations=True)
    scene.settings = {"sms": 4, "m": 384, "n": 1536, "k": 512}
    scene.setup()
    assert isinstance(scene, RaceFilm) and len(scene.traces) == 4
