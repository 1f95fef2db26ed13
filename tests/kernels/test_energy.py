"""Energy per launch from what a counter says, on a clock that the test turns."""

import itertools

import pytest
import torch

from tilesim_kernels.measure import energy
from tilesim_kernels.measure.timing import Rotation


class Graph:
    """A replay takes 0.5 ms of `clock` and so many joules of `used`."""

    def __init__(self, clock, used, joules):
        self.clock, self.used, self.joules = clock, used, joules

    def replay(self):
        self.clock[0] += 5e-4
        self.used[0] += self.joules


@pytest.fixture
def clock(monkeypatch):
    """Seconds, and SMs whose clocks run at 1,500 MHz between any two reads."""
    now, reads = [0.0], itertools.count()

    def read(out, num_warps):
        out[:] = torch.tensor([1500, 1000]) * next(reads)

    monkeypatch.setattr(energy, "read_clocks", {(16,): read})
    monkeypatch.setattr(energy.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(
        torch.cuda, "get_device_properties", lambda: type("", (), {"multi_processor_count": 2})
    )
    zeros = torch.zeros
    monkeypatch.setattr(torch, "zeros", lambda *size, device, **more: zeros(*size, **more))
    return now


def test_a_launch_has_its_share_of_the_time_and_of_the_joules(clock):
    used = [7.0]
    rotations = {
        name: Rotation(Graph(clock, used, joules), [print] * launches)
        for name, joules, launches in (("heavy", 0.2, 2), ("light", 0.05, 1))
    }
    found = energy.without_pause(rotations, lambda: used[0], 0.1, 3)
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
    assert energy.energy_counter() is None
