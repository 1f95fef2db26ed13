"""The clock: what each knob does, by hand and against a second engine that counts nanoseconds."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import costs, devices, planned, split_plans

from tilesim import Costs, Device, Plan, Problem, plan, simulate
from tilesim.costs import WHOLE
from tilesim.devices.hardware import Hardware
from tilesim.engine import run
from tilesim.errors import CostsError, PlanError
from tilesim.model.kstep import hardware_of, k_step_ns, load_times, slowest_k_step
from tilesim.plans import segments

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
)


def times(trace, *names):
    return [tuple(int(span[name]) for name in names) for span in trace.spans]


def agree(made, problem, device, costs):
    """Both engines find the same of a plan, field by field, or that it waits forever."""
    rows = made.rows
    work = ((rows["k1"] - rows["k0"]) * int(costs.k_step) + costs.mainloop_overhead).tolist()
    try:
        expected = reference.play(made, device, costs, work)
    except reference.Stuck:
        with pytest.raises(PlanError, match="waits forever"):
            run.run(made, problem, device, costs)
        return
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


def two_residents(k, costs):
    """Two tiles of `k` K-steps at once on one SM with two slots."""
    return simulate("naive", Problem(1, 2, k, tile=(1, 1, 1)), Device(1, ctas_per_sm=2), costs)


def uneven(cut, costs):
    """Two blocks on an SM: one has `cut` of a tile's 10 K-steps and then a tile, the other the rest."""
    made = Plan(segments([0, 0, 1], [0, 1, 0], [0, 0, cut], [cut, 10, 10]), 2)
    problem = Problem(1, 2, 10, tile=(1, 1, 1))
    return simulate(lambda problem, device: made, problem, Device(1, ctas_per_sm=2), costs)


@pytest.mark.parametrize("factor", [1.0, 1.5, 2.0, 3.5])
def test_two_main_loops_advance_at_one_over_f_of_two(factor):
    trace = two_residents(10, Costs(k_step=100, coresidency=(1.0, factor)))
    assert times(trace, "start", "drain") == [(0, 1000 * factor)] * 2


def test_a_main_loop_speeds_up_when_its_neighbour_drains():
    # Both at half speed: at 800 the first is through its 4 K-steps, and the second has 2 of 6 left, alone.
    costs = Costs(k_step=100, tile_gap=1000, coresidency=(1.0, 2.0))
    assert times(uneven(4, costs), "start", "drain") == [(0, 800), (0, 1000), (1800, 2800)]


def test_launch_and_epilogue_leave_the_sm_to_the_neighbour():
    # Beside each other until 2100. Then one writes while the other has 6 K-steps left.
    costs = Costs(k_step=100, launch=300, epilogue=700, coresidency=(1.0, 9.0))
    assert times(uneven(2, costs), "issue", "start", "drain", "done") == [
        (0, 300, 2100, 2800),
        (0, 300, 2700, 3500),
        (2800, 2800, 3800, 4500),
    ]


@pytest.mark.parametrize(
    ("residents", "shares", "f"),
    [(1, (1.0, 2.0), 1.0), (3, (1.0, 2.0, 4.0), 4.0), (3, (1.0, 2.0), 2.0), (4, (1.0,), 1.0)],
)
def test_the_last_factor_holds_for_more_residents(residents, shares, f):
    costs = Costs(k_step=100, coresidency=shares)
    assert costs.slowdown(residents) == f
    problem, device = Problem(1, residents, 10, tile=(1, 1, 1)), Device(1, ctas_per_sm=residents)
    assert simulate("naive", problem, device, costs).makespan == 1000 * f


@pytest.mark.parametrize("name", ["mainloop_overhead", "epilogue_overlap_penalty"])
def test_no_run_is_longer_than_it_can_be(name):
    """What main loops take beyond K-steps is slowed by residents, too."""
    problem, device = Problem(1, 4, 1, tile=(1, 1, 1)), Device(1, ctas_per_sm=2)
    costs = Costs(k_step=1, coresidency=(1.0, 50.0), epilogue=5000, overlap=True, **{name: 1000})
    for schedule in ("naive", "persistent"):
        made = plan(schedule, problem, device)
        assert simulate(schedule, problem, device, costs).makespan <= run.longest(
            made, problem, device, costs, None
        )
    with pytest.raises(CostsError, match="with these costs the run could last"):
        simulate("persistent", problem, device, replace(costs, coresidency=(1.0, 1e4), **{name: 10**15}))


def test_residents_of_different_sms_do_not_share():
    problem, costs = Problem(1, 2, 10, tile=(1, 1, 1)), Costs(k_step=100, coresidency=(1.0, 5.0))
    assert simulate("naive", problem, Device(2, ctas_per_sm=2), costs).makespan == 1000


def test_a_block_goes_through_all_its_steps():
    costs = Costs(k_step=10, launch=3, prologue=5, epilogue=7)
    trace = simulate("naive", Problem(1, 2, 4, tile=(1, 1, 1)), Device(1), costs)
    assert times(trace, "issue", "start", "drain", "ready", "fixup", "done") == [
        (0, 8, 48, 48, 48, 55),
        (55, 63, 103, 103, 103, 110),
    ]


def test_residents_write_in_turn():
    """The second begins under the first's epilogue, is done 20 ns after it, and so is the third, issued then.

    It loads when the SM has written: 10 ns of the launch are over by then.
    """
    problem, device = Problem(1, 3, 4, tile=(1, 1, 1)), Device(1, ctas_per_sm=2)
    costs = Costs(k_step=10, launch=3, prologue=5, epilogue=30, epilogue_serialisation=20)
    trace = simulate("naive", problem, device, costs)
    assert times(trace, "issue", "start", "drain", "done") == [
        (0, 8, 48, 78),
        (0, 8, 48, 98),
        (78, 103, 143, 173),
    ]
    # What waits for partials is not writing yet: the tile beside it takes no turn after it.
    made = Plan(segments([0, 1, 2, 3, 3], [0, 0, 1, 2, 3], [0, 4, 0, 0, 0], [4, 8, 8, 8, 8]), 4)
    merged = replace(costs, merge=1000)
    spans = run.run(made, Problem(1, 4, 8, tile=(1, 1, 1)), Device(2, ctas_per_sm=2), merged)
    whole = spans[spans["tile"] == 1]
    assert int(whole["done"][0] - whole["fixup"][0]) == 30
    alone = simulate("naive", problem, Device(1), costs)
    assert (
        alone.spans.tolist()
        == simulate("naive", problem, Device(1), replace(costs, epilogue_serialisation=0)).spans.tolist()
    )


def persistent_pair(overlap, epilogue=30):
    costs = Costs(k_step=10, launch=3, prologue=5, tile_gap=2, epilogue=epilogue, overlap=overlap)
    return simulate("persistent", Problem(1, 2, 4, tile=(1, 1, 1)), Device(1), costs)


def test_without_overlap_the_next_segment_is_issued_at_done():
    assert times(persistent_pair(False), "issue", "start", "drain", "done") == [
        (0, 8, 48, 78),
        (78, 80, 120, 150),
    ]


def test_with_overlap_the_next_segment_is_issued_at_drain():
    assert times(persistent_pair(True), "issue", "start", "drain", "done") == [
        (0, 8, 48, 78),
        (48, 50, 90, 120),
    ]


def test_an_overhead_is_paid_once_for_each_main_loop():
    costs = Costs(k_step=10, mainloop_overhead=7)
    problem = Problem(1, 1, 4, tile=(1, 1, 1))
    assert times(simulate("naive", problem, Device(1), costs), "start", "drain") == [(0, 47)]
    assert times(simulate("split-k:2", problem, Device(2), costs), "start", "drain") == [(0, 27)] * 2


def test_an_overhead_is_shared_with_the_neighbour_as_k_steps_are():
    assert (
        two_residents(10, Costs(k_step=100, mainloop_overhead=500, coresidency=(1.0, 2.0))).makespan == 3000
    )


def disturbed(epilogue):
    costs = Costs(k_step=10, tile_gap=11, epilogue=epilogue, overlap=True, epilogue_overlap_penalty=6)
    return simulate("persistent", Problem(1, 2, 4, tile=(1, 1, 1)), Device(1), costs)


def test_an_epilogue_holds_up_the_main_loop_that_it_runs_under():
    assert times(disturbed(30), "issue", "start", "drain", "done") == [(0, 0, 40, 70), (40, 51, 97, 127)]


def test_an_epilogue_that_is_over_before_the_next_main_loop_does_not_disturb_it():
    assert times(disturbed(11), "issue", "start", "drain", "done") == [(0, 0, 40, 51), (40, 51, 91, 102)]
    assert times(disturbed(12), "issue", "start", "drain", "done") == [(0, 0, 40, 52), (40, 51, 97, 109)]


def test_the_next_block_of_a_slot_is_not_disturbed():
    costs = Costs(k_step=10, epilogue=30, overlap=True, epilogue_overlap_penalty=6)
    trace = simulate("naive", Problem(1, 2, 4, tile=(1, 1, 1)), Device(1), costs)
    assert times(trace, "issue", "start", "drain", "done") == [(0, 0, 40, 70), (70, 70, 110, 140)]


def handed_in(**costs):
    """Block 0 hands in two K-steps of tile 0 and goes on to tile 1; block 1 adds them to its one K-step."""
    problem = Problem(1, 2, 3, tile=(1, 1, 1))
    made = Plan(segments([0, 0, 1], [0, 1, 0], [0, 0, 2], [2, 3, 3]), 2)
    spans = run.run(made, problem, Device(2), Costs(k_step=10, tile_gap=2, epilogue=30, **costs))
    names = ("issue", "start", "drain", "ready", "fixup", "done")
    rows = {(int(span["tile"]), int(span["k0"])): tuple(int(span[name]) for name in names) for span in spans}
    return rows[0, 0], rows[1, 0], rows[0, 2]


@pytest.mark.parametrize(
    ("costs", "partial", "later", "owner"),
    [
        # No cost of its own: a partial is written as a tile is, and the block goes on as it does then.
        ({}, (20, 50), (50, 52, 82), (50, 50, 80)),
        ({"overlap": True}, (20, 50), (20, 22, 52), (50, 50, 80)),
        ({"overlap": True, "epilogue_overlap_penalty": 1}, (20, 50), (20, 22, 53), (50, 50, 80)),
        # One of its own: the block waits until the partial is stored, whether epilogues overlap or not.
        ({"partial": 13}, (20, 33), (33, 35, 65), (33, 33, 63)),
        ({"partial": 13, "overlap": True, "epilogue_overlap_penalty": 1},
         (20, 33), (33, 35, 65), (33, 33, 63)),
        ({"partial": 0, "overlap": True}, (20, 20), (20, 22, 52), (20, 20, 50)),
        # Then they are merged, once, and each is added.
        ({"partial": 13, "merge": 5, "fixup": 3}, (20, 33), (33, 35, 65), (33, 41, 71)),
    ],
)  # fmt: skip
def test_partials(costs, partial, later, owner):
    first, then, last = handed_in(**costs)
    (drain, ready, fixup, done), whole = first[2:], then[2:]
    assert (drain, done) == partial
    assert ready == fixup == drain
    assert (then[0], then[1], whole[0]) == later
    assert whole[1] == whole[2] == whole[0]
    assert last[:3] == (0, 0, 10)
    assert last[3:] == owner


def test_a_merge_is_paid_once_and_a_fix_up_for_each_partial():
    problem, costs = Problem(1, 1, 4, tile=(1, 1, 1)), Costs(k_step=10, merge=100, fixup=7)
    (owner,) = (row for row in simulate("split-k:4", problem, Device(4), costs).spans if row["k0"] == 3)
    assert owner["fixup"] - owner["ready"] == 100 + 3 * 7
    whole = simulate("naive", problem, Device(4), costs).spans
    assert (whole["fixup"] == whole["ready"]).all()


WIDE = Problem(128, 512, 256, tile=(128, 128, 64))
"""Four tiles in a row, of 4 K-steps: a K-step of all loads one piece of A and four of B, of 16 KiB each."""


BY_HARDWARE = Costs(
    k_step=0, mainloop_overhead=90, launch=168, prologue=400, tile_gap=150, epilogue=900, overlap=True,
    epilogue_overlap_penalty=80, partial=300, merge=70, fixup=20, jitter=0.03, stages=3, device="h200",
)  # fmt: skip


@pytest.mark.parametrize("schedule", ["naive", "persistent-dynamic", "stream-k"])
@pytest.mark.parametrize("residents", [1, 2, 3])
def test_main_loops_of_a_hardware_advance_each_at_its_own_rate(schedule, residents):
    """Alone a main loop takes its K-steps alone, and beside others no less and no more than beside most."""
    problem, costs = (
        Problem(1024, 1280, 1000),
        replace(BY_HARDWARE, jitter=0, mainloop_overhead=0, epilogue_overlap_penalty=0),
    )
    device = Device(8, ctas_per_sm=residents)
    made = plan(schedule, problem, device)
    k_steps = k_step_ns(made, problem, device, costs)
    assert k_steps.shape == (residents, len(made.rows)) and (np.diff(k_steps, axis=0) >= 0).all()
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


def test_equal_arguments_give_equal_bytes():
    costs = BY_HARDWARE
    device = Device.named("h200", ctas_per_sm=2)
    runs = [simulate("stream-k", Problem(4000, 3000, 2000), device, costs, seed=5) for _ in range(2)]
    assert runs[0].spans.tobytes() == runs[1].spans.tobytes()
    assert runs[0].meta == runs[1].meta
    other = simulate("stream-k", Problem(4000, 3000, 2000), device, costs, seed=6)
    assert other.spans.tobytes() != runs[0].spans.tobytes()


def test_the_seed_is_0_where_none_is_given():
    problem, device, noisy = Problem(512, 512, 256), Device(4), Costs(jitter=0.1)
    made = plan("naive", problem, device)
    assert (
        run.run(made, problem, device, noisy).tobytes() == run.run(made, problem, device, noisy, 0).tobytes()
    )
    assert simulate("naive", problem, device, noisy).meta["seed"] == 0


def test_a_block_does_not_leave_before_its_overlapped_epilogue_is_done():
    costs = Costs(k_step=10, epilogue=500, overlap=True)
    trace = simulate("naive", Problem(1, 2, 1, tile=(1, 1, 1)), Device(1), costs)
    assert times(trace, "issue", "done") == [(0, 510), (510, 1020)]


def test_a_slot_is_taken_in_the_order_in_which_slots_free_up():
    """Blocks 0 and 1 have one and two of a tile's three K-steps, the others a tile each."""
    made = Plan(segments(range(5), [0, 0, 1, 2, 3], [0, 1, 0, 0, 0], [1, 3, 3, 3, 3]), 5)
    problem = Problem(1, 4, 3, tile=(1, 1, 1))
    trace = simulate(lambda problem, device: made, problem, Device(2), Costs(k_step=100))
    assert times(trace, "cta", "sm", "issue") == [(0, 0, 0), (1, 1, 0), (2, 0, 100), (3, 1, 200), (4, 0, 400)]


def test_ties_go_by_the_devices_sm_order_place_by_place():
    device = Device(3, ctas_per_sm=2, sm_order=(2, 0, 1))
    trace = simulate("naive", Problem(1, 8, 1, tile=(1, 1, 1)), device, Costs.ideal())
    placed = sorted(times(trace, "cta", "sm", "slot"))
    assert [place[1:] for place in placed] == [(2, 0), (0, 0), (1, 0), (2, 1), (0, 1), (1, 1), (2, 0), (0, 0)]


def test_busy_sms_get_no_work():
    device = Device(4, busy_sms=2, sm_order=(3, 1, 0, 2))
    trace = simulate("naive", Problem(1, 8, 1, tile=(1, 1, 1)), device, Costs.ideal())
    assert set(trace.spans["sm"].tolist()) == {0, 2}
    assert trace.makespan == 4000


def test_a_block_without_work_costs_its_launch():
    # 3 CTAs for 1 tile on 1 free SM: the surplus of a persistent kernel leaves no span.
    trace = simulate("persistent", Problem(1, 1, 1), Device(3, busy_sms=2), Costs(k_step=10, launch=5))
    assert times(trace, "cta", "issue", "done") == [(0, 0, 15)]
    assert trace.meta["launches"] == 3


def test_the_queue_goes_to_the_block_that_is_free_first():
    # Tiles of unlike cost by jitter: whoever drains first takes the next of the queue.
    problem, costs = Problem(1, 40, 1, tile=(1, 1, 1)), Costs(jitter=0.3)
    spans = simulate("persistent-dynamic", problem, Device(3), costs, seed=1).spans
    free = dict.fromkeys(range(3), 0)
    for span in spans[np.argsort(spans["tile"])]:
        assert span["issue"] == min(free.values())
        free[int(span["cta"])] = int(span["done"])


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


TIMES = [name for name in WHOLE if name != "stages"]


@pytest.mark.parametrize("name", TIMES)
def test_every_time_of_a_segment_counts_towards_what_fits(name):
    """2^15 tiles of 1e15 ns do not fit int64 with a slot-time of 2^62 ns; of 1e11 ns they do."""
    problem, device = Problem(1, 2**15, 2, tile=(1, 1, 1)), Device(2)
    for schedule in ("naive", "persistent", "split-k:2"):
        with pytest.raises(CostsError, match=r"the run could last \S+ ns; at most"):
            simulate(schedule, problem, device, Costs(**{name: 10**15}))
        assert simulate(schedule, problem, device, Costs(**{name: 10**11})).makespan > 0


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
    made = plan(schedule, problem, device)
    assert (
        k_step_ns(made, problem, device, costs) <= slowest_k_step(problem, device, costs, hardware) * 1.001
    ).all()


def test_ideal_costs_have_none_of_it():
    ideal = Costs.ideal()
    assert ideal == Costs(source=ideal.source)
    assert (ideal.hardware, ideal.partial) == ("", None)
    for name, makespan in {"naive": 16000, "persistent": 16000, "stream-k": 16000}.items():
        assert simulate(name, WIDE, Device(1), ideal).makespan == makespan
