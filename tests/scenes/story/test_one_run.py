"""What films of one run say of where its time went."""

from functools import cache
from importlib.resources import as_file, files

import numpy as np
import pytest

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim_scenes.story.traces import naive_words, persistent_words
from tilesim_scenes.story.traces.one_run import pauses, spent, tell

FOUR = Device.named("h200", sms=4)


@cache
def run(schedule: str) -> Trace:
    return simulate(schedule, Problem(384, 1536, 512), FOUR)


@pytest.mark.parametrize("schedule", ["naive", "persistent", "stream-k", "persistent-dynamic", "split-k:2"])
def test_shares_of_time_add_up_to_all_of_it(schedule: str) -> None:
    shares = spent(run(schedule))
    assert sum(shares.values()) == pytest.approx(1)
    assert all(share > 0 for share in shares.values())


@pytest.mark.parametrize("schedule", ["naive", "persistent"])
def test_multiplying_and_what_slows_it_are_the_utilization(schedule: str) -> None:
    assert tell(run(schedule)).multiplying == pytest.approx(run(schedule).utilization)


def test_the_same_tiles_are_as_much_useful_work_in_both_runs() -> None:
    naive, persistent = tell(run("naive")), tell(run("persistent"))
    alone = (persistent.multiplying - persistent.slowed) * run("persistent").makespan
    assert naive.slowed == 0 < persistent.slowed
    assert alone == pytest.approx(naive.multiplying * run("naive").makespan, rel=0.02)


def test_launch_and_first_load_are_told_apart() -> None:
    shares = {part: share * 4 * run("naive").makespan for part, share in spent(run("naive")).items()}
    costs = run("naive").meta["costs"]
    assert shares["launch"] == pytest.approx(18 * costs["launch"])
    assert shares["first load"] == pytest.approx(18 * costs["prologue"])


def test_a_run_of_bare_k_steps_only_multiplies_and_idles() -> None:
    bare = simulate("naive", Problem(384, 384, 4, tile=(128, 128, 4)), Device(4), Costs.ideal())
    assert spent(bare) == {"multiply": 0.75, "idle": 0.25}


def test_pauses_lie_between_the_main_loops_of_their_sm() -> None:
    trace = run("naive")
    found = pauses(trace, 1)
    mine = np.sort(trace.spans[trace.spans["sm"] == 1], order="start")
    assert [(one.begin, one.end) for one in found] == list(
        zip(mine["drain"][:-1].tolist(), mine["start"][1:].tolist(), strict=True)
    )


def test_the_first_look_shows_the_pause_that_is_looked_at() -> None:
    for schedule in ("naive", "persistent"):
        story = tell(run(schedule))
        assert story.pause in story.pauses
        assert max(story.pause.end, story.pause.done) + 0.25 * story.pause.length <= story.window[1]


def test_without_a_second_tile_there_is_no_pause() -> None:
    story = tell(simulate("naive", Problem(128, 512, 512), FOUR))
    assert story.pause is None
    assert story.tile == 0


def test_the_finding_is_about_what_takes_most_of_the_rest() -> None:
    pausing, idling = run("naive"), simulate("naive", Problem(128, 1280, 8192), FOUR)
    assert f"{tell(pausing).pause.length / 1000:.1f}" in naive_words.finding(tell(pausing))
    assert naive_words.finding(tell(idling)) != naive_words.finding(tell(pausing))
    assert spent(idling)["idle"] > 0.3


def test_persistent_says_how_long_the_same_work_takes_alone() -> None:
    story = tell(run("persistent"))
    said = persistent_words.finding(story)
    for share in (story.multiplying, story.multiplying - story.slowed):
        assert f"{share * run('persistent').makespan / 1000:.1f}" in said


def test_persistent_says_how_much_sooner_it_ends_than_one_block_a_tile() -> None:
    naive, persistent = tell(run("naive")), tell(run("persistent"))
    said = persistent_words.against(persistent, naive)
    assert all(f"{story.trace.makespan / 1000:.1f}" in said for story in (naive, persistent))
    assert persistent_words.against(naive, persistent) == ""


def test_a_recorded_launch_is_said_to_come_from_a_benchmark() -> None:
    with as_file(files("tilesim") / "data" / "traces" / "h200-naive-4096x4096x512-grouped8.npz") as path:
        recorded = tell(Trace.load(path))
    assert naive_words.inside(recorded) != naive_words.inside(tell(run("naive")))
