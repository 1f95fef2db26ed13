"""The clock: against a second engine that counts nanoseconds, with every knob turned; and by a hardware."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import costs, devices, planned, split_plans

from tilesim import Costs, Device, Problem, plan, simulate
from tilesim.costs import WHOLE
from tilesim.devices.hardware import Hardware
from tilesim.engine import run
from tilesim.errors import CostsError, PlanError
from tilesim.model.kstep import hardware_of, k_step_ns, load_times, slowest_k_step

NS = st.integers(0, 6)
FACTORS = st.lists(st.sampled_from([1.0, 1.25, 1.5, 2.0, 2.9, 3.0]), max_size=2)
SMALL = st.builds(
    Costs,
    k_step=st.integers(1, 9),
    launch=NS,
    prologue=NS,
    tile_gap=NS,
    epilogue=st.integers(0, 12),
    overlap=st.booleans(),
    mainloop_overhead=NS,
    epilogue_serialisation=st.integers(0, 12),
    epilogue_overlap_penalty=NS,
    partial=st.one_of(st.none(), NS),
    merge=NS,
    fixup=NS,
    coresidency=FACTORS.map(lambda rest: (1.0, *rest)),
    jitter=st.sampled_from([0.0, 0.5]),
)


def agree(made, problem, device, costs):
    """Both engines find the same of a plan, field by field, or that it waits forever, as its check says."""
    rows = made.rows
    work = ((rows["k1"] - rows["k0"]) * int(costs.k_step) + costs.mainloop_overhead).tolist()
    if costs.jitter:  # how that changes a main loop alone, tests of schedules show
        work = run.main_loop_ns(made, problem, costs, np.full(len(rows), costs.k_step), seed=0).tolist()
    try:
        expected = reference.play(made, device, costs, work)
    except reference.Stuck:
        for call in (run.run, lambda *_: made.check(problem, device.slots)):
            with pytest.raises(PlanError, match=r"^tile \d+ waits forever .*thread block \d+"):
                call(made, problem, device, costs)
        return
    made.check(problem, device.slots)
    spans = run.run(made, problem, device, costs)
    row_of = {(tile, k0): row for row, (tile, k0) in enumerate(rows[["tile", "k0"]].tolist())}
    found = {row_of[int(s["tile"]), int(s["k0"])]: s[list(reference.FIELDS)].item() for s in spans}
    assert found == expected


@settings(max_examples=200)
@given(planned(max_side=4, max_k_steps=4), devices(max_sms=3), SMALL)
def test_every_schedule_against_an_engine_that_counts_nanoseconds(case, device, costs):
    schedule, problem = case
    agree(plan(schedule, problem, device), problem, device, costs)


@settings(max_examples=300)
@given(split_plans(), devices(max_sms=3), SMALL)
def test_plans_that_split_tiles_anyhow_against_it(case, device, costs):
    problem, made = case
    agree(made, problem, device, costs)


@pytest.mark.parametrize("name", ["mainloop_overhead", "epilogue_overlap_penalty"])
def test_no_run_is_longer_than_it_can_be(name):
    """What main loops take beyond K-steps is slowed by residents, too."""
    problem, device = Problem(1, 4, 1, tile=(1, 1, 1)), Device(1, ctas_per_sm=2)
    costs = Costs(k_step=1, coresidency=(1.0, 50.0), epilogue=5000, overlap=True, **{name: 1000})
    for schedule in ("naive", "persistent"):
        most = run.longest(plan(schedule, problem, device), problem, device, costs, None)
        assert simulate(schedule, problem, device, costs).makespan <= most
    with pytest.raises(CostsError, match="with these costs the run could last"):
        simulate("persistent", problem, device, replace(costs, coresidency=(1.0, 1e4), **{name: 10**15}))


BY_HARDWARE = Costs(
    k_step=0, mainloop_overhead=90, launch=168, prologue=400, tile_gap=150, epilogue=900, overlap=True,
    epilogue_overlap_penalty=80, partial=300, merge=70, fixup=20, jitter=0.03, stages=3, device="h200",
)  # fmt: skip


@pytest.mark.parametrize("schedule", ["naive", "persistent-dynamic", "stream-k"])
@pytest.mark.parametrize("residents", [1, 2, 3])
def test_main_loops_of_a_hardware_advance_each_at_its_own_rate(schedule, residents):
    """Alone a main loop takes its K-steps alone, and beside others no less and no more than beside most."""
    costs = replace(BY_HARDWARE, jitter=0, mainloop_overhead=0, epilogue_overlap_penalty=0)
    problem = Problem(1024, 1280, 1000, tile=(128, 128, 64))
    device = Device(8, ctas_per_sm=residents)
    made = plan(schedule, problem, device)
    k_steps = k_step_ns(made, problem, device, costs)
    assert k_steps.shape == (residents, len(made.rows)) and (np.diff(k_steps, axis=0) >= 0).all()
    assert (run.slowdowns(k_steps, costs)[:, -1] == k_steps[-1] / k_steps[0]).all()
    spans = run.run(made, problem, device, costs)
    row_of = {(tile, k0): row for row, (tile, k0) in enumerate(made.rows[["tile", "k0"]].tolist())}
    rows = np.array([row_of[int(s["tile"]), int(s["k0"])] for s in spans])
    took, steps = spans["drain"] - spans["start"], spans["k1"] - spans["k0"]
    assert (took >= steps * k_steps[0, rows] - 1).all() and (took <= steps * k_steps[-1, rows] + 2).all()
    assert k_steps.max() <= slowest_k_step(problem, device, costs, hardware_of(costs, problem))
    if residents > 1 and schedule == "naive":
        assert took[0] > steps[0] * k_steps[0, rows[0]] + 2  # all slots were busy


@pytest.mark.parametrize("schedule", ["naive", "persistent", "persistent-dynamic"])
def test_thread_blocks_that_begin_together_have_their_first_loads_in_turn(schedule):
    """Slots follow one another as the hardware fills them, the prologue in the mean; later blocks do not."""
    problem, costs = Problem(2048, 4096, 512), replace(BY_HARDWARE, jitter=0)
    device = Device.named("h200")
    made = plan(schedule, problem, device)
    spans = simulate(schedule, problem, device, costs).spans
    begin = spans[spans["issue"] == 0]
    rank = {sm: number for number, sm in enumerate(device.filling)}
    late = (begin["start"] - costs.launch - costs.prologue)[np.argsort([rank[sm] for sm in begin["sm"]])]
    first = load_times(made, problem, device, costs, hardware_of(costs, problem))[1]
    assert len(late) == device.slots and (np.diff(late) >= 0).all() and first > 100
    assert late[-1] - late[0] == pytest.approx(first * (1 - 1 / device.slots), abs=2)
    assert late.mean() == pytest.approx(0, abs=1)
    if schedule == "naive":
        after = spans[spans["issue"] > 0]
        assert set(after["start"] - after["issue"]) == {costs.launch + costs.prologue}


def test_no_thread_block_multiplies_before_it_is_launched():
    costs = replace(BY_HARDWARE, prologue=10)
    spans = simulate("naive", Problem(2048, 4096, 512), Device.named("h200"), costs).spans
    assert (spans["start"] - spans["issue"]).min() == costs.launch


def test_whatever_parts_main_loops_parts_their_loads_alike():
    """Only how long it takes counts; an epilogue under the next main loop takes no time between the two."""
    problem, device = Problem(2048, 4096, 512, tile=(64, 64, 64)), Device(40)
    made, costs = plan("stream-k", problem, device), Costs(k_step=0, device="t4", stages=3)
    problem = replace(problem, dtype="fp16")

    def found(**gap):
        return k_step_ns(made, problem, device, replace(costs, **gap)).tolist()

    for gap in ({"mainloop_overhead": 70000}, {"epilogue": 70000}):
        assert found(**gap) == found(tile_gap=70000) != found()
    assert found(epilogue=70000, overlap=True) == found()


def test_equal_arguments_give_equal_bytes_and_the_seed_is_0_where_none_is_given():
    def simulated(*seed):
        device = Device.named("h200", ctas_per_sm=2)
        return simulate("stream-k", Problem(4000, 3000, 2000), device, BY_HARDWARE, *seed)

    unseeded, zero, one = simulated(), simulated(0), simulated(1)
    assert unseeded.spans.tobytes() == zero.spans.tobytes() != one.spans.tobytes()
    assert unseeded.meta == zero.meta and (zero.meta["seed"], one.meta["seed"]) == (0, 1)


def test_a_k_step_may_take_less_than_a_nanosecond_but_a_main_loop_does_not():
    assert simulate("naive", Problem(1, 1, 1), Device(1), Costs(k_step=1e-9)).makespan == 1
    assert simulate("naive", Problem(1, 1, 64 * 1000), Device(1), Costs(k_step=0.25)).makespan == 250


def test_edge_tiles_and_a_last_partial_k_step_cost_as_much_as_full_ones():
    full = simulate("naive", Problem(256, 256, 128, tile=(128, 128, 64)), Device(4))
    ragged = simulate("naive", Problem(129, 200, 65, tile=(128, 128, 64)), Device(4))
    assert full.spans.tolist() == ragged.spans.tolist()


def test_costs_that_do_not_fit_the_clock_are_refused():
    with pytest.raises(CostsError, match=r"the run could last 1.05e[+]21 ns; at most"):
        simulate("naive", Problem(1, 1, 2**20, tile=(1, 1, 1)), Device(1), Costs(k_step=1e15))
    assert simulate("naive", Problem(1, 1, 2**10, tile=(1, 1, 1)), Device(1), Costs(k_step=1e15)).makespan


TIMES = [name for name in WHOLE if name != "stages"]


@pytest.mark.parametrize("name", TIMES)
def test_every_time_of_a_segment_counts_towards_what_fits(name):
    """2^15 tiles of 1e15 ns do not fit int64 with a slot-time of 2^62 ns."""
    problem, device = Problem(1, 2**15, 2, tile=(1, 1, 1)), Device(2)
    for schedule in ("naive", "persistent", "split-k:2"):
        with pytest.raises(CostsError, match=r"the run could last \S+ ns; at most"):
            simulate(schedule, problem, device, Costs(**{name: 10**15}))


def test_the_longest_run_grows_with_every_cost():
    problem, device = Problem(1, 4, 1, tile=(1, 1, 1)), Device(1, ctas_per_sm=2)
    made, names = plan("naive", problem, device), [*TIMES, "k_step", "jitter"]
    some = Costs(**dict.fromkeys(names, 1), coresidency=(1.0, 1.5))

    def longest(**costs):
        return run.longest(made, problem, device, replace(some, **costs), None)

    grown = {name: longest(**{name: 2}) for name in names}
    grown["coresidency"] = longest(coresidency=(1.0, 3.0))
    assert not [name for name, ns in grown.items() if ns <= longest()]


@given(planned(), devices(), costs(), st.floats(-9, 18))
def test_what_fits_never_overflows(case, device, turned, magnitude):
    """Whatever K-steps take, main loops stay below what they were refused for."""
    schedule, problem = case
    turned = replace(turned, k_step=min(10.0**magnitude, 1e15))
    try:
        trace = simulate(schedule, problem, device, turned)
    except CostsError:
        return
    assert (np.diff([trace.spans[name] for name in ("start", "drain", "done")], axis=0) >= 0).all()
    assert (trace.spans["drain"] > trace.spans["start"]).all()


@given(planned(), devices(), st.sampled_from(["h200", "t4", "mi300x"]), st.integers(0, 7))
def test_no_k_step_of_a_hardware_is_longer_than_its_bound(case, device, name, stages):
    schedule, problem = case
    costs = Costs(k_step=0, device=name, stages=stages)
    try:
        hardware = Hardware.named(name, problem.dtype)
    except CostsError:
        return
    k_steps = k_step_ns(plan(schedule, problem, device), problem, device, costs)
    assert k_steps.max() <= slowest_k_step(problem, device, costs, hardware) * 1.001
