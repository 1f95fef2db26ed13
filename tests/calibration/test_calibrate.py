"""Calibration gives back the costs that a simulated run was made with, and repeats the measured runs."""

from dataclasses import asdict, replace
from math import sqrt

import numpy as np
import pytest
from recordings import DATA

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.calibration.calibrate import JITTER, calibrate, calibrations, repeated
from tilesim.errors import KernelConfigError, TraceError
from tilesim.kernel_config import KernelConfig
from tilesim.kernel_costs.default import default_costs, shipped
from tilesim.metrics import TURNAROUND_NS

PROBLEM = Problem(4096, 4096, 512)
H200 = Device.named("h200")
NAIVE = Costs(k_step=900, launch=TURNAROUND_NS, prologue=300, epilogue=700)
PERSISTENT = replace(NAIVE, tile_gap=200)
OVERLAPPED = replace(PERSISTENT, overlap=True)
TRACES = DATA / "traces"
MEASURED = sorted(file.name for file in TRACES.glob("*.npz"))


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
    device = replace(trace.device, name="")  # as of a GPU of which no hardware is known
    return Trace(trace.problem, device, trace.schedule, spans, "measured", tick, {"gpu": "Some GPU"})


@pytest.mark.parametrize(
    "schedule, costs",
    [
        ("naive", NAIVE), ("persistent", PERSISTENT), ("persistent", OVERLAPPED),
        ("persistent-dynamic", PERSISTENT),
    ],
)  # fmt: skip
def test_exact_costs_come_back_exactly(schedule, costs):
    fitted = calibrate([run(schedule, costs)])
    assert replace(fitted, source="") == replace(costs, jitter=JITTER)


@pytest.mark.parametrize("costs", [PERSISTENT, OVERLAPPED], ids=["alone", "overlapped"])
@pytest.mark.parametrize("seed", range(2))
def test_costs_come_back_through_jitter(costs, seed):
    """512 tiles on 132 slots: four standard errors of each estimate.

    Only under an epilogue can a main loop seem to take longer: then the 132 first ones alone tell of k_step,
    and the penalty is what the 380 later ones differ by.
    """
    jitter, tile = 0.05, 8 * 900  # of tiles of eight K-steps
    fitted = calibrate([run("persistent", replace(costs, jitter=jitter * sqrt(8)), seed=seed)])
    assert fitted.k_step == pytest.approx(900, rel=4 * jitter / sqrt(132 if costs.overlap else 512))
    most = 4 * jitter * tile * sqrt(1 / 132 + 1 / 380) if costs.overlap else 0
    assert fitted.epilogue_overlap_penalty <= most
    known = {"k_step": 900, "jitter": 0, "source": "", "prologue": 300, "epilogue_overlap_penalty": 0}
    assert replace(fitted, **known) == costs
    assert fitted.prologue == pytest.approx(300, abs=2)


def test_a_clock_that_steps_hides_no_cost(jitter=0.02, tick=32):
    """What is off is below a step: a median sees nothing finer."""
    measured = as_measured(run("naive", replace(NAIVE, jitter=jitter)), tick)
    fitted = calibrate([measured])
    assert fitted.launch + fitted.prologue == pytest.approx(TURNAROUND_NS + 300, abs=tick / 2)
    assert fitted.epilogue == pytest.approx(700, abs=tick / 2)
    assert fitted.k_step == pytest.approx(900, rel=0.001 + 4 * jitter / sqrt(512))


def test_cycles_do_not_step_with_the_clock():
    """Where an SM counts its cycles, a K-step comes back through a clock of 1024 ns."""
    seen = as_measured(run("naive", NAIVE))
    spans = seen.spans.copy()
    spans["cycles"] = (spans["drain"] - spans["start"]) * 2
    for name in ("issue", "start", "drain", "ready", "fixup", "done"):
        spans[name] += 7 * spans["sm"]  # or all SMs would be off by the same
        spans[name] -= spans[name] % 1024
    coarse = Trace(seen.problem, seen.device, seen.schedule, spans, "measured", 1024, seen.meta)
    fitted = calibrate([coarse])
    assert fitted.clock_mhz == pytest.approx(2000, rel=0.01)
    assert fitted.k_step * fitted.clock_mhz == pytest.approx(900 * 2000, rel=1e-3)


@pytest.mark.parametrize(("writing", "jitter"), [(0, 0.05), (500, 0.0), (1500, 0.05)])
def test_writing_in_turn_comes_back(writing, jitter):
    """Two blocks on an SM that drain at about one time: the second is done `writing` after the first."""
    device = Device.named("h200", ctas_per_sm=2)
    costs = replace(NAIVE, epilogue=900, epilogue_serialisation=writing, jitter=jitter)
    fitted = calibrate([run("naive", costs, device)])
    assert fitted.epilogue_serialisation == pytest.approx(writing, rel=0.1)
    assert fitted.epilogue == pytest.approx(900, rel=0.02)
    assert (fitted.launch, fitted.prologue) == (TURNAROUND_NS, pytest.approx(300, rel=0.2))


def test_a_measured_persistent_trace_takes_the_launch_of_its_naive_pair():
    naive = as_measured(run("naive", NAIVE))
    for costs in (PERSISTENT, OVERLAPPED):
        persistent = as_measured(run("persistent", costs))
        alone, *others = calibrations({"p": persistent})
        assert not others
        assert alone.unseen == ("launch", "prologue")
        bare = calibrate([persistent])
        assert (bare.launch, bare.prologue) == (0, 0)
        own = 0 if costs.overlap else costs.tile_gap
        assert (alone.costs.launch, alone.costs.prologue) == (TURNAROUND_NS, own)
        _, paired = calibrations({"n": naive, "p": persistent})
        assert (paired.costs.launch, paired.costs.prologue) == (TURNAROUND_NS, 300)
        assert replace(paired.costs, source="", jitter=0.0) == costs


def test_traces_of_one_kernel_are_fitted_together():
    """Of any size; another tile is another kernel."""
    traces = {str(seed): run("naive", replace(NAIVE, jitter=0.05), seed=seed) for seed in range(3)}
    traces["other size"] = run("naive", NAIVE, problem=Problem(2048, 2048, 1024))
    traces["other tile"] = run("naive", NAIVE, problem=replace(PROBLEM, tile=(128, 128, 64)))
    first, second = calibrations(traces)
    assert first.names == ("0", "1", "2", "other size")
    assert (second.names, second.kernel.config.tile) == (("other tile",), (128, 128, 64))
    assert replace(second.costs, source="", jitter=0.0) == NAIVE


@pytest.mark.parametrize(
    "words, about",
    [
        ("", ("", "")),
        ("naive-tma", ("naive", "tma")),
        ("table-ptr", ("table", "ptr")),
    ],
)
def test_a_kernel_is_known_by_what_was_recorded_of_it(words, about):
    trace = run("naive", NAIVE)
    meta = trace.meta | ({"kernel": words, "warps": 8, "stages": 3} if words else {})
    (one,) = calibrations({"a": replace(trace, meta=meta)})
    config = one.kernel.config
    assert (config.kernel, config.loads) == about
    assert (config.warps, config.stages) == ((8, 3) if words else (0, 0))


def test_own_and_planned_kernels_are_not_mixed():
    trace = run("persistent", OVERLAPPED)
    kernels = ["persistent-tma-overlap", "persistent-tma", "planned-tma-overlap"]
    fitted = calibrations({name: replace(trace, meta={"kernel": name}) for name in kernels})
    assert [one.names for one in fitted] == [(name,) for name in kernels]


def test_a_trace_that_holds_its_configuration_is_calibrated_as_one_with_separate_notes():
    trace = as_measured(run("persistent", OVERLAPPED))
    config = KernelConfig("persistent", "persistent", PROBLEM.tile, overlap=True)
    notes = {"kernel": "persistent-tma-overlap", "warps": 8, "stages": 3}
    whole, apart = (
        replace(trace, meta={"gpu": "Some GPU"} | more) for more in ({"kernel_config": str(config)}, notes)
    )
    assert whole.config == apart.config == config and whole.kernel == apart.kernel
    assert calibrations({"a": whole}) == calibrations({"a": apart})
    with pytest.raises(KernelConfigError):
        replace(trace, meta={"kernel_config": "persistent"})


def test_a_colon_in_the_name_of_a_kernel_is_no_parameter():
    trace = replace(as_measured(run("naive", NAIVE)), schedule="void ns::kernel<8>")
    (one,) = calibrations({"a": trace})
    config = one.kernel.config
    assert config.schedule == "void ns::kernel<8>" and KernelConfig.parse(str(config)) == config


def test_what_cannot_be_fitted():
    with pytest.raises(TraceError, match="give at least one"):
        calibrate([])
    with pytest.raises(TraceError, match="two kernels"):
        calibrate([run("naive", NAIVE), run("persistent", PERSISTENT)])


@pytest.mark.skipif(not MEASURED, reason="no measured traces ship")
class TestShipped:
    def test_they_are_what_the_traces_say(self):
        fitted = calibrations({name: Trace.load(TRACES / name) for name in MEASURED})
        entries = {entry.names: entry for entry in shipped("h200")}
        assert set(entries) == {one.names for one in fitted}, "calibrate again: see default_costs.shipped"
        for one in fitted:
            entry = entries[one.names]
            assert entry == replace(one, costs=entry.costs)
            saved = asdict(entry.costs)
            for name, value in asdict(one.costs).items():
                near = value if isinstance(value, str | None) else pytest.approx(value, rel=1e-3, abs=1e-3)
                assert saved[name] == near, name

    def test_the_default_costs_are_those_of_the_same_kernel(self):
        def differ(name):
            trace = Trace.load(TRACES / name)
            (one,) = (entry for entry in shipped("h200") if name in entry.names)
            words = (trace.schedule, trace.problem, trace.device, trace.meta["kernel"])
            return default_costs(*words) != one.costs

        assert not [name for name in MEASURED if differ(name)]

    def test_persistent_wins_as_measured(self):
        """In the race, overlap is what wins, and the simulation says so."""
        names = (f"h200-{schedule}-4096x4096x512-grouped8.npz" for schedule in ("naive", "persistent"))
        (naive, naive_again), (other, other_again) = (repeated(Trace.load(TRACES / name)) for name in names)
        assert naive_again - other_again == pytest.approx(naive - other, rel=0.25)


@pytest.mark.parametrize("noted", ["soon", {"p50": None}, {"p50": -1}, {"p50": 1e30}, {}])
def test_notes_that_make_no_sense_are_no_notes(noted):
    meta = {"launch_ns": noted, "warps": "eight", "kernel": "seven", "stages": None}
    (one,) = calibrations({"t": replace(run("naive", NAIVE), meta=meta)})
    assert (one.costs.launch, one.costs.prologue) == (TURNAROUND_NS, 300)
    assert (one.kernel.config.warps, one.kernel.config.stages) == (0, 0)
