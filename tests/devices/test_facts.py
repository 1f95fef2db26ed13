"""Facts of devices: each has a source, and together they make GPUs that can be."""

import json
from pathlib import Path

import pytest

import tilesim
from tilesim import Device
from tilesim.devices.facts import CONSTANTS, FEATURES, RULES, UNITS, fill_order, shipped, sources
from tilesim.devices.files import NEEDED, checked
from tilesim.devices.presets import badge, facts, in_words, presets
from tilesim.errors import DeviceError

DATA = Path(tilesim.__file__).parent / "data"
NAMES = sorted(presets())
SHARED_KIB = {
    "turing": (64, 64), "volta": (96, 96), "ampere": (164, 163), "ada": (100, 99), "hopper": (228, 227),
    "blackwell": (228, 227),
}  # fmt: skip
"""Of an SM and of a thread block, as NVIDIA's calculator has them; test_occupancy has the rest."""


def test_each_source_is_used_and_can_be_found():
    entries = [*shipped()["architectures"].values(), *shipped()["devices"].values()]
    groups = [group for entry in entries for group in entry["facts"]]
    assert all(set(group) - {"source", "note", "unverified"} <= set(UNITS) for group in groups)
    assert {group["source"] for group in groups} == set(sources())
    for one in sources().values():
        assert one.title and one.publisher and 2015 < one.year < 2030
        assert one.kind in ("datasheet", "microbenchmarks", "measured")
        assert one.kind == "measured" or one.address.startswith("https://")


@pytest.mark.parametrize("name", NAMES)
def test_a_device_passes_for_a_file_of_one(name):
    """What is refused in a user's file is not in ours: an L2 slower than DRAM, a latency out of order."""
    entry = shipped()["devices"][name]
    assert checked(entry) == entry


@pytest.mark.parametrize("name", NAMES)
def test_every_device_has_every_constant_by_a_source_or_a_rule(name):
    known, preset = facts(name), presets()[name]
    assert set(UNITS) - set(known) <= {"sustained_mhz", "memory_gb", "blocks_per_sm", "sm_tiers"}
    assert 100 < known["launch_cycles"].value < 1000
    assert preset["warps_per_sm"] * preset["threads_per_warp"] == preset["threads_per_sm"]
    for fact_name, fact in known.items():
        assert bool(fact.source) != bool(fact.rule)
        assert not fact.rule or fact.rule == RULES[fact_name][0]
        assert not fact.source or fact.value == preset[fact_name]
    assert {"title", "short", *NEEDED} <= set(preset)
    assert Device.named(name).own_entry is None and in_words(name).endswith(preset["short"])


@pytest.mark.parametrize("name", NAMES)
def test_tensor_cores_make_the_datasheets_peak(name):
    known = facts(name)
    peaks = known["peak_tflops"].value
    assert {dtype for dtype in peaks if dtype != "fp32"} == set(known["macs_per_clock"].value)
    for dtype, macs in known["macs_per_clock"].value.items():
        made = 2 * known["sms"].value * macs * known["tensor_mhz"].value / 1e6
        assert made == pytest.approx(peaks[dtype], rel=0.01)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"mi300x"}))
def test_shared_memory_is_that_of_the_architecture(name):
    preset = presets()[name]
    found = preset["shared_kib_per_sm"], preset["shared_kib_per_block"]
    assert found == SHARED_KIB[shipped()["devices"][name]["architecture"]]


def test_features_come_with_compute_capabilities():
    having = {one: {name for name in NAMES if one in presets()[name]["features"]} for one in FEATURES}
    hopper = {"h100", "h100-pcie", "h200"}
    assert having == {
        "async-copy": {"a100", "a100-40gb", "rtx4090", "b200"} | hopper,
        "tma": {"b200"} | hopper,
        "clusters": {"b200"} | hopper,
        "warpgroup-mma": hopper,
        "tcgen05-mma": {"b200"},
        "cluster-launch-control": {"b200"},
    }


def test_what_nobody_has_published_follows_from_the_h200():
    """Whose launch is the one that was measured."""
    measured = json.loads((DATA / "turnaround" / "h200.json").read_text("utf-8"))
    cycles = measured["launch_ns"] * measured["sm_mhz"] / 1000
    assert presets()["h200"]["launch_cycles"] == pytest.approx(cycles, abs=0.5)
    h200, h100 = facts("h200"), facts("h100")
    assert not any(fact.rule for name, fact in h200.items() if name in CONSTANTS)
    read, given = (h100[name].value for name in ("dram_read_gb_per_s", "memory_gb_per_s"))
    share = h200["dram_read_gb_per_s"].value / h200["memory_gb_per_s"].value
    assert read / given == pytest.approx(share, rel=1e-4)
    assert facts("t4")["launch_cycles"].value == h200["launch_cycles"].value


def test_badges_claim_no_more_than_there_is(monkeypatch):
    assert {badge(name) for name in NAMES if name != "h200"} == {
        f"{presets()[name]['short']}, datasheet and microbenchmarks" for name in NAMES if name != "h200"
    }
    measured = {name: facts("h200")["launch_cycles"] for name in CONSTANTS}
    for known, said in (
        (measured, "H200, measured constants"),
        (
            measured | {"l2_latency": facts("h100")["l2_latency"]},
            "H200, datasheet, microbenchmarks and measurements",
        ),
        (dict(list(measured.items())[1:]), "H200, datasheet and measurements"),
        ({}, "H200, datasheet"),
    ):
        monkeypatch.setattr("tilesim.devices.presets.facts", lambda name, known=known: known)
        assert badge("h200") == said


MEASURED_ORDER = json.loads((DATA / "sm_order/h200.json").read_text("utf-8"))
H200 = presets()["h200"]


def test_a_cycle_begins_where_it_is_told():
    tiers = [[[4], [5]], [[0, 1], [2, 3]]]
    assert fill_order(tiers) == (4, 5, 0, 1, 2, 3)
    assert fill_order(tiers, (5, 2)) == (5, 4, 2, 3, 0, 1)
    assert fill_order([]) == ()
    with pytest.raises(DeviceError, match="no group begins with SM 1; in this tier they begin with"):
        fill_order(tiers, (4, 1))


@pytest.mark.parametrize("name", [name for name, preset in presets().items() if "sm_tiers" in preset])
def test_tiers_hold_each_sm_once_and_say_where_they_come_from(name):
    device = Device.named(name)
    assert device.sm_order == fill_order(presets()[name]["sm_tiers"])
    assert sorted(device.sm_order) == list(range(device.sms))
    assert sources()[facts(name)["sm_tiers"].source].address == "tilesim bench sm-order"
    assert Device.named(name, sms=4).sm_order == ()


def test_the_measured_groups_are_the_presets():
    """And clusters find the second tier without any order."""
    assert MEASURED_ORDER["tiers"] == H200["sm_tiers"] and MEASURED_ORDER["as_preset"] is True
    assert MEASURED_ORDER["device"] == "h200"
    assert MEASURED_ORDER["gpcs"] == sorted(sorted(group) for group in H200["sm_tiers"][1])


def test_the_model_explains_every_launch():
    rows = {(row["launched"], row["blocks_per_sm"]): row for row in MEASURED_ORDER["rows"]}
    assert set(rows) == {(how, n) for how in ("cold", "back to back", "after a full GPU") for n in (1, 2)}
    heads = [{group[0] for group in groups} for groups in H200["sm_tiers"]]
    for row in rows.values():
        assert row["explained"] == row["launches"] >= 200
        assert sum(count for _, count in row["first"]) == row["explained"]
        assert all(sm in tier for first, _ in row["first"] for sm, tier in zip(first, heads, strict=True))
    launches = sum(row["launches"] for row in MEASURED_ORDER["rows"])
    assert f"explain {launches:,} of {launches:,} launches" in facts("h200")["sm_tiers"].note


@pytest.mark.parametrize("name", presets())
def test_sms_alone_are_of_the_usual_device(name):
    usual = Device.named(name, ctas_per_sm=2)
    assert Device.chosen({"sms": 4}, usual) == Device.named(name, sms=4)
    assert Device.chosen({"sms": 4, "device": "T4"}, usual) == Device.named("t4", sms=4)
    assert Device.chosen({"sms": 4}, Device(7)) == Device(4)
    assert Device.chosen({"busy_sms": 1}, usual) == Device.named(name, ctas_per_sm=2, busy_sms=1)
