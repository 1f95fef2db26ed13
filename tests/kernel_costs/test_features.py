"""What a device lacks forbids what needs it, in one sentence, wherever a run on it is asked for."""

import json

import pytest
from click.testing import CliRunner

from tilesim import Costs, Device, Problem, simulate
from tilesim.cli import main
from tilesim.devices.presets import presets
from tilesim.errors import CostsError
from tilesim.kernel_costs.default import default_costs, loads_ahead

PROBLEM = Problem(512, 1024, 256, dtype="fp16")
QUEUE = "cluster-launch-control"
WITH_QUEUE, WITH_TMA = {"b200"}, {"h100", "h100-pcie", "h200", "b200"}
SYNCHRONOUS = {"t4", "v100", "mi300x"}
SIZES = ["--m", "512", "--n", "1024", "--k", "256", "--dtype", "fp16"]


def refused(*args):
    result = CliRunner().invoke(main, list(map(str, args)))
    assert result.exit_code in (1, 2) and "Traceback" not in result.output, result.output
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("error: "), result.stderr
    return lines[0]


@pytest.mark.parametrize("name", presets())
def test_a_schedule_that_needs_a_hardware_queue(name, tmp_path):
    device = Device.named(name)
    if name in WITH_QUEUE:
        assert simulate(QUEUE, PROBLEM, device).makespan
        return
    with pytest.raises(CostsError, match=rf"an? .* has no cluster launch control, which {QUEUE} needs"):
        simulate(QUEUE, PROBLEM, device)
    words = "has no cluster launch control"
    on = [*SIZES, "--device", name]
    assert words in refused("simulate", QUEUE, *on)
    assert words in refused("export", "naive", "--schedule", QUEUE, *on, "-o", tmp_path / "run.mp4")
    assert words in refused("sweep", "--schedule", QUEUE, *on, "--jobs", 1)
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
    assert "a Mine has no cluster launch control" in refused("simulate", QUEUE, *SIZES, "--device", path)
