"""Which calibration stands for a run that was not measured, and how it is scaled to it."""

from dataclasses import replace

import pytest
from refusals import refused

from tilesim import SCHEDULES, Costs, Device, Problem
from tilesim.costs import WHOLE
from tilesim.errors import CostsError
from tilesim.kernel_costs.default import STANDS_IN, costs_for

PROBLEM = Problem(4096, 4096, 512)
H200 = Device.named("h200")


def entry(source, schedule="persistent", **changes):
    costs = {"k_step": 600.0, "epilogue": 800, "overlap": True, "source": source, **changes.pop("costs", {})}
    about = {"dtype": "bf16", "tile": [128, 256, 64], "ctas_per_sm": 1, "loads": "tma", "kernel": "own"}
    return {"schedule": schedule, **about, "costs": costs, **changes}


NO_OVERLAP = {"overlap": False}
ENTRIES = [
    entry("pointers", loads="ptr"),
    entry("no overlap", costs=NO_OVERLAP),
    entry("planned", kernel="planned"),
    entry("plain"),
    entry("small", tile=[128, 128, 64], costs=NO_OVERLAP),
    entry("naive", "naive", costs=NO_OVERLAP),
    entry("two", "naive", tile=[128, 128, 64], ctas_per_sm=2, costs={"coresidency": [1, 1.4], **NO_OVERLAP}),
]


def chosen(schedule="persistent", problem=PROBLEM, device=H200, entries=ENTRIES, kernel=""):
    return costs_for(entries, schedule, problem, device, kernel)


@pytest.mark.parametrize(
    "schedule, changes, source",
    [
        ("persistent", {}, "plain"),
        ("persistent-dynamic", {}, "plain"),
        ("stream-k:108", {}, "planned"),
        ("naive", {}, "naive"),
        ("split-k:2", {}, "naive"),
        ("persistent", {"k": 4096, "order": "grouped:8"}, "plain"),
        ("persistent", {"tile": (128, 128, 64)}, "small"),
        ("naive", {"tile": (128, 128, 64)}, "two"),
    ],
)
def test_the_nearest_is_taken_as_it_is(schedule, changes, source):
    assert chosen(schedule, replace(PROBLEM, **changes)).source == source


@pytest.mark.parametrize(
    "kernel, source",
    [
        ("", "plain"),
        ("persistent-tma-overlap", "plain"),
        ("persistent-tma", "no overlap"),
        ("persistent-ptr-overlap", "pointers"),
        ("persistent-ptr", "pointers"),
        ("planned-tma-overlap", "planned"),
        ("planned-tma", "no overlap"),
    ],
)
def test_a_kernel_that_is_named_is_taken(kernel, source):
    assert chosen(kernel=kernel).source == source


@pytest.mark.parametrize("schedule", sorted(SCHEDULES))
def test_who_stands_in_for_a_schedule_without_a_calibration(schedule):
    """The best of those that there are; but nothing stands in for naive, whose blocks have one tile each."""
    alone = schedule in ("naive", "persistent")
    stand_ins = STANDS_IN.get(schedule, () if alone else ("persistent",))
    assert set(stand_ins) <= set(SCHEDULES) - {schedule}
    others = set(SCHEDULES) - {"persistent", *stand_ins}
    entries = [entry(name, name) for name in (*others, *reversed(stand_ins))]
    entries += [entry(schedule, schedule)] if alone else []
    cutting = {"split-k": "split-k:2", "stream-k": "stream-k:132"}.get(schedule, schedule)
    for best in (schedule, *stand_ins):
        assert chosen(cutting, entries=entries).source == best
        entries = [one for one in entries if one["schedule"] != best]
    with pytest.raises(CostsError, match=f"no calibration fits {cutting}"):
        chosen(cutting, entries=entries)


NS = {name: 1000 + i for i, name in enumerate(WHOLE) if name != "stages"}
BY_BYTES = ("epilogue", "epilogue_serialisation", "epilogue_overlap_penalty")
"""An epilogue, its parts that block, and what its work takes from a main loop: by the bytes of C's tile."""
BY_AREA = ("partial", "merge", "fixup")
"""Of accumulators, which are fp32 whatever the dtype."""
LATENCIES = ("mainloop_overhead", "launch", "prologue", "tile_gap")
"""Waiting: for an instruction, the first operands. No tile makes these longer."""


@pytest.mark.parametrize(
    ("schedule", "source"),
    [
        ("stream-k:132", "cut"), ("stream-k:128", "whole"), ("stream-k:512", "one each"),
        ("stream-k:1024", "two each"), ("split-k:2", "two each"), ("split-k:1", "one each"),
    ],
)  # fmt: skip
def test_a_schedule_that_cuts_no_tile_here_is_taken_for_what_it_comes_to(schedule, source):
    """The planned kernel has another loop for each."""
    names = {"stream-k": "cut", "persistent": "whole", "naive": "one each", "split-k": "two each"}
    entries = [entry(source, name, kernel="planned") for name, source in names.items()]
    entries += [entry("own " + source, name) for name, source in names.items()]
    assert chosen(schedule, entries=entries).source == source


def test_each_time_is_scaled_by_what_causes_it():
    assert {*BY_BYTES, *BY_AREA, *LATENCIES} == set(NS)
    rest = {"stages": 3, "clock_mhz": 1700.0}
    entries = [entry("all", costs=NS | rest | {"jitter": 0.01})]

    def becomes(**changes):
        costs = chosen(problem=replace(PROBLEM, **changes), entries=entries)
        assert all(getattr(costs, name) == value for name, value in rest.items())
        assert all(getattr(costs, name) == NS[name] for name in LATENCIES)
        # K-steps vary by themselves, and what a tile of so many varies by is alike.
        made = replace(PROBLEM, **changes)
        assert costs.jitter / made.k_steps**0.5 == pytest.approx(0.01 / PROBLEM.k_steps**0.5)
        scale = [{getattr(costs, name) / NS[name] for name in names} for names in (BY_BYTES, BY_AREA)]
        return (costs.k_step / 600, *(pytest.approx(max(each), rel=1e-3) for each in scale))

    assert becomes() == (1, 1, 1)
    assert becomes(tile=(256, 256, 32)) == (1, 2, 2)
    assert becomes(tile=(128, 256, 128)) == (2, 1, 1)
    assert becomes(tile=(64, 256, 64)) == (0.5, 0.5, 0.5)
    assert becomes(dtype="fp8") == (pytest.approx(989 / 1979), 0.5, 1)
    costs = chosen(problem=replace(PROBLEM, tile=(256, 256, 32)), entries=entries)
    assert costs.source == "all; scaled from bf16 tiles of 128x256x64"


def test_a_partial_that_is_stored_as_an_epilogue_stays_so():
    assert chosen(problem=replace(PROBLEM, tile=(256, 256, 32))).partial is None


def test_more_residents_than_were_calibrated():
    pair = Device.named("h200", ctas_per_sm=2)
    assert chosen(device=pair).coresidency == (1, 2)
    small = replace(PROBLEM, tile=(128, 128, 64))
    assert chosen("naive", device=pair, problem=small).coresidency == (1, 1.4)


def test_k_steps_of_a_hardware_have_its_clock_and_no_factors_of_their_own():
    pair, by_hardware = Device.named("h200", ctas_per_sm=2), {"k_step": 0.0, "device": "h200"}
    found = chosen(device=pair, entries=[entry("hardware", costs=by_hardware)])
    assert (found.k_step, found.coresidency, found.clock_mhz) == (0, (1,), 1640)


def test_the_kernel_that_runs_any_plan_stands_for_all_but_queues():
    entries = [entry("any", "", kernel="planned"), entry("plain"), entry("queue", "persistent-dynamic")]
    for schedule in ("naive", "persistent", "stream-k:108", "split-k:2"):
        assert chosen(schedule, entries=entries, kernel="planned-tma-overlap").source == "any"
    assert chosen("stream-k:108", entries=entries).source == "any"
    assert chosen("persistent", entries=entries).source == "plain"
    assert chosen("persistent-dynamic", entries=entries, kernel="planned-tma").source == "queue"


def test_what_fits_nothing():
    with pytest.raises(CostsError, match="no calibration fits naive in bf16; there are persistent in bf16"):
        chosen("naive", entries=ENTRIES[:5])
    with pytest.raises(CostsError, match="there are none"):
        chosen(entries=[])
    by_hand = Device(4)
    assert chosen(device=by_hand).source == "plain"
    with pytest.raises(CostsError, match="no calibration fits persistent in fp16"):
        chosen(device=by_hand, problem=replace(PROBLEM, dtype="fp16"))


def test_costs_that_say_where_they_were_measured_know_its_rates():
    """fp8 runs twice as fast on the H200, whichever device takes its costs."""
    entries = [entry("measured", costs={"device": "h200"})]
    fp8 = replace(PROBLEM, dtype="fp8")
    for device in (H200, Device(4), Device.named("a100")):
        assert chosen(problem=fp8, device=device, entries=entries).k_step == pytest.approx(600 * 989 / 1979)


def test_an_object_of_costs_is_taken_whatever_runs():
    assert chosen(entries={"k_step": 5}) == Costs(k_step=5)


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ("costs", "it must hold an object of costs, or a list of calibrations"),
        ({"title": "Mine", "max_sm_mhz": 1980}, "it is a device file, for --device"),
        ([{"schedule": "naive", "dtype": "bf16"}], "a calibration lacks tile, ctas_per_sm and costs"),
        ([5], "a calibration is 5; it must be an object"),
        ([entry("x", stages=2.0)], "stages is 2.0; it must be a whole number from 0 to"),
        ([entry("x", tile=[128, 256, 0])], "tile[2] is 0; it must be a whole number"),
        ([entry("x", dtype="bf61")], "dtype is 'bf61'; did you mean 'bf16'?"),
        ([entry("x", names=[5])], "names[0] is 5; it must be a text"),
        ([entry("x", stage=2)], "there is no field of a calibration 'stage'; did you mean 'stages'?"),
        ([entry("x", costs={"launch": 10**400})], "launch is 1000"),
    ],
)
def test_what_is_no_calibration_is_refused_in_a_sentence(entries, words):
    with refused(words, CostsError):
        chosen(entries=entries)
