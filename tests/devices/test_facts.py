"""Facts of devices: each has a source, and together they make GPUs that can be."""

import json
from pathlib import Path

import pytest

import tilesim
from tilesim import Device
from tilesim.devices.facts import CONSTANTS, FEATURES, RULES, UNITS, shipped, sources
from tilesim.devices.files import NEEDED, checked
from tilesim.devices.presets import badge, facts, in_words, presets
from tilesim.errors import DeviceError

DATA = Path(tilesim.__file__).parent / "data"
NAMES = sorted(presets())
NVIDIA = sorted(set(NAMES) - {"mi300x"})
OCCUPANCY = {
    # thread blocks, warps, threads of an SM; KiB of shared memory of an SM and of a thread block
    "turing": (16, 32, 1024, 64, 64),
    "volta": (32, 64, 2048, 96, 96),
    "ampere": (32, 64, 2048, 164, 163),
    "ada": (24, 48, 1536, 100, 99),
    "hopper": (32, 64, 2048, 228, 227),
    "blackwell": (32, 64, 2048, 228, 227),
}
"""As NVIDIA's occupancy calculator has them."""


def groups():
    for part in ("architectures", "devices"):
        for entry in shipped()[part].values():
            yield from entry["facts"]


def test_each_fact_has_a_listed_source():
    for group in groups():
        assert group["source"] in sources()
        assert set(group) - {"source", "note", "unverified"} <= set(UNITS)


def test_each_source_is_used_and_can_be_found():
    assert {group["source"] for group in groups()} == set(sources())
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
def test_every_device_has_every_constant(name):
    known = facts(name)
    assert set(UNITS) - set(known) <= {"sustained_mhz", "memory_gb", "blocks_per_sm", "sm_tiers"}
    assert known["shared_latency"].value < known["l2_latency"].value < known["dram_latency"].value
    assert known["l2_gb_per_s"].value > known["memory_gb_per_s"].value >= known["dram_read_gb_per_s"].value
    assert 100 < known["launch_cycles"].value < 1000


@pytest.mark.parametrize("name", NAMES)
def test_a_fact_has_a_source_or_a_rule(name):
    for fact_name, fact in facts(name).items():
        assert bool(fact.source) != bool(fact.rule)
        assert not fact.rule or fact.rule == RULES[fact_name].words
        assert not fact.source or fact.value == presets()[name][fact_name]


@pytest.mark.parametrize("name", NAMES)
def test_tensor_cores_make_the_datasheets_peak(name):
    known = facts(name)
    peaks = known["peak_tflops"].value
    assert {dtype for dtype in peaks if dtype != "fp32"} == set(known["macs_per_clock"].value)
    for dtype, macs in known["macs_per_clock"].value.items():
        made = 2 * known["sms"].value * macs * known["tensor_mhz"].value / 1e6
        assert made == pytest.approx(peaks[dtype], rel=0.01)


@pytest.mark.parametrize("name", NVIDIA)
def test_limits_are_those_of_the_occupancy_calculator(name):
    preset = presets()[name]
    limits = ("blocks_per_sm", "warps_per_sm", "threads_per_sm", "shared_kib_per_sm", "shared_kib_per_block")
    assert tuple(preset[one] for one in limits) == OCCUPANCY[shipped()["devices"][name]["architecture"]]
    assert (preset["registers_per_sm"], preset["threads_per_block"]) == (65536, 1024)


@pytest.mark.parametrize("name", NAMES)
def test_warps_fill_the_threads_of_an_sm(name):
    preset = presets()[name]
    assert preset["warps_per_sm"] * preset["threads_per_warp"] == preset["threads_per_sm"]


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


def test_the_launch_of_the_h200_is_the_one_that_was_measured():
    measured = json.loads((DATA / "turnaround" / "h200.json").read_text("utf-8"))
    cycles = measured["launch_ns"] * measured["sm_mhz"] / 1000
    assert presets()["h200"]["launch_cycles"] == pytest.approx(cycles, abs=0.5)


def test_what_nobody_has_published_follows_from_the_h200():
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


def test_the_facts_of_no_device():
    with pytest.raises(DeviceError, match="there is no device 'h20'; did you mean 'h200'"):
        facts("h20")


@pytest.mark.parametrize("name", NAMES)
def test_readers_of_presets_find_what_they_always_did(name):
    assert {"title", "short", *NEEDED} <= set(presets()[name])
    assert Device.named(name).own_entry is None and in_words(name).endswith(presets()[name]["short"])
