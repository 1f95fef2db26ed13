"""What main loops wait for: shares of any terms, residents of an SM, and runs whose terms are known."""

from dataclasses import replace

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.analysis.loop_terms import TERMS, loop_time, shares, sharing
from tilesim.devices.hardware import Hardware

H200 = Costs(k_step=0.0, device="h200")
TILE = Problem(128, 128, 64 * 8, tile=(128, 128, 64))


def terms(highest=1e6):
    others = arrays.arrays(float, (3, 5), elements=st.floats(0, highest))
    return others.map(lambda rows: np.concatenate([np.full((1, 5), 1000.0), rows]))


def loops(run):
    return int((run.spans["drain"] - run.spans["start"]).sum())


@given(terms())
def test_the_tensor_cores_get_what_they_take_and_the_largest_term_the_rest(limits):
    found = shares(limits)
    assert found.sum(axis=0) == pytest.approx(limits.max(axis=0)) and (found >= 0).all()
    assert found[0].tolist() == limits[0].tolist()
    others = found[1:] > 0
    assert (others.sum(axis=0) <= 1).all()
    assert (limits[1:][others] == np.broadcast_to(limits.max(axis=0), others.shape)[others]).all()


@given(strategies.planned(), strategies.devices(), strategies.costs())
def test_residents_of_a_main_loop_are_counted_at_every_moment(asked, device, costs):
    run = simulate(*asked, device, costs)
    spans, found = run.spans, sharing(run)
    for row, alone in zip(range(len(spans)), found.T[:, 0], strict=True):
        start, drain = spans["start"][row], spans["drain"][row]
        others = np.flatnonzero((spans["sm"] == spans["sm"][row]) & (np.arange(len(spans)) != row))
        busy = {t for one in spans[others] for t in range(max(start, one["start"]), min(drain, one["drain"]))}
        assert alone == pytest.approx(1 - len(busy) / max(1, drain - start))
    assert found.min() >= 0 and found.sum(axis=0) == pytest.approx(1)


@given(
    strategies.planned(), strategies.devices(), strategies.costs(), st.sampled_from([0.0, 500.0]),
    st.integers(0, 6),
)  # fmt: skip
def test_the_terms_of_a_simulation_add_up_to_its_main_loops(asked, device, costs, k_step, stages):
    schedule, problem = asked
    costs = replace(costs, k_step=k_step, device="h200", stages=stages)
    run = simulate(schedule, replace(problem, dtype="bf16"), device, costs)
    found = loop_time(run, costs)
    assert sum(found.terms.values()) + found.ends + found.written == pytest.approx(loops(run))
    assert sum(found.k_steps.values()) == pytest.approx(problem.tiles * problem.k_steps)
    assert min(*found.terms.values(), found.ends, found.written) >= 0
    assert 0 < found.peak <= found.terms["multiplying"]


def test_alone_on_the_device_all_time_is_multiplication():
    found = loop_time(simulate("naive", TILE, Device(1), H200), H200)
    hardware = Hardware.named("h200", "bf16")
    assert found.terms["multiplying"] == pytest.approx(8 * hardware.k_step_ns(TILE), abs=2)
    assert found.peak == pytest.approx(8 * hardware.peak_ns(TILE), abs=2)
    assert found.k_steps == dict.fromkeys(TERMS, 0.0) | {"multiplying": 8.0}


def test_a_kernel_that_multiplies_at_half_the_peak_rate_has_half_of_its_time_at_it():
    hardware = Hardware.named("h200", "bf16")
    costs = replace(H200, k_step=2 * hardware.peak_ns(TILE))
    found = loop_time(simulate("naive", TILE, Device(1), costs), costs)
    assert found.peak == pytest.approx(found.terms["multiplying"] / 2)


def test_with_a_single_stage_loads_are_waited_for():
    costs = replace(H200, stages=1)
    found = loop_time(simulate("naive", TILE, Device(1), costs), costs)
    assert found.k_steps["latency"] == 8
    assert found.terms["latency"] > found.terms["multiplying"] > 0


def test_small_tiles_on_all_sms_ask_too_much_of_the_l2():
    small = Problem(4096, 4096, 64 * 8, tile=(64, 64, 64))
    found = loop_time(simulate("naive", small, Device.named("h200"), H200), H200)
    assert max(found.k_steps, key=found.k_steps.get) == "the L2"
    assert max(found.terms, key=found.terms.get) in ("multiplying", "the L2")
    assert found.terms["the L2"] > found.terms["latency"]


def test_what_nobody_loaded_before_comes_from_dram():
    long = Problem(64, 64 * 132, 64 * 512, tile=(64, 64, 64))
    found = loop_time(simulate("naive", long, Device.named("h200"), H200), H200)
    assert found.terms["DRAM"] > found.terms["the L2"]
    assert found.k_steps["DRAM"] > found.k_steps["the L2"]


def test_what_a_main_loop_takes_beside_its_k_steps_is_known():
    costs = replace(H200, mainloop_overhead=100, epilogue_overlap_penalty=30, overlap=True, epilogue=50)
    run = simulate("persistent", replace(TILE, n=128 * 3), Device(1), costs)
    found = loop_time(run, costs)
    assert (found.ends, found.written) == (pytest.approx(300, rel=0.01), pytest.approx(60, rel=0.01))


@pytest.mark.parametrize("residents", [1, 2])
@pytest.mark.parametrize("schedule", ["naive", "persistent-dynamic", "stream-k"])
def test_a_simulation_taken_as_a_recording_takes_what_the_terms_say(schedule, residents):
    """Without scaling: so K-steps are counted beside as many others as they ran with."""
    problem, costs = Problem(1024, 1152, 2048, tile=(128, 128, 64)), replace(H200, stages=3)
    run = simulate(schedule, problem, Device.named("h200", sms=8, ctas_per_sm=residents), costs)
    measured = Trace(run.problem, run.device, schedule, run.spans, "measured")
    found = loop_time(measured, costs)
    assert sum(found.terms.values()) == pytest.approx(loops(run), rel=1e-4)


@pytest.mark.parametrize("costs", [H200, replace(H200, k_step=900.0)])
def test_a_recording_is_divided_at_its_own_clock(costs):
    run = simulate("naive", TILE, Device.named("h200", sms=1), H200)
    at = [
        loop_time(Trace(TILE, run.device, "naive", run.spans, "measured", meta={"sm_mhz": mhz}), costs)
        for mhz in (800, 1600)
    ]
    assert at[0].terms["multiplying"] == pytest.approx(2 * at[1].terms["multiplying"])


def test_a_run_that_cuts_tiles_in_another_way_than_its_schedule_is_taken_as_it_shows():
    run = simulate("split-k:3", TILE, Device(2), H200)
    renamed = replace(run, schedule="split-k:2")
    assert loop_time(renamed, H200).terms == pytest.approx(loop_time(run, H200).terms)
