"""Names of runs, pauses and shares of time: films show what the rows say, whoever wrote the kernel."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from strategies import EVERY_SCHEDULE

from tilesim import Costs, Device, Problem, simulate
from tilesim.analysis.time_account import account
from tilesim.formats.reader import read
from tilesim.metrics import utilization
from tilesim_scenes.film.runs import (
    LONGEST_NAME,
    longest_pause,
    names,
    pauses,
    schedule_name,
    time_shares,
    unlike_pauses,
    window,
)
from tilesim_scenes.mobjects.traces.sm_lane import tells_writes

OWN = Path(__file__).parents[2] / "own_kernel.csv"
PROBLEM = Problem(384, 1536, 512)
COSTS = Costs(k_step=99, launch=100, prologue=300, tile_gap=80, epilogue=700, partial=60, merge=20, fixup=90)
FOUR = Device.named("h200", sms=4)
NAIVE, PERSISTENT = (simulate(name, PROBLEM, FOUR) for name in ("naive", "persistent"))
DEVICES = [Device(1), Device(4), Device(4, 2), Device(30)]


def runs():
    for schedule in EVERY_SCHEDULE:
        for device in DEVICES:
            yield pytest.param(simulate(schedule, PROBLEM, device, COSTS), id=f"{schedule} {device}")


@pytest.mark.parametrize("trace", list(runs()))
def test_shares_add_up_and_agree_with_the_account_of_time(trace):
    found, parts = time_shares(trace), account(trace)
    assert sum(found.values()) == pytest.approx(1)
    assert found["multiply"] == pytest.approx(utilization(trace))
    whole = trace.device.slots * trace.makespan
    of_cause = {
        "idle": ["tail", "gap"],
        "wait": ["wait"],
        "fix up": ["fix up"],
        "write": ["write", "last write"],
    }
    for cause, its in of_cause.items():
        assert found.get(cause, 0) * whole == pytest.approx(sum(parts[name] for name in its))


def test_launch_and_first_load_are_told_apart():
    run = NAIVE
    shares, costs = time_shares(run), run.meta["costs"]
    for part, cost in {"launch": "launch", "first load": "prologue"}.items():
        assert shares[part] * 4 * run.makespan == pytest.approx(18 * costs[cost])


@pytest.mark.parametrize("trace", list(runs()))
def test_no_pause_is_longer_than_the_longest(trace):
    pause, spans = longest_pause(trace), trace.spans
    every = []
    for sm, place in {(one["sm"], one["slot"]) for one in spans}:
        mine = np.sort(spans[(spans["sm"] == sm) & (spans["slot"] == place)], order="start")
        every += [
            (sm, place, begin, end) for begin, end in zip(mine["drain"][:-1], mine["start"][1:], strict=True)
        ]
    assert {(one.sm, one.place, one.begin, one.end) for one in pauses(trace)} == set(every)
    if pause is None:
        assert max((end - begin for *_, begin, end in every), default=0) < 50
    else:
        assert pause.length == max(end - begin for *_, begin, end in every)


def test_a_run_without_a_second_tile_has_no_pause():
    assert longest_pause(simulate("naive", Problem(128, 512, 512), Device.named("h200", sms=4))) is None


def test_a_foreign_kernel_has_a_pause_and_its_tail_is_idle_time():
    trace = read(OWN)
    pause, shares = longest_pause(trace), time_shares(trace)
    mine = trace.spans[trace.spans["sm"] == pause.sm]
    assert pause.begin in mine["drain"] and pause.end in mine["start"]
    assert shares["idle"] > 100 * shares["launch"]


def test_pauses_that_are_compared_are_of_one_sm_and_seen_together():
    pair = unlike_pauses(NAIVE, PERSISTENT)
    for trace, pause in zip((NAIVE, PERSISTENT), pair, strict=True):
        assert pause in pauses(trace)
    low, high = window(NAIVE, *pair)
    assert pair[0].sm == pair[1].sm
    assert all(low <= one.begin < one.end <= high for one in pair)


def test_kernels_keep_their_names_unless_these_are_long_or_alike():
    assert schedule_name(replace(NAIVE, schedule="CUTLASS  ping-pong")) == "CUTLASS ping-pong"
    shown = schedule_name(replace(NAIVE, schedule="a kernel of which much can be said"))
    assert len(shown) <= LONGEST_NAME and shown.startswith("a kernel of which") and shown.endswith("…")
    assert len(set(names((NAIVE, NAIVE, PERSISTENT)))) == 3
    assert names((NAIVE, PERSISTENT)) == ("Naive", "Persistent")


def test_stamps_without_a_write_do_not_tell_one():
    spans = NAIVE.spans.copy()
    spans["drain"] = spans["ready"] = spans["fixup"] = spans["done"]
    blind = replace(NAIVE, spans=spans, origin="measured")
    assert tells_writes(NAIVE) and not tells_writes(blind)
