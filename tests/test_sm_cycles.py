"""SM cycles of a run follow its clock, which rises as SMs fall idle."""

from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.devices.hardware import Hardware
from tilesim.sm_cycles import at_clock, run_cycles

HELD_OUT = files("tilesim").joinpath("data/held_out")


def two_waves(clocks: tuple[float, float], pause: int = 0) -> Trace:
    """Two tiles one after the other on an SM, each 1 µs at a clock of its own, cycles a ns."""
    run = simulate("naive", Problem(256, 128, 64), Device(sms=1), Costs(k_step=1000, prologue=pause))
    spans = run.spans.copy()
    spans["cycles"] = [round(1000 * clock) for clock in clocks]
    return replace(run, spans=spans, origin="measured", meta={"sm_mhz": 1000 * sum(clocks) / 2})


def test_each_wave_counts_at_its_own_clock_which_goes_on_from_one_main_loop_to_the_next():
    assert run_cycles(two_waves((1.5, 1.5), pause=400)) == pytest.approx(1.5 * 2400)
    assert run_cycles(two_waves((1.5, 2.0))) == pytest.approx(1500 + 2000)
    assert run_cycles(two_waves((1.5, 2.0), pause=400)) == pytest.approx(1500 + 1.75 * 400 + 2000)


def test_a_run_that_counts_no_cycles_is_at_the_clock_that_it_says_if_any():
    run = two_waves((0.0, 0.0))
    assert run_cycles(replace(run, meta={"sm_mhz": 1600})) == 1.6 * 2000
    assert run_cycles(replace(run, meta={})) == 0
    assert at_clock(run, 1000) is run


def test_stamps_at_one_clock_are_as_far_apart_as_the_sms_counted():
    told = at_clock(two_waves((1.5, 2.0), pause=400), 1000)
    assert told.spans["start"].tolist() == [600, 600 + 1500 + 700]
    assert told.spans["drain"].tolist() == [2100, 4800]
    assert told.spans["cycles"].tolist() == [1500, 2000]
    assert run_cycles(told) == pytest.approx(run_cycles(two_waves((1.5, 2.0), pause=400)))


@pytest.mark.parametrize("shape", ["1920x2304x6144", "896x5376x7168", "3840x1536x10240"])
def test_no_main_loop_of_a_last_wave_is_faster_than_tensor_cores_by_its_own_count(shape):
    """By the run's mean clock it is: that is why cycles are not its ns at that clock."""
    run = Trace.load(str(HELD_OUT.joinpath(f"h200-naive-{shape}-grouped8.npz")))
    problem, late = run.problem, np.argsort(run.spans["start"])[run.device.slots :]
    least = Hardware.named("h200", problem.dtype)
    floor = least.peak_ns(problem) * least.clock_mhz / 1000 * problem.k_steps
    last = run.spans[late]
    assert last["cycles"].min() >= floor
    assert ((last["drain"] - last["start"]) * run.meta["sm_mhz"] / 1000).min() < floor
