"""Energy per launch from what a counter says, on a clock that the test turns."""

import itertools

import pytest
import torch

from tilesim_kernels.measure import energy, timing
from tilesim_kernels.measure.timing import Rotation


class Graph:
    """A replay takes 0.5 ms of `clock` and so many joules of `used`."""

    def __init__(self, clock, used, joules):
        self.clock, self.used, self.joules = clock, used, joules

    def replay(self):
        self.clock[0] += 5e-4
        self.used[0] += self.joules


@pytest.fixture(autouse=True)
def another_driver():
    """Each test asks the driver anew."""
    energy.nvml_reader.cache_clear()


@pytest.fixture
def clock(monkeypatch):
    """Seconds, and SMs whose clocks run at 1,500 MHz between any two reads."""
    now, reads = [0.0], itertools.count()

    def read(out, num_warps):
        out[:] = torch.tensor([1500, 1000]) * next(reads)

    monkeypatch.setattr(timing, "read_clocks", {(16,): read})
    monkeypatch.setattr(energy.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda: type("", (), {"multi_processor_count": 2})
    )
    zeros = torch.zeros
    monkeypatch.setattr(torch, "zeros", lambda *size, device, **more: zeros(*size, **more))
    return now


def test_a_launch_has_its_share_of_the_time_and_of_the_joules(clock, monkeypatch):
    used = [7.0]
    rotations = {
        name: Rotation(Graph(clock, used, joules), [print] * launches)
        for name, joules, launches in (("heavy", 0.2, 2), ("light", 0.05, 1))
    }
    monkeypatch.setattr(energy, "joules_used", lambda: used[0])
    found = energy.without_pause(rotations, 0.1, 3)
    assert found["heavy"]["us"] == pytest.approx(250) and found["light"]["us"] == pytest.approx(500)
    for name, joules in (("heavy", 0.1), ("light", 0.05)):
        one = found[name]
        assert [one[key] for key in ("joules", "least_joules", "most_joules")] == pytest.approx([joules] * 3)
        assert one["watts"] == pytest.approx(one["joules"] / one["us"] * 1e6, rel=1e-3)
        assert one["sm_mhz"] == pytest.approx(1500)


def test_without_the_drivers_library_nothing_is_counted(monkeypatch):
    def missing(name):
        raise OSError(name)

    monkeypatch.setattr(energy, "CDLL", missing)
    assert energy.joules_used() is None and energy.power_limit() is None


@pytest.mark.parametrize(
    "failing", ["", "nvmlInit_v2", "nvmlDeviceGetHandleByUUID", "nvmlDeviceGetEnforcedPowerLimit"]
)
def test_the_limit_is_in_watts_and_none_where_the_driver_fails(monkeypatch, failing):
    class Library:
        def __init__(self, name):
            pass

        def __getattr__(self, name):
            def call(*arguments):
                if name == "nvmlDeviceGetEnforcedPowerLimit":
                    arguments[1]._obj.value = 700_000
                return 3 if name == failing else 0

            return call

    monkeypatch.setattr(energy, "CDLL", Library)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda: type("", (), {"uuid": "1"}))
    assert energy.power_limit() == (None if failing else 700)
