"""Calibration gives back the costs that a simulated run was made with, and repeats the measured runs."""

from dataclasses import replace
from importlib.resources import files
from math import sqrt

import numpy as np
import pytest

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.calibrate import LAUNCH_NS, calibrate, calibrations, repeated
from tilesim.calibrations import shipped
from tilesim.errors import TraceError
from tilesim.traces import SPAN

PROBLEM = Problem(4096, 4096, 512)
H200 = Device.named("h200")
NAIVE = Costs(k_step=900, dispatch=7, launch=LAUNCH_NS, prologue=300, epilogue=700)
PERSISTENT = replace(NAIVE, handover=200)
OVERLAPPED = replace(PERSISTENT, overlap=True)
TRACES = files("tilesim").joinpath("data/traces")
MEASURED = sorted(file.name for file in TRACES.iterdir() if file.name.endswith(".npz"))


def run(schedule, costs, device=H200, problem=PROBLEM, seed=0):
    return simulate(schedule, problem, device, costs, seed)


def as_measured(trace, tick=1):
    """What a recorder would see of a run: stamps to the tick, and no issue before the first start."""
    spans = trace.spans.copy()
    for name in ("start", "drain", "ready", "fixup", "done"):
        spans[name] -= spans[name] % tick
    spans["issue"] = spans["start"].min()
    by_slot = np.lexsort((spans["start"], spans["slot"], spans["sm"]))
    before, after = spans[by_slot[:-1]], spans[by_slot[1:]]
    same = (before["sm"] == after["sm"]) & (before["slot"] == after["slot"])
    previous = np.where(before["done"] <= after["start"], before["done"], before["drain"])
    spans["issue"][by_slot[1:][same]] = previous[same]
    return Trace(trace.problem, trace.device, trace.schedule, spans, "measured", tick, {"gpu": "NVIDIA H200"})


@pytest.mark.parametrize(
    "schedule, costs",
    [
        ("naive", NAIVE),
        ("persistent", PERSISTENT),
        ("persistent", OVERLAPPED),
        ("persistent-dynamic", PERSISTENT),
    ],
)
def test_exact_costs_come_back_exactly(schedule, costs):
    fitted = calibrate([run(schedule, costs)])
    assert replace(fitted, source="") == costs


def test_a_launch_shorter_than_the_known_one_leaves_no_prologue():
    fitted = calibrate([run("naive", Costs(launch=100))])
    assert (fitted.launch, fitted.prologue) == (100, 0)


@pytest.mark.parametrize(
    "schedule, costs", [("naive", NAIVE), ("persistent", PERSISTENT), ("persistent", OVERLAPPED)]
)
@pytest.mark.parametrize("seed", range(3))
def test_costs_come_back_through_jitter(schedule, costs, seed):
    """512 tiles on 132 slots: four standard errors of each estimate."""
    jitter = 0.05
    fitted = calibrate([run(schedule, replace(costs, jitter=jitter), seed=seed)])
    assert fitted.k_step == pytest.approx(900, rel=4 * jitter / sqrt(512))
    assert fitted.jitter == pytest.approx(jitter, rel=4 / sqrt(2 * 132))
    exact = replace(fitted, k_step=costs.k_step, jitter=0, source="", dispatch=7, prologue=300)
    assert exact == costs
    assert fitted.dispatch == 7
    assert fitted.prologue == pytest.approx(300, abs=2)


@pytest.mark.parametrize("tick", [1, 32])
def test_a_clock_that_steps_adds_no_jitter(tick):
    measured = as_measured(run("naive", replace(NAIVE, dispatch=0, jitter=0.002)), tick)
    fitted = calibrate([measured])
    assert fitted.jitter == pytest.approx(0.002, abs=0.0005)
    assert fitted.launch + fitted.prologue == pytest.approx(465, abs=tick / 2)
    assert fitted.epilogue == pytest.approx(700, abs=tick / 2)
    assert fitted.k_step == pytest.approx(900, rel=0.001)


def test_what_all_sms_do_together_is_no_jitter():
    """A first wave that is 20 % slower changes k_step's mean and leaves jitter alone."""
    trace = run("persistent", PERSISTENT)
    spans = trace.spans.copy()
    later = {int(row["cta"]): 0 for row in spans}
    extra = 1440
    for row in spans:
        shift, later[int(row["cta"])] = later[int(row["cta"])], extra
        for name in ("issue", "start"):
            row[name] += shift
        for name in ("drain", "ready", "fixup", "done"):
            row[name] += extra
    fitted = calibrate([Trace(PROBLEM, H200, "persistent", spans)])
    assert fitted.jitter == 0
    assert 900 < fitted.k_step < 900 * 1.2


@pytest.mark.parametrize("schedule", ["naive", "persistent"])
@pytest.mark.parametrize("factor", [1.0, 1.5, 2.0])
def test_co_residency_comes_back(schedule, factor):
    """Where epilogues leave the neighbour alone, the two speeds can be told apart."""
    device = Device.named("h200", ctas_per_sm=2)
    costs = replace(PERSISTENT, coresidency=(1.0, factor), epilogue=2000, jitter=0.02)
    fitted = calibrate([run(schedule, costs, device)])
    assert fitted.coresidency == (1.0, pytest.approx(factor, rel=0.03))
    assert fitted.k_step == pytest.approx(900, rel=0.03)
    measured, simulated = repeated(run(schedule, costs, device), fitted)
    assert simulated == pytest.approx(measured, rel=0.02)


def test_co_residency_that_cannot_be_seen_is_an_even_share():
    """Two blocks that run in lockstep are never alone on their SM."""
    costs = Costs(k_step=900, coresidency=(1.0, 1.5))
    trace = run("naive", costs, Device(4, ctas_per_sm=2), Problem(512, 1024, 512))
    fitted = calibrate([trace])
    assert fitted.coresidency == (1.0, 2.0)
    assert 2 * fitted.k_step == pytest.approx(1.5 * 900, rel=1e-3)
    assert repeated(trace, fitted) == (trace.makespan, trace.makespan)


def test_a_fix_up_costs_the_same_per_partial():
    spans = np.zeros(3, SPAN)
    for name, values in {
        "cta": (0, 1, 2), "k0": (0, 2, 4), "k1": (2, 4, 6), "sm": (0, 1, 2), "drain": (200,) * 3,
        "ready": (200, 200, 300), "fixup": (200, 200, 360), "done": (300, 300, 460),
    }.items():  # fmt: skip
        spans[name] = values
    trace = Trace(Problem(64, 64, 6, tile=(64, 64, 1)), Device(3), "split-k:3", spans)
    assert calibrate([trace]).fixup == 30


def test_a_measured_persistent_trace_takes_the_launch_of_its_naive_pair():
    naive = as_measured(run("naive", NAIVE))
    for costs in (PERSISTENT, OVERLAPPED):
        persistent = as_measured(run("persistent", costs))
        alone, *others = calibrations({"p": persistent})
        assert not others
        assert alone.unseen == ("launch", "prologue")
        own = 0 if costs.overlap else costs.handover
        assert (alone.costs.launch, alone.costs.prologue) == (LAUNCH_NS, own)
        _, paired = calibrations({"n": naive, "p": persistent})
        assert (paired.costs.launch, paired.costs.prologue) == (LAUNCH_NS, 300)
        assert replace(paired.costs, source="") == costs


def test_traces_of_one_kernel_are_fitted_together():
    traces = {str(seed): run("naive", replace(NAIVE, jitter=0.05), seed=seed) for seed in range(3)}
    traces["other size"] = run("naive", NAIVE, problem=Problem(2048, 2048, 1024))
    first, second = calibrations(traces)
    assert first.names == ("0", "1", "2")
    assert second.names == ("other size",)
    assert (first.k_steps, second.k_steps) == (8, 16)


def test_what_cannot_be_fitted():
    with pytest.raises(TraceError, match="give at least one"):
        calibrate([])
    with pytest.raises(TraceError, match="two kernels"):
        calibrate([run("naive", NAIVE), run("persistent", PERSISTENT)])


@pytest.mark.skipif(not MEASURED, reason="no measured traces ship")
class TestShipped:
    def test_they_are_what_the_traces_say(self):
        fitted = calibrations({name: Trace.load(TRACES / name) for name in MEASURED})
        entries = {tuple(entry["names"]): entry for entry in shipped("h200")}
        assert set(entries) == {one.names for one in fitted}, "calibrate again: see costs.calibrations"
        for one in fitted:
            entry = entries[one.names]
            saved = Costs.from_mapping(entry["costs"])
            for name in ("k_step", "jitter", "launch", "prologue", "handover", "epilogue", "dispatch"):
                assert getattr(saved, name) == pytest.approx(getattr(one.costs, name), rel=1e-3, abs=1), name
            assert (saved.overlap, saved.source) == (one.costs.overlap, one.costs.source)
            assert [entry[name] for name in ("schedule", "k_steps", "order", "ctas_per_sm")] == [
                one.schedule, one.k_steps, one.order, one.ctas_per_sm,
            ]  # fmt: skip

    @pytest.mark.parametrize("name", MEASURED)
    def test_a_simulation_repeats_the_measured_run(self, name):
        trace = Trace.load(TRACES / name)
        (one,) = (entry for entry in shipped("h200") if entry["names"] == [name])
        measured, simulated = repeated(trace, Costs.from_mapping(one["costs"]))
        assert simulated == pytest.approx(measured, rel=0.04)

    @pytest.mark.parametrize("schedule", ["naive", "persistent"])
    @pytest.mark.parametrize("k", [512, 4096])
    @pytest.mark.parametrize("order", ["row-major", "grouped:8"])
    def test_the_default_costs_are_those_of_the_same_run(self, schedule, k, order):
        problem = Problem(4096, 4096, k, order=order)
        name = f"h200-{schedule}-4096x4096x{k}" + "-grouped8" * (order != "row-major") + ".npz"
        (one,) = (entry for entry in shipped("h200") if entry["names"] == [name])
        assert simulate(schedule, problem, H200).meta["costs"]["source"] == one["costs"]["source"]
        measured, simulated = repeated(Trace.load(TRACES / name), None)
        assert simulated == pytest.approx(measured, rel=0.03)

    def test_persistent_wins_as_measured(self):
        """In the race, overlap is what wins, and the simulation says so."""
        names = (f"h200-{schedule}-4096x4096x512-grouped8.npz" for schedule in ("naive", "persistent"))
        (naive, naive_again), (other, other_again) = (repeated(Trace.load(TRACES / name)) for name in names)
        assert naive_again - other_again == pytest.approx(naive - other, rel=0.25)
