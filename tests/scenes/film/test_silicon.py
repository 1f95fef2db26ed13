"""A simulation beside its run: the tile that differs the most, and what its difference adds up from."""

from dataclasses import replace

import numpy as np
import pytest

from tilesim import Costs, Device, Problem, simulate
from tilesim.analysis.divergence import since_first_multiply
from tilesim.view import written
from tilesim_scenes.film.silicon_film import cause, finding, tell

PROBLEM, DEVICE = Problem(1024, 1024, 256), Device.named("h200", sms=8)
COSTS = Costs(k_step=700, launch=165, prologue=300, tile_gap=90, epilogue=800)
SLOWER = {"loops": {"k_step": 735}, "pauses": {"prologue": 400, "tile_gap": 200}, "end": {"epilogue": 850}}


def pair(schedule="persistent", problem=PROBLEM, **changes):
    """A run, and one whose costs differ, as if it had been measured."""
    runs = [simulate(schedule, problem, DEVICE, costs) for costs in (COSTS, replace(COSTS, **changes))]
    simulated, measured = map(since_first_multiply, runs)
    return simulated, replace(measured, origin="measured", meta={"gpu": "NVIDIA H200"})


@pytest.mark.parametrize("schedule", ["naive", "persistent", "stream-k"])
@pytest.mark.parametrize("changes", SLOWER.values(), ids=SLOWER)
def test_no_tile_is_farther_apart(schedule, changes):
    runs = pair(schedule, **changes)
    found = tell(*runs).divergence
    assert abs(found.gap) == np.abs(written(runs[1]) - written(runs[0])).max()
    for trace, chain in zip(runs, (found.simulated, found.measured), strict=True):
        assert chain.done == chain.loops + chain.pauses + chain.end == written(trace)[found.tile]


@pytest.mark.parametrize("what", ["loops", "pauses"])
def test_the_cause_is_what_was_made_slower(what):
    found = tell(*pair(**SLOWER[what])).divergence
    assert (found.cause, found.by > 0) == (what, True)
    faster = tell(*reversed(pair(**SLOWER[what]))).divergence
    assert (faster.cause, faster.by) == (what, -found.by)
    assert cause(found) != cause(faster)


def test_a_write_that_is_slower_is_the_cause_for_a_tile_alone():
    found = tell(*pair(problem=Problem(128, 256, 256), **SLOWER["end"])).divergence
    assert (found.cause, found.by) == ("end", 50)


def test_runs_that_agree_have_no_divergence():
    story = tell(*pair())
    assert story.divergence is None and story.run.error == 0


def test_the_finding_says_which_is_longer():
    short, long = tell(*pair(k_step=735)), tell(*pair(k_step=665))
    assert len({finding(story) for story in (short, long, tell(*pair()))}) == 3
