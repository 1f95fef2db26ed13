"""A device of the user's own: what it has, where it is taken, and what is refused in a sentence."""

import json
from operator import attrgetter

import pytest
from command_line import tilesim as run

from tilesim import Device, Problem, Trace, simulate
from tilesim.costs import badge
from tilesim.devices.presets import badge as device_badge
from tilesim.devices.presets import discard, facts, presets, registered
from tilesim.errors import DeviceError, TilesimError
from tilesim.formats import save
from tilesim.formats.reader import read
from tilesim.kernel_costs.calibration import register
from tilesim.parallel import in_order

FACTS = {
    "source": "its datasheet", "sms": 78, "max_sm_mhz": 1980, "l2_mb": 60, "memory_gb_per_s": 4000,
    "peak_tflops": {"bf16": 148, "fp8": 296},
}  # fmt: skip
OWN = {"title": "My GPU", "architecture": "hopper", "facts": [FACTS]}


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "My-GPU.json"
    path.write_text(json.dumps(OWN))
    yield path
    discard("my-gpu")


def test_it_is_called_as_its_file_is(own):
    assert register(own) == "my-gpu" and "my-gpu" in presets()
    device = Device.named("my-gpu")
    assert (device.sms, device.title, device_badge("my-gpu")) == (78, "My GPU", "My GPU, a file's figures")
    discard("my-gpu")
    assert "my-gpu" not in presets() and not registered()


def test_it_has_the_facts_of_its_architecture_and_what_follows(own):
    register(own)
    known, h200 = facts("my-gpu"), facts("h200")
    assert known["l2_mb"].value == 60 and known["l2_mb"].source == "its datasheet"
    assert known["shared_kib_per_sm"] == h200["shared_kib_per_sm"]
    assert known["l2_gb_per_s"].value == pytest.approx(h200["l2_gb_per_s"].value * 78 / 132, abs=0.1)
    assert known["launch_cycles"].rule


def test_an_l2_that_nobody_measured_is_no_slower_than_the_memory(own):
    own.write_text(json.dumps(OWN | {"facts": [FACTS | {"sms": 8, "peak_tflops": {"bf16": 9}}]}))
    register(own)
    assert facts("my-gpu")["l2_gb_per_s"].value == facts("my-gpu")["memory_gb_per_s"].value


@pytest.fixture
def made(own):
    """A run on it."""
    register(own)
    return simulate("naive", Problem(512, 512, 128), Device.named("my-gpu"))


def test_it_runs(made):
    assert made.makespan > 0 and made.device.sms == 78
    assert badge(made.meta["costs"], made.device) == "H200 overheads on a My GPU"


@pytest.mark.parametrize("form", ["npz", "json", "csv"])
def test_its_traces_are_read_where_nobody_knows_it(made, form, tmp_path):
    save(made, tmp_path / "run", form)
    discard("my-gpu")
    again = read(str(tmp_path / "run"))
    assert isinstance(again, Trace) and again.spans.tolist() == made.spans.tolist()
    assert again.device == made.device and again.device.title == "My GPU"
    assert facts("my-gpu")["memory_gb_per_s"].value == 4000
    assert badge(again.meta["costs"], again.device) == "H200 overheads on a My GPU"


def test_a_file_that_is_given_counts_over_what_a_trace_holds(own, made, tmp_path):
    made.save(tmp_path / "run.npz")
    discard("my-gpu")
    own.write_text(json.dumps(OWN | {"facts": [FACTS | {"memory_gb_per_s": 3900}]}))
    register(own)
    assert Trace.load(tmp_path / "run.npz").device == made.device
    assert facts("my-gpu")["memory_gb_per_s"].value == 3900


def test_a_trace_of_what_is_no_device_is_refused(made, tmp_path):
    save(made, tmp_path / "run.json", "json")
    discard("my-gpu")
    slow = OWN | {"facts": [FACTS | {"l2_gb_per_s": 9}]}
    values = json.loads((tmp_path / "run.json").read_text()) | {"device_file": slow}
    (tmp_path / "run.json").write_text(json.dumps(values))
    with pytest.raises(TilesimError, match="an L2 is faster than DRAM"):
        read(str(tmp_path / "run.json"))
    assert "my-gpu" not in presets()


def test_other_processes_know_it(own):
    register(own)
    assert in_order(attrgetter("title"), [Device.named("my-gpu")] * 40, 2) == ["My GPU"] * 40


def test_the_command_line_takes_it_until_a_command_ends(own):
    said = run("simulate", "naive", "--m", 512, "--n", 512, "--device", own).stdout
    assert said.startswith("naive on My GPU (78 SMs)")
    swept = run("sweep", "--m", 256, "--n", 256, "--k", 64, "--device", f"{own},h200", "--jobs", 1).stdout
    assert {line.split(",")[1] for line in swept.splitlines()[1:]} == {"my-gpu", "h200"}
    assert "my-gpu" not in presets()


def test_a_file_with_the_name_of_a_preset_stands_in_for_it(own, tmp_path):
    path = own.rename(tmp_path / "h200.json")
    assert run("simulate", "naive", "--device", path).stdout.startswith("naive on My GPU (78 SMs)")
    assert run("simulate", "naive", "--device", "h200").stdout.startswith("naive on NVIDIA H200 (132 SMs)")
    register(path)
    made = simulate("naive", Problem(512, 512, 128), Device.named("h200"))
    made.save(tmp_path / "run.npz")
    discard("h200")
    assert Device.named("h200").sms == 132
    again = Trace.load(tmp_path / "run.npz")
    assert (again.device.sms, again.device.title) == (78, "My GPU")
    discard("h200")


def test_info_shows_facts_and_sources(own):
    assert run("info", own).stdout.startswith(f"{own}: device\n")
    said = run("info", "--device", own).stdout
    assert said.startswith("My GPU: My GPU, a file's figures\n") and "derived: as many cycles" in said
    found = json.loads(run("info", "--device", "A100", "--json").stdout)
    assert found["badge"] == "A100, datasheet and microbenchmarks"
    assert found["facts"]["l2_mb"] == {"value": 40, "unit": "MB", "source": "ampere-whitepaper"}
    assert {one["source"] for one in found["facts"].values() if "source" in one} == set(found["sources"])
    assert "unverified" in run("info", "--device", "t4").stdout


def fact(name, value):
    """OWN with another value of a fact, or without it where that is None."""
    return OWN | {"facts": [{key: one for key, one in (FACTS | {name: value}).items() if one is not None}]}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ([], "the device is []; it must be an object"),
        (OWN | {"architecture": "hoper"}, "did you mean 'hopper'?"),
        (OWN | {"facts": []}, "it does not say sms, max_sm_mhz, memory_gb_per_s and peak_tflops"),
        (fact("source", None), "facts[0] lacks source"),
        (fact("sms", 7.5), "sms is 7.5; it must be a whole number from 1"),
        (fact("sms", 10**6), "sms is 1000000; it must be a whole number from 1 to 65536"),
        (fact("memory_gb_per_s", 0), "memory_gb_per_s is 0; it must be a number above"),
        (fact("peak_tflops", {"fp7": 1}), "facts[0].peak_tflops is 'fp7'; did"),
        (fact("features", ["tmaa"]), "features[0] is 'tmaa'; did you mean 'tma'?"),
        (fact("l2_gb_per_s", 3000), "memory_gb_per_s is 4000 and l2_gb_per_s"),
        (fact("l2_latency", 9), "shared memory is nearer than the L2"),
        (fact("dram_latency", 100), "the L2 is nearer than DRAM"),
        (fact("dram_read_gb_per_s", 4100), "no more can be read"),
        (fact("peak_tflops", {"bf16": 9000}), "peak_tflops of bf16 is 9000, but"),
        (fact("sm_tiers", [[[0, 1]]]), "sm_tiers must list each SM from 0 to 77 once"),
    ],
)
def test_what_is_refused_is_one_sentence(entry, words, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(entry))
    said = run("plan", "naive", "--device", path, code=2)
    assert said.stderr.startswith(f"error: {path}: ") and said.stderr.count("\n") == 1
    assert words in said.stderr and "mine" not in presets()


def test_a_file_with_a_name_that_no_device_has():
    with pytest.raises(DeviceError, match="a device is called as its file is"):
        register("my gpu.json")
