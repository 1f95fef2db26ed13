"""What runs are called, and what their traces can tell."""

from dataclasses import replace

from tilesim import Device, Problem, simulate
from tilesim_scenes.film.runs import (
    LONGEST_NAME,
    names,
    schedule_name,
)
from tilesim_scenes.mobjects.traces.part_names import tells_writes

FOUR = Device.named("h200", sms=4)
PROBLEM = Problem(384, 1536, 512)
NAIVE, PERSISTENT = (simulate(name, PROBLEM, FOUR) for name in ("naive", "persistent"))


def test_the_name_of_a_kernel_that_others_wrote_stays_as_it_is():
    assert schedule_name(replace(NAIVE, schedule="CUTLASS  ping-pong")) == "CUTLASS ping-pong"


def test_a_long_name_is_cut():
    shown = schedule_name(replace(NAIVE, schedule="a kernel of which much can be said"))
    assert len(shown) <= LONGEST_NAME and shown.startswith("a kernel of which") and shown.endswith("…")


def test_two_runs_called_alike_are_told_apart():
    assert len(set(names((NAIVE, NAIVE, PERSISTENT)))) == 3
    assert names((NAIVE, PERSISTENT)) == ("Naive", "Persistent")


def test_stamps_without_a_write_do_not_tell_one():
    spans = NAIVE.spans.copy()
    spans["drain"] = spans["ready"] = spans["fixup"] = spans["done"]
    blind = replace(NAIVE, spans=spans, origin="measured")
    assert tells_writes(NAIVE) and not tells_writes(blind)
