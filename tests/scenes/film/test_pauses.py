"""Pauses and shares of time: what the films of runs show is what the rows say, whoever wrote the kernel."""

from pathlib import Path

import numpy as np
import pytest
from strategies import EVERY_SCHEDULE

from tilesim import Costs, Device, Problem, simulate
from tilesim.analysis.time_account import account
from tilesim.formats.reader import read
from tilesim.metrics import utilization
from tilesim_scenes.film.runs import longest_pause, pauses, time_shares, unlike_pauses, window

OWN = Path(__file__).parents[2] / "own_kernel.csv"
PROBLEM = Problem(384, 1536, 512)
COSTS = Costs(k_step=99, launch=100, prologue=300, tile_gap=80, epilogue=700, partial=60, merge=20, fixup=90)
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
    for cause, names in of_cause.items():
        assert found.get(cause, 0) * whole == pytest.approx(sum(parts[name] for name in names))


def test_launch_and_first_load_are_told_apart():
    run = simulate("naive", PROBLEM, Device.named("h200", sms=4))
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
    slow, fast = (simulate(name, PROBLEM, Device.named("h200", sms=4)) for name in ("naive", "persistent"))
    pair = unlike_pauses(slow, fast)
    for trace, pause in zip((slow, fast), pair, strict=True):
        assert pause in pauses(trace)
    low, high = window(slow, *pair)
    assert pair[0].sm == pair[1].sm
    assert all(low <= one.begin < one.end <= high for one in pair)
