"""Which preset a GPU is: by each name that is listed, by its facts, and where the two disagree."""

import json
from importlib.resources import files

import pytest
from command_line import tilesim as run

from tilesim import Device
from tilesim.devices.gpus import identified, listed, named, preset_of
from tilesim.devices.presets import presets
from tilesim.errors import DeviceError
from tilesim.formats import reading

H100 = {"sms": 132, "memory_gb": 85, "memory_gb_per_s": 3352}


@pytest.mark.parametrize("known", listed(), ids=lambda known: known.names[0])
def test_each_listed_name_is_its_preset_by_name_and_by_facts(known):
    """And the driver's facts, which count memory in larger units, tell the same."""
    (name,), sms = known.names, known.facts["sms"]
    by_name = named(name)
    assert (by_name.preset, by_name.sms) == (known.preset, sms)
    seen = known.facts | {"memory_gb": known.facts["memory_gb"] * 1.067}
    by_facts = identified(name, known.capability, seen)
    assert (by_facts.preset, by_facts.sms, by_facts.note) == (known.preset, sms, by_name.note)
    assert identified("another name", known.capability, seen).sms == sms
    device = Device.named(name)
    assert (device.name, device.sms) == (known.preset, sms)
    assert reading.device({"gpu": name}) == device
    preset, told = presets()[known.preset], known.facts.keys() & {"memory_gb", "memory_gb_per_s"}
    alike = all(abs(preset[fact] / known.facts[fact] - 1) <= 0.1 for fact in told)
    assert bool(by_name.note) == (preset["sms"] != sms or not alike)


def test_the_list_says_where_its_names_and_facts_are_from():
    data = json.loads((files("tilesim") / "data/gpus.json").read_text("utf-8"))
    assert data["names"]["address"] and all(group["source"] for group in data["groups"])
    names = [known.names[0] for known in listed()]
    assert len(set(names)) == len(names) and all(name.startswith("NVIDIA ") for name in names)


@pytest.mark.parametrize("name", ["H100", "NVIDIA H100", "NVIDIA H100 SXM", "nvidia h100 80gb hbm3"])
def test_names_are_known_as_people_write_them(name):
    assert preset_of(name) == "h100"


def test_facts_count_more_than_a_name():
    found = identified("NVIDIA H200", "9.0", H100)
    assert (found.preset, found.sms) == ("h100", 132)
    assert found.note == "the driver calls it NVIDIA H200, but with 132 SMs and 85 GB it is taken for an H100"


@pytest.mark.parametrize(
    ("capability", "seen", "preset"),
    [
        ("9.0", {"sms": 114, "memory_gb": 85, "memory_gb_per_s": 2039}, "h100-pcie"),
        ("8.0", {"sms": 56, "memory_gb": 25, "memory_gb_per_s": 933}, "a100-40gb"),
        ("10.3", {"sms": 148, "memory_gb": 288, "memory_gb_per_s": 8000}, "b200"),
        ("12.0", {"sms": 188, "memory_gb": 96, "memory_gb_per_s": 1792}, "rtx4090"),
        ("6.1", {"sms": 28, "memory_gb": 11, "memory_gb_per_s": 484}, "t4"),
    ],
)
def test_a_gpu_that_nobody_listed_is_taken_for_the_nearest_whose_kernels_it_runs(capability, seen, preset):
    found = identified("Mine", capability, seen)
    assert (found.preset, found.sms) == (preset, seen["sms"])
    assert found.note.startswith("tilesim does not know the Mine and takes it for ")


@pytest.mark.parametrize("size", ["1g.10gb", "1G.10GB+me"])
def test_a_slice_is_what_it_is(size):
    name = f"NVIDIA H100 80GB HBM3 MIG {size}"
    found = identified(name, "9.0", {"sms": 16, "memory_gb": 10, "memory_gb_per_s": 3352})
    assert (found.preset, found.sms) == ("h100", 16) and "of an H100 with 16 of 132 SMs" in found.note
    assert named(name) is None
    with pytest.raises(DeviceError, match="there is no device"):
        Device.named(name)


def test_the_command_line_takes_names_of_drivers_and_says_what_they_are_taken_for():
    exact = run("simulate", "naive", "--device", "NVIDIA H100 80GB HBM3")
    assert exact.stdout == run("simulate", "naive", "--device", "h100").stdout and not exact.stderr
    near = run("simulate", "naive", "--device", "nvidia l40s", "--json")
    assert near.stderr == (
        "note: the constants of an RTX 4090 stand for those of the NVIDIA L40S, with 142 SMs\n"
    )
    assert near.stdout == run("simulate", "naive", "--device", "rtx4090", "--sms", 142, "--json").stdout
    costs = run("simulate", "naive", "--costs", "NVIDIA H100 PCIe", "--json").stdout
    assert costs == run("simulate", "naive", "--costs", "h100-pcie", "--json").stdout
    assert run("info", "--device", "NVIDIA GH200 144G HBM3e").stdout.startswith("NVIDIA H200: ")
