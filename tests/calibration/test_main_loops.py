"""What main loops tell: each cost that shapes them comes back from simulated runs made with it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import costs, devices, planned

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.calibration.calibrate import JITTER, calibrate
from tilesim.calibration.main_loops import main_loops
from tilesim.calibration.observations import observe

H200 = Device.named("h200")
PLAIN = Costs(k_step=700, launch=168, prologue=400, epilogue=900)
IN_TURN = replace(PLAIN, tile_gap=150)
SHORT, LONG = Problem(4096, 4096, 512), Problem(4096, 4096, 2048)
SIZES = [(4096, 4096, 512), (4096, 4096, 4096), (1024, 16384, 512), (2048, 8192, 1024), (2048, 2048, 8192)]
SHAPES = [Problem(*size) for size in SIZES]
ON_H200 = replace(PLAIN, k_step=0, device="h200", stages=3, clock_mhz=1640)


def runs(costs, problems=(SHORT, LONG), schedule="naive", device=H200):
    return [simulate(schedule, problem, device, costs, seed) for seed, problem in enumerate(problems)]


def fitted(costs, *args):
    """What comes back of `costs`; the jitter is not fitted."""
    found = calibrate(runs(costs, *args))
    assert found.jitter == JITTER
    return replace(found, jitter=costs.jitter, source="")


@pytest.mark.parametrize(("k_step", "mainloop_overhead"), [(0.75, 900), (700.0, 0), (700.0, 37)])
def test_two_lengths_separate_an_overhead_from_k_steps(k_step, mainloop_overhead):
    """A main loop is rounded to the ns: both come back to what that leaves of them."""
    costs = replace(PLAIN, k_step=k_step, mainloop_overhead=mainloop_overhead)
    found = fitted(costs)
    assert found.k_step == pytest.approx(k_step, abs=0.02)
    assert found.mainloop_overhead == pytest.approx(mainloop_overhead, abs=1)
    assert found == costs or k_step < 1


def test_one_length_shows_no_overhead():
    found = fitted(replace(PLAIN, mainloop_overhead=800), [SHORT, SHORT])
    assert found == replace(PLAIN, k_step=700 + 800 / 8)


def test_segments_of_a_tile_that_is_cut_are_of_several_lengths():
    found = fitted(replace(PLAIN, mainloop_overhead=800), [LONG], "stream-k")
    assert (found.k_step, found.mainloop_overhead) == (700, 800)


@pytest.mark.parametrize(("penalty", "overhead"), [(0, 300), (45, 0), (2000, 300)])
def test_an_epilogue_of_another_tile_under_a_main_loop(penalty, overhead):
    costs = replace(IN_TURN, overlap=True, epilogue_overlap_penalty=penalty, mainloop_overhead=overhead)
    assert fitted(costs, (SHORT, LONG), "persistent") == costs


@pytest.mark.parametrize(("partial", "overlap"), [(None, False), (0, True), (250, True)])
def test_partials_and_merges(partial, overlap):
    """Tiles in two, three and four segments tell the merge from what each partial adds to it."""
    costs = replace(IN_TURN, overlap=overlap, partial=partial, merge=70, fixup=21, mainloop_overhead=300)
    problems = [Problem(1024, 1024, 8192), Problem(2048, 1024, 4096), LONG]
    assert fitted(costs, problems, "stream-k") == costs


def on_the_device(costs, schedule, residents=1):
    """What a recorder on an H200 would see of runs with `costs`, of a kernel with three stages."""
    device = Device.named("h200", ctas_per_sm=residents)
    seen = []
    for trace in runs(costs, SHAPES, schedule, device):
        spans = trace.spans.copy()
        spans["cycles"] = (spans["drain"] - spans["start"]) * 1.64
        seen.append(Trace(trace.problem, device, schedule, spans, "measured", 1, {"stages": 3}))
    return calibrate(seen)


@pytest.mark.parametrize(("schedule", "residents"), [("naive", 2), ("stream-k", 1)])
def test_on_a_known_device_its_hardware_takes_the_k_steps(schedule, residents):
    found = on_the_device(replace(ON_H200, mainloop_overhead=300, tile_gap=150), schedule, residents)
    assert (found.k_step, found.device, found.stages, found.clock_mhz) == (0, "h200", 3, 1640)
    # A run's pauses are not quite its plan's, nor are its neighbours: K-steps come out within half a percent.
    assert found.mainloop_overhead == pytest.approx(300, abs=150)
    assert found.epilogue_overlap_penalty == 0


def test_what_a_faster_clock_did_sooner_takes_as_many_cycles():
    """Recorded at another clock than the device's, a kernel comes out with the same costs."""
    made = replace(ON_H200, mainloop_overhead=300, tile_gap=150, epilogue=900, jitter=0)
    found = []
    for clock in (1640, 1900):
        traces = []
        for trace in runs(made, (SHORT, LONG), "persistent"):
            spans = trace.spans.copy()
            spans["cycles"] = np.rint((spans["drain"] - spans["start"]) * 1.64)
            for name in ("issue", "start", "drain", "ready", "fixup", "done"):
                spans[name] = np.rint(spans[name] * 1640 / clock)
            traces.append(replace(trace, spans=spans, origin="measured", meta={"stages": 3}))
        found.append(calibrate(traces))
    for name in ("prologue", "tile_gap", "epilogue", "mainloop_overhead"):
        assert getattr(found[1], name) == pytest.approx(getattr(found[0], name), abs=2), name


def test_a_main_loop_shorter_than_the_clocks_step():
    """Its stamps are equal: it is neither endless nor free, and no reason for a warning."""
    device = Device(2, ctas_per_sm=2)
    (trace,) = runs(replace(PLAIN, k_step=3, epilogue=100), [Problem(1024, 1024, 128)], "naive", device)
    spans = trace.spans.copy()
    for name in ("issue", "start", "drain", "ready", "fixup", "done"):
        spans[name] -= spans[name] % 32
    coarse = Trace(trace.problem, device, "naive", spans, "measured", 32)
    empty = coarse.spans["drain"] == coarse.spans["start"]
    assert empty.any() and not empty.all()
    run = observe(coarse)
    assert run.sharing.sum(axis=0).tolist() == pytest.approx([1.0] * len(spans))
    assert (main_loops([run], None, 0.0)[0].ns > 0).all()
    found = calibrate([coarse])
    assert found.k_step > 0


def test_long_main_loops_that_take_no_longer_than_short_ones():
    """Least squares would have them run backwards; they are all K-steps then."""
    spans = simulate("naive", Problem(128, 1024, 256), Device(4), PLAIN).spans
    traces = []
    for k in (256, 512):
        columns = spans.copy()
        columns["k1"] = k // 64
        columns["drain"] -= (k - 256) * 2
        columns["cycles"] = 0
        traces.append(Trace(Problem(128, 1024, k), Device(4), "naive", columns))
    found = calibrate(traces)
    assert (found.mainloop_overhead, found.epilogue_overlap_penalty) == (0, 0)
    # Each run counts alike, by its own length: the least of (4 k / t1 - 1)² + (8 k / t2 - 1)².
    x, y = (np.mean(t.spans["k1"] / (t.spans["drain"] - t.spans["start"])) for t in traces)
    assert found.k_step == pytest.approx((x + y) / (x * x + y * y), rel=1e-3)


def test_a_schedules_name_on_other_segments():
    """What a trace calls naive may have been cut in other places: then its spans are the plan."""
    trace = simulate("split-k:2", LONG, H200, PLAIN)
    mine = replace(trace, schedule="naive")
    assert observe(mine).plan.ctas == len(mine.spans)
    found, expected = calibrate([mine]), calibrate([trace])
    assert (found.k_step, found.epilogue) == (expected.k_step, expected.epilogue)


@given(planned(), devices(), costs(), st.integers(0, 9))
def test_any_run_can_be_calibrated_and_nothing_comes_out_negative(case, device, turned, seed):
    schedule, problem = case
    trace = simulate(schedule, problem, device, turned, seed)
    found = calibrate([trace, trace])  # a negative cost is refused
    assert simulate(schedule, problem, device, found, seed).makespan > 0
