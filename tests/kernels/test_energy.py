"""Energy per launch from what a counter says, on a clock that the test turns."""

import itertools
from types import SimpleNamespace

import pytest
import torch

from tilesim_kernels.measure import energy, timing
from tilesim_kernels.measure.timing import Rotation


@pytest.fixture
def device(monkeypatch):
    """Properties of a GPU whose driver is asked anew."""
    energy.nvml_reader.cache_clear()
    here = SimpleNamespace(multi_processor_count=2, uuid="1")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda: here)


def test_a_launch_has_its_share_of_the_time_and_of_the_joules(device, monkeypatch):
    """A replay takes 0.5 ms and so many joules; SMs' clocks run at 1,500 MHz between any two reads."""
    now, used, reads, zeros = [0.0], [7.0], itertools.count(), torch.zeros

    def replay(joules):
        now[0] += 5e-4
        used[0] += joules

    def read(out, num_warps):
        out[:] = torch.tensor([1500, 1000]) * next(reads)

    monkeypatch.setattr(timing, "read_clocks", {(16,): read})
    monkeypatch.setattr(energy.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch, "zeros", lambda *size, device, **more: zeros(*size, **more))
    monkeypatch.setattr(energy, "joules_used", lambda: used[0])
    rotations = {
        name: Rotation(SimpleNamespace(replay=lambda joules=joules: replay(joules)), [print] * launches)
        for name, joules, launches in (("heavy", 0.2, 2), ("light", 0.05, 1))
    }
    found = energy.without_pause(rotations, 0.1, 3)
    assert found["heavy"]["us"] == pytest.approx(250) and found["light"]["us"] == pytest.approx(500)
    for name, joules in (("heavy", 0.1), ("light", 0.05)):
        one = found[name]
        assert [one[key] for key in ("joules", "least_joules", "most_joules")] == pytest.approx([joules] * 3)
        assert one["watts"] == pytest.approx(one["joules"] / one["us"] * 1e6, rel=1e-3)
        assert one["sm_mhz"] == pytest.approx(1500)


def test_without_the_drivers_library_nothing_is_counted(device, monkeypatch):
    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(energy, "CDLL", missing)
    assert energy.joules_used() is None and energy.power_limit() is None


@pytest.mark.parametrize(
    "fails", ["", "nvmlInit_v2", "nvmlDeviceGetHandleByUUID", "nvmlDeviceGetEnforcedPowerLimit"]
)
def test_the_limit_is_in_watts_and_none_where_the_driver_fails(device, monkeypatch, fails):
    def limit(gpu, value):
        value._obj.value = 700_000
        return 0

    calls = {"nvmlInit_v2": lambda: 0, "nvmlDeviceGetHandleByUUID": lambda *of: 0}
    calls |= {"nvmlDeviceGetEnforcedPowerLimit": limit} | ({fails: lambda *of: 3} if fails else {})
    monkeypatch.setattr(energy, "CDLL", lambda name: SimpleNamespace(**calls))
    assert energy.power_limit() == (None if fails else 700)
