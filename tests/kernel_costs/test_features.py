"""What a device lacks forbids what needs it, in one sentence, wherever a run on it is asked for."""

import json

import pytest
from command_line import said

from tilesim import Costs, Device, Problem, simulate
from tilesim.devices.presets import presets
from tilesim.errors import CostsError
from tilesim.kernel_costs.default import default_costs, loads_ahead

PROBLEM = Problem(512, 1024, 256, dtype="fp16")
QUEUE = "cluster-launch-control"
WITH_QUEUE, WITH_TMA = {"b200"}, {"h100", "h100-pcie", "h200", "b200"}
SYNCHRONOUS = {"t4", "v100", "mi300x"}
SIZES = ["--m", "512", "--n", "1024", "--k", "256", "--dtype", "fp16"]


@pytest.mark.parametrize("name", presets())
def test_a_schedule_that_needs_a_hardware_queue(name):
    device = Device.named(name)
    if name in WITH_QUEUE:
        assert simulate(QUEUE, PROBLEM, device).makespan
        return
    with pytest.raises(CostsError, match=rf"an? .* has no cluster launch control, which {QUEUE} needs"):
        simulate(QUEUE, PROBLEM, device)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("simulate", QUEUE), 2),
        (("export", "naive", "--schedule", QUEUE, "-o", "run.mp4"), 2),
        (("sweep", "--schedule", QUEUE, "--jobs", 1), 1),
    ],
)
def test_every_command_refuses_it_and_writes_nothing(words, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "has no cluster launch control" in said(*words, *SIZES, "--device", "a100", code=code)
    assert not list(tmp_path.iterdir())


def test_so_many_sms_of_an_h200_lack_what_it_lacks():
    with pytest.raises(CostsError, match="an H200 has no cluster launch control"):
        simulate(QUEUE, PROBLEM, Device(4))


def test_under_costs_that_are_given_every_schedule_is_played():
    assert simulate(QUEUE, PROBLEM, Device.named("a100"), Costs.ideal()).makespan


@pytest.mark.parametrize("name", presets())
def test_a_kernel_that_needs_tma(name):
    device = Device.named(name)
    if name in WITH_TMA:
        assert default_costs("persistent", PROBLEM, device, "persistent-tma-overlap").overlap
        return
    with pytest.raises(CostsError, match="has no TMA, which the kernel persistent-tma-overlap needs"):
        default_costs("persistent", PROBLEM, device, "persistent-tma-overlap")


@pytest.mark.parametrize("name", presets())
def test_where_loads_are_not_asynchronous_nothing_overlaps(name):
    assert loads_ahead(name) == (name not in SYNCHRONOUS)
    for schedule in ("persistent", "stream-k:7"):
        costs = default_costs(schedule, PROBLEM, Device.named(name))
        assert costs.overlap == (name not in SYNCHRONOUS), schedule


def test_a_device_of_a_file_has_the_features_of_its_architecture(tmp_path):
    facts = {"source": "mine", "sms": 8, "max_sm_mhz": 1000, "l2_mb": 9, "memory_gb_per_s": 50}
    entry = {"title": "Mine", "architecture": "volta", "facts": [facts | {"peak_tflops": {"fp16": 8}}]}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(entry))
    assert "a Mine has no cluster launch control" in said("simulate", QUEUE, *SIZES, "--device", path, code=2)
