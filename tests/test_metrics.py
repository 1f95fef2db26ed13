"""Figures against lanes painted nanosecond by nanosecond, and SM cycles, which follow a clock that rises."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from recordings import recording
from strategies import traces

from tilesim import Costs, Device, Problem, Trace, metrics, plan, simulate
from tilesim.devices.hardware import Hardware
from tilesim.sm_cycles import at_clock, run_cycles
from tilesim.spans.columns import SPAN

NOTHING, WRITE, FIX_UP, WAIT, LAUNCH, HAND_OVER, MULTIPLY = range(7)


def lanes(trace, paint):
    """{(sm, slot): an int array of one cell per ns}, as `paint(lane, span)` leaves it span after span."""
    cells = {
        (sm, slot): np.zeros(trace.makespan, int)
        for sm in trace.device.free_sms
        for slot in range(trace.device.ctas_per_sm)
    }
    for span in trace.spans:
        paint(cells[int(span["sm"]), int(span["slot"])], span)
    return cells


def held(lane, span):
    lane[span["issue"] : span["done"]] = 1


def multiplied(lane, span):
    lane[span["start"] : span["drain"]] += 1


@given(traces())
def test_utilization_tail_and_busy_time(trace):
    holding, multiplying = lanes(trace, held), lanes(trace, multiplied)
    whole = len(holding) * trace.makespan
    assert trace.makespan == max(trace.spans["done"]) - min(trace.spans["issue"])
    assert trace.utilization == sum(int(lane.sum()) for lane in multiplying.values()) / whole
    assert trace.busy_share == sum(int(lane.sum()) for lane in holding.values()) / whole
    assert max(lane.max() for lane in multiplying.values()) == 1
    idle = [trace.makespan - int(lane.nonzero()[0].max(initial=-1)) - 1 for lane in holding.values()]
    assert metrics.tail(trace) == (max(idle), sum(idle))
    busy = [0] * trace.device.sms
    for (sm, _), lane in multiplying.items():
        busy[sm] += int(lane.sum())
    assert metrics.sm_busy(trace).tolist() == busy
    free = [busy[sm] for sm in trace.device.free_sms]
    assert metrics.imbalance(trace) == pytest.approx(max(free) / (sum(free) / len(free)))
    assert metrics.imbalance(trace) >= 1 - 1e-9


@given(traces())
def test_launches_waves_and_the_summary(trace):
    assert metrics.launches(trace) == plan(trace.schedule, trace.problem, trace.device).ctas
    _, first = np.unique(trace.spans["cta"], return_index=True)
    assert metrics.launch_time(trace) == (trace.spans["start"] - trace.spans["issue"])[first].sum()
    slots = (trace.device.sms - trace.device.busy_sms) * trace.device.ctas_per_sm
    assert (trace.waves - 1) * slots < len(trace.spans) <= trace.waves * slots
    assert isinstance(trace.waves, int)
    tail, tail_idle = metrics.tail(trace)
    summary = metrics.summary(trace)
    assert summary.items() >= {
        "makespan_ns": trace.makespan, "waves": trace.waves, "launches": metrics.launches(trace),
        "utilization": trace.utilization, "busy_share": trace.busy_share,
        "tail_ns": tail, "tail_idle_slot_ns": tail_idle, "sm_busy_ns": metrics.sm_busy(trace).tolist(),
    }.items()  # fmt: skip
    assert all(type(value) in (int, float, list) for value in summary.values())


@given(traces())
def test_breakdown_accounts_for_all_slot_time(trace):
    launched = set()

    def paint(lane, span):
        first = span["cta"] not in launched
        launched.add(span["cta"])
        for begin, end, mark in (
            ("fixup", "done", WRITE),
            ("ready", "fixup", FIX_UP),
            ("drain", "ready", WAIT),
            ("issue", "start", LAUNCH if first else HAND_OVER),
            ("start", "drain", MULTIPLY),
        ):
            cells = lane[span[begin] : span[end]]
            np.maximum(cells, mark, out=cells)

    cells = np.concatenate(list(lanes(trace, paint).values()))
    parts = metrics.breakdown(trace)
    assert sum(parts.values()) == trace.device.slots * trace.makespan
    for mark, part in enumerate(("write", "fix up", "wait", "launch", "hand over", "multiply"), start=1):
        assert parts[part] == (cells == mark).sum()


def test_launches_are_counted_even_where_a_block_found_nothing_to_do_and_each_is_paid_for():
    trace = simulate("persistent", Problem(1, 1, 1), Device(8))
    assert metrics.launches(trace) == 8
    bare = Trace(trace.problem, trace.device, "persistent", trace.spans)
    assert metrics.launches(bare) == 1
    problem, device, costs = Problem(1, 12, 1, tile=(1, 1, 1)), Device(4), Costs(launch=200, prologue=50)
    assert metrics.launch_time(simulate("naive", problem, device, costs)) == 12 * 250
    assert metrics.launch_time(simulate("persistent", problem, device, costs)) == 4 * 250


def test_a_launch_ends_as_costs_say_and_else_as_measured_before_the_first_multiply():
    def ends(**costs):
        trace = simulate("persistent", Problem(256, 128, 64), Device(1), Costs(prologue=500, **costs))
        assert metrics.run(trace) == trace.makespan - 500 - costs["launch"]
        bare = replace(trace, meta={"costs": {"launch": -1}})
        return [(metrics.launch_end(each) - each.spans["issue"]).tolist() for each in (trace, bare)]

    assert ends(launch=200) == [[200, 0], [metrics.TURNAROUND_NS, 0]]
    assert ends(launch=0)[0] == [0, 0]


def test_long_runs_on_large_devices_do_not_overflow():
    rows = np.zeros(2, SPAN)
    rows["tile"], rows["k1"], rows["cta"], rows["sm"] = [0, 1], 1, [0, 1], [0, 65535]
    for name in ("drain", "ready", "fixup", "done"):
        rows[name] = 2**45
    device = Device(65536)
    trace = Trace(Problem(1, 2, 1, tile=(1, 1, 1)), device, "by hand", rows)
    assert trace.busy_share == trace.utilization == 2 / 65536


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
    run = recording(f"naive-{shape}-grouped8", "held_out")
    problem, late = run.problem, np.argsort(run.spans["start"])[run.device.slots :]
    least = Hardware.named("h200", problem.dtype)
    floor = least.peak_ns(problem) * least.clock_mhz / 1000 * problem.k_steps
    last = run.spans[late]
    assert last["cycles"].min() >= floor
    assert ((last["drain"] - last["start"]) * run.meta["sm_mhz"] / 1000).min() < floor
