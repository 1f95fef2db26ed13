"""What main loops tell: each cost that shapes them comes back from simulated runs made with it."""

from dataclasses import replace
from math import exp, pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import costs, devices, planned

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.calibration.calibrate import calibrate, calibrations, repeated
from tilesim.calibration.fit import BANDWIDTHS, CACHES, RUNS
from tilesim.calibration.jitter import MEDIAN_OF_CHI_SQUARE
from tilesim.calibration.main_loops import main_loops
from tilesim.calibration.observations import observe
from tilesim.calibration.sm_sharing import fit_sm_sharing

H200 = Device.named("h200")
PLAIN = Costs(k_step=700, launch=168, prologue=400, epilogue=900)
IN_TURN = replace(PLAIN, handover=150)
SHORT, LONG = Problem(4096, 4096, 512), Problem(4096, 4096, 2048)
SHAPES = [
    SHORT,
    Problem(4096, 4096, 4096),
    Problem(1024, 16384, 2048),  # row-major, and so wide that no row of B's tiles is still in the cache
    Problem(1024, 16384, 512),
    Problem(2048, 8192, 1024),
    Problem(8192, 8192, 1024, order="grouped:8"),
    Problem(2048, 2048, 8192),
]


def runs(costs, problems=(SHORT, LONG), schedule="naive", device=H200):
    return [simulate(schedule, problem, device, costs, seed) for seed, problem in enumerate(problems)]


def fitted(costs, *args):
    return replace(calibrate(runs(costs, *args)), source="")


@pytest.mark.parametrize("ramp", [0, 37, 900])
@pytest.mark.parametrize("k_step", [0.75, 700.0])
def test_two_lengths_separate_a_ramp_from_k_steps(k_step, ramp):
    """A main loop is rounded to the ns: both come back to what that leaves of them."""
    found = fitted(replace(PLAIN, k_step=k_step, ramp=ramp))
    assert found.k_step == pytest.approx(k_step, abs=0.02)
    assert found.ramp == pytest.approx(ramp, abs=1)
    assert fitted(replace(PLAIN, ramp=ramp)) == replace(PLAIN, ramp=ramp)


def test_one_length_shows_no_ramp():
    found = fitted(replace(PLAIN, ramp=800), [SHORT, SHORT])
    assert found == replace(PLAIN, k_step=700 + 800 / 8)


def test_segments_of_a_tile_that_is_cut_are_of_several_lengths():
    found = fitted(replace(PLAIN, ramp=800), [LONG], "stream-k")
    assert (found.k_step, found.ramp) == (700, 800)


@pytest.mark.parametrize("contention", [0, 45, 2000])
@pytest.mark.parametrize("ramp", [0, 300])
def test_an_epilogue_of_another_tile_under_a_main_loop(contention, ramp):
    costs = replace(IN_TURN, overlap=True, contention=contention, ramp=ramp)
    assert fitted(costs, (SHORT, LONG), "persistent") == costs


def test_an_epilogue_that_is_over_by_then_is_not_under_it():
    costs = replace(PLAIN, overlap=True, handover=1000, contention=300)
    (trace,) = runs(costs, [SHORT], "persistent")
    assert not observe(trace).under_epilogue.any()
    assert fitted(costs, (SHORT, LONG), "persistent").contention == 0


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("partial", [None, 0, 250])
def test_partials_staging_and_merges(partial, overlap):
    """Tiles in two, three and four segments tell the merge from what each partial adds to it."""
    costs = replace(
        IN_TURN, overlap=overlap, partial=partial, merge=70, fixup=21, ramp=300,
        staging=110 if overlap and partial is not None else 0,
    )  # fmt: skip
    problems = [Problem(1024, 1024, 8192), Problem(2048, 1024, 4096), LONG]
    assert fitted(costs, problems, "stream-k") == costs


GRID = [(bandwidth, cache) for bandwidth in (18, 22) for cache in (3, 7)]
HALF_A_STEP = 0.06
"""Of the bandwidths that are tried, each 12 % above the one before."""


@pytest.mark.parametrize(("at", "size"), GRID)
@pytest.mark.parametrize("exposed_dram", [0.0, 0.15])
@pytest.mark.parametrize("jitter", [0.0, 0.01])
def test_memory_comes_back(at, size, exposed_dram, jitter):
    """The grid's pair or a neighbour of it.

    A neighbour's bandwidth is 12 % off, and so are K-steps that wait for nothing else. Least squares share
    that out among the runs and the other costs: each is off by no more than half of it, but `exposed_dram`:
    the K-steps that ask DRAM for much are those that miss the L2, so that may take all of it.
    """
    made = replace(PLAIN, ramp=500, bandwidth=BANDWIDTHS[at], cache=CACHES[size], exposed_dram=exposed_dram)
    made = replace(made, jitter=jitter)
    found = fitted(made, SHAPES)
    assert abs(BANDWIDTHS.index(found.bandwidth) - at) <= 1
    assert abs(CACHES.index(found.cache) - size) <= 1
    assert found.k_step == pytest.approx(700, rel=HALF_A_STEP)
    assert found.exposed_dram == pytest.approx(exposed_dram, abs=2 * HALF_A_STEP)
    assert found.jitter == pytest.approx(jitter, rel=0.2, abs=0.002)
    for trace in runs(made, SHAPES):
        measured, simulated = repeated(trace, found, seeds=range(3))
        assert simulated == pytest.approx(measured, rel=HALF_A_STEP)


@pytest.mark.parametrize("schedule", ["persistent", "stream-k"])
def test_a_plan_that_asks_much_of_memory_is_repeated(schedule):
    """Contention and memory look alike in a few shapes; what is simulated with them is as long."""
    made = replace(IN_TURN, ramp=500, overlap=True, contention=60, bandwidth=3000.0, cache=20 * 10**6)
    made = replace(made, exposed_dram=0.1)
    found = fitted(made, SHAPES, schedule)
    assert found.bandwidth and found.cache
    for trace in runs(made, SHAPES, schedule):
        measured, simulated = repeated(trace, found, seeds=[0])
        assert simulated == pytest.approx(measured, rel=HALF_A_STEP)


def test_memory_that_is_never_asked_for_much_is_not_found():
    assert fitted(replace(PLAIN, jitter=0.02), SHAPES).bandwidth == 0
    made = replace(PLAIN, bandwidth=1e6, cache=10**9)
    assert fitted(made, SHAPES) == PLAIN


def test_too_few_runs_tell_of_no_memory():
    made = replace(PLAIN, ramp=500, bandwidth=3000.0, cache=20 * 10**6)
    few = SHAPES[1:RUNS]
    assert len(few) == RUNS - 1
    found = fitted(made, few)
    assert (found.bandwidth, found.cache, found.exposed_dram) == (0, 0, 0)
    assert fitted(made, [*few, SHORT]).bandwidth > 0


def test_kernels_share_one_memory():
    """One with too few runs takes the memory that the other shows."""
    made = replace(PLAIN, ramp=500, bandwidth=BANDWIDTHS[20], cache=CACHES[5])
    traces = {str(i): trace for i, trace in enumerate(runs(made, SHAPES))}
    traces["other"] = simulate("persistent", SHAPES[2], H200, made)
    first, second = (one.costs for one in calibrations(traces))
    assert (first.bandwidth, first.cache) == (second.bandwidth, second.cache)
    assert abs(BANDWIDTHS.index(second.bandwidth) - 20) <= 1
    ignorant = calibrate([traces["other"]])
    assert second.k_step < ignorant.k_step


def test_jitter_is_right_in_the_mean():
    """The least of three estimates is below each: by less than the error that the worst of them has.

    That is 2.33 / 2 / sqrt(132): a median of 132 squares tells a variance to 2.33 / sqrt(132).
    """
    density = exp(-MEDIAN_OF_CHI_SQUARE / 2) / sqrt(2 * pi * MEDIAN_OF_CHI_SQUARE)
    error = 1 / (2 * density * MEDIAN_OF_CHI_SQUARE) / 2 / sqrt(132)
    made = replace(PLAIN, jitter=0.04)
    found = [calibrate([simulate("naive", SHORT, H200, made, seed)]).jitter / 0.04 for seed in range(24)]
    assert 1 - error - 4 * error / sqrt(24) < np.mean(found) < 1 + 4 * error / sqrt(24)


def test_co_residency_is_told_beside_ramps():
    device = Device.named("h200", ctas_per_sm=2)
    made = replace(PLAIN, ramp=400, epilogue=2500, coresidency=(1.0, 1.4), jitter=0.02)
    found = fitted(made, (SHORT, LONG), "naive", device)
    assert found.coresidency == (1.0, pytest.approx(1.4, rel=0.03))
    assert found.k_step == pytest.approx(700, rel=0.03)


def test_the_unloaded_latency_comes_back_where_sole_residents_vary():
    """One tile more than slots, a quarter more, and half more: as few are alone in the end."""
    device = Device.named("h200", ctas_per_sm=2)
    made = replace(PLAIN, coresidency=(1.0, 1.3), unloaded_latency=0.6)
    sizes = [Problem(128 * rows, 256 * 20, 2048, tile=(128, 256, 64)) for rows in (14, 17, 20, 26)]
    found = fitted(made, sizes, "naive", device)
    assert found.unloaded_latency == pytest.approx(0.6, rel=0.1)
    assert found.coresidency == (1.0, pytest.approx(1.3, rel=0.03))
    assert fitted(
        replace(made, unloaded_latency=0.0), sizes, "naive", device
    ).unloaded_latency == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("bandwidth", [1e9, 6000.0])
@pytest.mark.parametrize(("unloaded_latency", "sole_exposed_dram"), [(0.3, 0.4), (0.0, 0.4), (0.3, 0.0)])
def test_what_a_block_alone_waits_for(unloaded_latency, sole_exposed_dram, bandwidth):
    """Tails of few and of many tiles, whose operands were loaded before or come from DRAM."""
    device, cache = Device.named("h200", ctas_per_sm=2), 24 * 10**6
    made = replace(PLAIN, coresidency=(1.0, 1.3), bandwidth=bandwidth, cache=cache)
    made = replace(made, unloaded_latency=unloaded_latency, sole_exposed_dram=sole_exposed_dram)
    tiles = [(17, 17), (8, 50), (20, 20), (4, 75), (23, 23), (6, 60), (20, 14), (17, 20)]
    sizes = [Problem(128 * m, 256 * n, k) for m, n in tiles for k in (1024, 4096)]
    seen = main_loops([observe(run) for run in runs(made, sizes, "naive", device)])
    found = fit_sm_sharing(seen, cache)
    assert found.coresidency == (1.0, pytest.approx(1.3, rel=0.02))
    assert (found.unloaded_latency, found.sole_exposed_dram) == pytest.approx(
        (unloaded_latency, sole_exposed_dram), abs=0.05
    )
    assert fit_sm_sharing(seen, 0).sole_exposed_dram == 0


@pytest.mark.parametrize("unshared_l2", [0.0, 0.5])
def test_what_blocks_out_of_step_cost_comes_back(unshared_l2):
    """Plans that cut tiles between blocks at many places of K, or at few."""
    made = replace(IN_TURN, unshared_l2=unshared_l2)
    sizes = [
        Problem(m, n, 2048) for m, n in ((4096, 4096), (4096, 256), (6144, 512), (2048, 6144), (512, 4096))
    ]
    found = fitted(made, sizes, "stream-k")
    assert found.unshared_l2 == pytest.approx(unshared_l2, rel=0.05)
    assert found.k_step == pytest.approx(700, rel=0.01)
    few = fitted(made, sizes[: RUNS - 1], "stream-k")
    assert few.unshared_l2 == 0 and few.k_step == pytest.approx(700 * (1 + unshared_l2 * 0.8), rel=0.15)


def test_blocks_that_end_together_had_less_jitter_than_their_main_loops_tell():
    """Every second main loop of a slot makes good for the one before: no slot is late."""
    made = replace(IN_TURN, partial=300, jitter=0.05)
    run = simulate("stream-k", LONG, H200, made)
    assert calibrate([run]).jitter == pytest.approx(0.05, rel=0.4)
    spans = run.spans.copy()
    end = {}
    for row in np.lexsort((spans["start"], spans["cta"])):
        end[spans["cta"][row]] = row
    level = max(spans["done"])
    for row in end.values():
        late = level - spans["done"][row]
        for name in ("drain", "ready", "fixup", "done"):
            spans[name][row] += late
    even = Trace(run.problem, H200, "stream-k", spans)
    assert calibrate([even]).jitter < 0.01


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
    assert run.sharing.sum(axis=1).tolist() == pytest.approx([1.0] * len(spans))
    assert (main_loops([run])[0].ns > 0).all()
    found = calibrate([coarse])
    assert found.k_step > 0 and found.jitter >= 0


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
    assert (found.ramp, found.contention, found.exposed_dram) == (0, 0, 0)
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
    assert found.coresidency[0] == 1
    assert all(1 <= f <= r for r, f in enumerate(found.coresidency, 1))
    assert simulate(schedule, problem, device, found, seed).makespan > 0
