"""Which calibration stands for a run that was not measured, and how it is scaled to it."""

from dataclasses import replace

import pytest

from tilesim import Costs, Device, Problem
from tilesim.calibrations import costs_for
from tilesim.errors import CostsError

PROBLEM = Problem(4096, 4096, 512)
H200 = Device.named("h200")


def entry(source, schedule="persistent", **changes):
    costs = {"k_step": 600.0, "epilogue": 800, "overlap": True, "source": source, **changes.pop("costs", {})}
    about = {"dtype": "bf16", "tile": [128, 256, 64], "k_steps": 8, "ctas_per_sm": 1, "loads": "tma"}
    return {"schedule": schedule, **about, "order": "row-major", "costs": costs, **changes}


ENTRIES = [
    entry("pointers", loads="ptr"),
    entry("no overlap", costs={"overlap": False}),
    entry("long", k_steps=64),
    entry("grouped", order="grouped:8"),
    entry("plain"),
    entry("small", tile=[128, 128, 64], costs={"overlap": False}),
    entry("naive", "naive", costs={"overlap": False}),
    entry(
        "two", "naive", tile=[128, 128, 64], ctas_per_sm=2, costs={"coresidency": [1, 1.4], "overlap": False}
    ),
]


def chosen(schedule="persistent", problem=PROBLEM, device=H200, entries=ENTRIES):
    return costs_for(entries, schedule, problem, device)


@pytest.mark.parametrize(
    "schedule, changes, source",
    [
        ("persistent", {}, "plain"),
        ("persistent-dynamic", {}, "plain"),
        ("stream-k:108", {}, "plain"),
        ("naive", {}, "naive"),
        ("split-k:2", {}, "naive"),
        ("persistent", {"k": 4096}, "long"),
        ("persistent", {"order": "grouped:8"}, "grouped"),
        ("persistent", {"tile": (128, 128, 64)}, "small"),
        ("naive", {"tile": (128, 128, 64)}, "two"),
    ],
)
def test_the_nearest_is_taken_as_it_is(schedule, changes, source):
    assert chosen(schedule, replace(PROBLEM, **changes)).source == source


def test_a_k_step_is_scaled_by_volume_and_an_epilogue_by_bytes():
    costs = chosen(problem=replace(PROBLEM, tile=(256, 256, 32)))
    assert (costs.k_step, costs.epilogue) == (600, 1600)
    assert costs.source == "plain; scaled from bf16 tiles of 128x256x64"


def test_another_dtype_is_scaled_by_the_datasheet():
    costs = chosen(problem=replace(PROBLEM, dtype="fp8"))
    assert costs.k_step == pytest.approx(600 * 989 / 1979)
    assert costs.epilogue == 400


def test_more_residents_than_were_calibrated():
    pair = Device.named("h200", ctas_per_sm=2)
    assert chosen(device=pair).coresidency == (1, 2)
    assert chosen(device=pair).source == "plain; scaled from 1 per SM"
    small = replace(PROBLEM, tile=(128, 128, 64))
    assert chosen(device=pair, problem=small).coresidency == (1, 1.4)
    assert chosen("naive", device=pair, problem=small).source == "two"


def test_what_fits_nothing():
    with pytest.raises(CostsError, match="no calibration fits naive in bf16; there are persistent in bf16"):
        chosen("naive", entries=ENTRIES[:6])
    with pytest.raises(CostsError, match="there are none"):
        chosen(entries=[])
    by_hand = Device(4)
    assert chosen(device=by_hand).source == "plain"
    with pytest.raises(CostsError, match="no calibration fits persistent in fp16"):
        chosen(device=by_hand, problem=replace(PROBLEM, dtype="fp16"))


def test_an_object_of_costs_is_taken_whatever_runs():
    assert chosen(entries={"k_step": 5}) == Costs(k_step=5)
