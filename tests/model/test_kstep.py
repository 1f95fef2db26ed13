"""What a K-step takes: each of its limits by hand, and what holds of all of them together."""

from dataclasses import replace

import numpy as np
import pytest

from tilesim import Costs, Device, Problem, plan
from tilesim.devices.hardware import LOAD_CYCLES, SM_BYTES_PER_CLOCK, TENSOR_SHARE, Hardware
from tilesim.errors import CostsError
from tilesim.model.kstep import hardware_of, k_step_ns, k_step_terms, load_times, slowest_k_step
from tilesim.model.traffic import Traffic

TILE = Problem(128, 128, 64, tile=(128, 128, 64))
"""A K-step of 2^20 MACs, which loads 32 KiB."""
FAST = Hardware(1000, 1e9, 100, 300, 1e12, 1e12, 1e12, 10**6, 168)
"""A device that waits for the latency of its loads alone."""
NOTHING = Traffic(*np.zeros((4, 1)))


def cycles(seen=NOTHING, stages=0, residents=1, problem=TILE, k_step=0.0, **hardware):
    on = replace(FAST, **hardware)
    multiplying = k_step * on.clock_mhz / 1000 or on.peak_cycles(problem)
    return k_step_terms(seen, problem, on, multiplying, stages, residents).max(axis=0)[:, 0].tolist()


def test_residents_share_the_tensor_cores():
    assert cycles(macs_per_clock=2048, residents=3) == pytest.approx([512, 1024, 1536])
    wide = replace(TILE, tile=(128, 256, 64))
    assert cycles(macs_per_clock=2048, problem=wide) == pytest.approx([1024])


def test_costs_may_say_what_a_k_step_multiplies():
    assert cycles(macs_per_clock=2048, residents=2, k_step=600.0) == pytest.approx([600, 1200])


@pytest.mark.parametrize(("stages", "in_flight"), [(1, 1), (2, 1), (3, 2), (6, 5)])
def test_loads_of_all_stages_but_one_are_in_flight(stages, in_flight):
    latency = LOAD_CYCLES + 100 + 2**15 / SM_BYTES_PER_CLOCK
    assert cycles(stages=stages) == pytest.approx([latency / in_flight])
    missing = replace(NOTHING, l2_miss=np.array([0.5]))
    assert cycles(missing, stages=stages) == pytest.approx([(latency + 100) / in_flight])
    # Who waits for loads waits no longer beside others: they hide each other's latency.
    assert cycles(stages=stages, residents=2) == pytest.approx([latency / in_flight] * 2)


def test_without_stages_nothing_waits_for_loads():
    assert cycles(macs_per_clock=2**20) == pytest.approx([1])


def test_the_l2_sends_once_what_several_ask_for_at_a_time():
    seen = replace(NOTHING, asked=np.array([4000.0]), sent=np.array([1000.0]))
    alone = replace(seen, sent=seen.asked)
    rates = {"l2_bytes_per_clock": 10.0, "l2_merged_bytes_per_clock": 20.0}
    assert cycles(alone, **rates) == pytest.approx([400])
    assert cycles(seen, **rates) == pytest.approx([3000 / 20 + 1000 / 10])


def test_what_misses_the_l2_comes_at_the_rate_of_dram():
    seen = replace(NOTHING, missed=np.array([4000.0]))
    assert cycles(seen, dram_bytes_per_clock=8.0) == pytest.approx([500])


@pytest.mark.parametrize("rate, expected", [(10.0, 512), (5.0, 800), (1.0, 4000)])
def test_the_largest_term_counts_alone(rate, expected):
    seen = replace(NOTHING, missed=np.array([4000.0]))
    assert cycles(seen, macs_per_clock=2048, dram_bytes_per_clock=rate) == pytest.approx([expected])


def test_what_is_beyond_a_double_is_infinite():
    assert cycles(replace(NOTHING, missed=np.array([np.inf]))) == [np.inf]


def test_a_kernel_multiplies_nearly_as_fast_as_tensor_cores_can():
    found = Hardware.named("h200", "bf16")
    assert found.k_step_ns(TILE) == pytest.approx(found.peak_ns(TILE) / TENSOR_SHARE)
    problem, device = replace(TILE, n=512), Device(4)
    made = plan("naive", problem, device)
    assert k_step_ns(made, problem, device, Costs(k_step=0, device="h200")).max() == found.k_step_ns(TILE)


def test_an_h200_takes_what_was_measured():
    """8,770 GB/s out of the L2 at 1,980 MHz and 2,048 MACs a clock: the peak of its tensor cores."""
    found = Hardware.named("h200", "bf16")
    assert found.l2_bytes_per_clock == pytest.approx(8770 / 1.98)
    assert found.macs_per_clock == 2048 and found.l2_latency < found.dram_latency
    assert Hardware.named("h200", "fp8").macs_per_clock == 4096
    with pytest.raises(CostsError, match="the NVIDIA T4's datasheet has no bf16 rate; give costs"):
        Hardware.named("t4", "bf16")


def test_a_dtype_that_tensor_cores_do_not_have_goes_by_its_peak():
    assert Hardware.named("h200", "fp32").macs_per_clock == pytest.approx(128, rel=0.02)


def test_a_block_alone_waits_and_two_hide_it():
    """Three stages of 128x128 alone on their SM wait for loads; two such blocks multiply at the peak."""
    problem, costs = replace(TILE, m=1280, n=1280, k=1024), Costs(k_step=0, device="h200", stages=3)
    device = Device.named("h200", ctas_per_sm=2)
    alone, beside = k_step_ns(plan("naive", problem, device), problem, device, costs)
    peak = 2**20 / 2048 / 1.64
    assert (alone > 1.3 * peak).all() and (beside < 2.05 * peak).all()


def test_given_k_steps_are_as_given():
    problem, device = replace(TILE, n=512), Device(4, ctas_per_sm=2)
    costs = Costs(k_step=70, coresidency=(1.0, 1.5))
    found = k_step_ns(plan("naive", problem, device), problem, device, costs)
    assert found.tolist() == [[70.0] * 4, [105.0] * 4]
    assert slowest_k_step(problem, device, costs, None) == 105


@pytest.mark.parametrize(("stages", "ahead"), [(0, 0), (1, 0), (2, 1), (3, 2)])
def test_first_loads_come_out_of_dram_in_turn(stages, ahead):
    """Eight tiles of a column: eight pieces of A and one of B for each stage that is loaded ahead."""
    problem, device = Problem(8 * 128, 256, 4096), Device(8)
    costs = Costs(k_step=0, device="h200", stages=stages)
    _, first = load_times(plan("naive", problem, device), problem, device, costs, hardware_of(costs, problem))
    h200 = Hardware.named("h200", "bf16")
    cycles = ahead * (8 * 128 + 256) * 64 * 2 / h200.dram_bytes_per_clock
    assert first == pytest.approx(cycles * 1000 / h200.clock_mhz)


def test_without_a_device_first_loads_take_alike():
    problem, device = Problem(8 * 128, 256, 4096), Device(8)
    assert load_times(plan("naive", problem, device), problem, device, Costs(stages=3), None)[1] == 0
