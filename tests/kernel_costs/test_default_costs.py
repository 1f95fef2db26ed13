"""Every device has overheads: its own, or the H200's until it has its own."""

import json
from dataclasses import asdict, replace

import pytest
from refusals import refused

from tilesim import Costs, Device, Problem, simulate
from tilesim.costs import badge
from tilesim.devices.hardware import Hardware
from tilesim.devices.presets import presets
from tilesim.errors import CostsError
from tilesim.kernel_costs.calibration import Calibration
from tilesim.kernel_costs.default import default_costs, loads_ahead, read_costs, shipped

PROBLEM = Problem(4096, 4096, 512, dtype="fp16")
H200 = Device.named("h200")
BORROWERS = sorted(name for name in presets() if not shipped(name))
LATENCIES = ("mainloop_overhead", "prologue", "tile_gap")
"""No tile and no memory makes these longer."""
WRITTEN = ("epilogue", "epilogue_serialisation", "epilogue_overlap_penalty", "partial", "merge", "fixup")
"""Bytes that are written or read again: they go by the memory bandwidth of an SM."""


@pytest.mark.parametrize("device", [*map(Device.named, presets()), Device(4)], ids=lambda one: one.title)
def test_naive_and_persistent_differ_on_every_device(device):
    """Launches, first loads and writes that overlap are what they differ by."""
    naive, persistent = (simulate(name, PROBLEM, device) for name in ("naive", "persistent"))
    assert persistent.makespan != naive.makespan
    assert (naive.spans["start"] > naive.spans["issue"]).all()


def test_a_device_without_a_name_is_so_many_sms_of_an_h200():
    unnamed, named = Device(4), Device.named("h200", sms=4)
    for schedule in ("naive", "persistent", "stream-k:4"):
        costs = default_costs(schedule, PROBLEM, unnamed)
        assert replace(costs, source="") == replace(default_costs(schedule, PROBLEM, named), source="")
        assert "4 SMs of an H200" in costs.source
        assert badge(costs, unnamed) == "H200 timings"


@pytest.mark.parametrize("name", BORROWERS)
def test_overheads_are_scaled_to_the_datasheet(name):
    preset, h200 = presets()[name], presets()["h200"]
    device = Device.named(name, ctas_per_sm=2)
    slower = (h200["memory_gb_per_s"] / h200["sms"]) / (preset["memory_gb_per_s"] / preset["sms"])
    for schedule in ("naive", "persistent", "stream-k:108"):
        costs = default_costs(schedule, PROBLEM, device)
        ours = default_costs(schedule, PROBLEM, replace(device, name="h200"))
        assert costs.overlap == (ours.overlap and loads_ahead(name))
        assert (costs.k_step, costs.hardware, ours.hardware) == (0, name, "h200")
        hardware = Hardware.named(name, "fp16")
        assert (costs.clock_mhz, costs.launch) == (hardware.clock_mhz, hardware.launch_ns)
        assert [getattr(costs, one) for one in LATENCIES] == [getattr(ours, one) for one in LATENCIES]
        for one in WRITTEN:
            ns = getattr(ours, one)
            assert getattr(costs, one) == (ns and pytest.approx(ns * slower, abs=0.5)), one
        assert badge(costs, device).startswith("H200 overheads on a")
        assert costs.source.startswith(badge(costs, device))


@pytest.mark.parametrize("one", shipped("h200"), ids=lambda one: one.kernel.config.name)
def test_a_calibration_comes_back_from_json(one):
    assert Calibration.from_mapping(json.loads(json.dumps(one.as_json()))) == one
    assert one.costs.device == "h200" and not one.costs.scaled_to


def test_a_dtype_that_the_device_does_not_have():
    with refused("the NVIDIA T4's datasheet has no bf16 rate; give costs, or choose from", CostsError):
        default_costs("naive", Problem(1, 1, 1), Device.named("t4"))


def test_costs_go_by_name(tmp_path, monkeypatch):
    """A name is a name whatever files there are; a path is a file."""
    monkeypatch.chdir(tmp_path)
    a100, run = Device.named("a100"), ("naive", PROBLEM)
    for name in ("h200", "ideal"):
        (tmp_path / name).write_text(json.dumps(asdict(Costs(k_step=5))))
    assert read_costs("ideal", *run, a100) == Costs.ideal()
    assert read_costs("h200", *run, a100) == read_costs("H200", *run, a100) == default_costs(*run, H200)
    assert badge(read_costs("h200", *run, a100), a100) == "H200 timings on an A100"
    assert badge(read_costs("a100", *run, H200), H200) == "H200 overheads for an A100 on an H200"
    for path in ("./h200", "./ideal", tmp_path / "h200"):
        assert read_costs(path, *run, a100) == Costs(k_step=5)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("h20", "there is no file or set of costs 'h20'; did you mean 'h200'?"),
        ("./h20", "./h20: there is no such file"),
        ("none.json", "none.json: there is no such file"),
    ],
)
def test_a_name_that_there_is_not(name, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refused(words, CostsError):
        read_costs(name, "naive", PROBLEM, H200)


@pytest.mark.parametrize(
    "text",
    ["[" * 3000, "{", '{"k_step": 1e999}', '{"launch": [1]}'],
)
def test_a_file_without_costs_is_refused_in_a_sentence(text, tmp_path):
    path = tmp_path / "own.json"
    path.write_text(text)
    with refused("", CostsError, path):
        read_costs(path, "naive", PROBLEM, H200)


def test_a_plan_is_made_once_for_a_simulation_and_its_costs(monkeypatch):
    device = Device.named("a100")
    expected = default_costs("stream-k", PROBLEM, device)
    monkeypatch.setattr("tilesim.kernel_costs.default.plan", None)
    assert simulate("stream-k", PROBLEM, device).meta["costs"] == asdict(expected)
