"""Runs on one clock: who is first does not depend on order, and what makes the difference adds up to it."""

from importlib.resources import files

import pytest

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim_scenes.film.race_film import heat

FOUR = Device.named("h200", sms=4)
SMALL = Problem(384, 1536, 512)


def shipped(name):
    return Trace.load(str(files("tilesim").joinpath(f"data/traces/h200-{name}.npz")))


NAIVE, PERSISTENT = (shipped(f"{name}-4096x4096x512-grouped8") for name in ("naive", "persistent"))
RACES = {
    "measured": (NAIVE, PERSISTENT),
    "the other way round": (PERSISTENT, NAIVE),
    "measured, a tail": tuple(shipped(f"{n}-1408x3840x4096-grouped8") for n in ("persistent", "stream-k")),
    "four SMs": tuple(simulate(name, SMALL, FOUR) for name in ("naive", "persistent")),
    "four runs": tuple(
        simulate(name, SMALL, FOUR) for name in ("naive", "persistent", "stream-k", "persistent-dynamic")
    ),
    "two residents": tuple(
        simulate(name, SMALL, Device.named("h200", sms=2, ctas_per_sm=2)) for name in ("naive", "persistent")
    ),
    "one tile": tuple(simulate(name, Problem(128, 256, 512), FOUR) for name in ("naive", "persistent")),
}
BARE = tuple(simulate(name, SMALL, Device(4), Costs.ideal()) for name in ("naive", "persistent"))


@pytest.mark.parametrize("name", RACES)
def test_the_causes_add_up_to_the_gap(name):
    found = heat(RACES[name])
    assert sum(found.causes.values()) == pytest.approx(found.gap, abs=1e-3)


@pytest.mark.parametrize("name", RACES)
def test_the_figures_that_are_shown_add_up_to_the_difference_of_the_times_that_are_shown(name):
    found = heat(RACES[name])
    slow, fast = (round(ns / 1000, 1) for ns in (found.longest, found.shortest))
    assert found.shown_gap == pytest.approx(slow - fast)
    if found.shown_causes:
        assert sum(found.shown_causes.values()) == pytest.approx(found.shown_gap)
        gains = [us > 0 for us in found.shown_causes.values()]
        assert gains == sorted(gains, reverse=True) and gains[0]


def test_who_is_first_does_not_depend_on_who_is_named_first():
    one, other = heat((NAIVE, PERSISTENT)), heat((PERSISTENT, NAIVE))
    assert one.traces[one.fast] is other.traces[other.fast] is PERSISTENT
    assert one.causes == other.causes


def test_main_loops_over_a_write_are_longer():
    assert heat((NAIVE, PERSISTENT)).shown_causes["main loops"] < 0


def test_runs_of_one_length_are_a_draw_without_a_cause():
    found = heat(BARE)
    assert found.same and found.pauses is None and not found.shown_causes
