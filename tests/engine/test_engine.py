"""The clock: what each knob does, by hand and against a second engine that counts nanoseconds."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import costs, devices, planned, split_plans

from tilesim import Costs, Device, Plan, Problem, plan, simulate
from tilesim.costs import REAL, WHOLE
from tilesim.engine import run
from tilesim.errors import CostsError, PlanError
from tilesim.model import traffic
from tilesim.model.kstep import k_step_stretch
from tilesim.model.traffic import IN_FLIGHT
from tilesim.plans import segments

NS = st.integers(0, 6)
FACTORS = st.lists(st.sampled_from([1.0, 1.25, 1.5, 2.0, 2.9, 3.0]), max_size=2)
SMALL = st.builds(
    Costs,
    k_step=st.integers(1, 9),
    dispatch=NS,
    launch=NS,
    prologue=NS,
    handover=NS,
    epilogue=st.integers(0, 12),
    overlap=st.booleans(),
    ramp=NS,
    staging=NS,
    epilogue_serialisation=st.integers(0, 12),
    contention=NS,
    partial=st.one_of(st.none(), NS),
    merge=NS,
    fixup=NS,
    coresidency=FACTORS.map(lambda rest: (1.0, *rest)),
)


def times(trace, *names):
    return [tuple(int(span[name]) for name in names) for span in trace.spans]


def agree(made, problem, device, costs):
    """Both engines find the same of a plan, field by field, or that it waits for ever."""
    rows = made.rows
    work = ((rows["k1"] - rows["k0"]) * int(costs.k_step) + costs.ramp).tolist()
    try:
        expected = reference.play(made, device, costs, work)
    except reference.Stuck:
        with pytest.raises(PlanError, match="waits for ever"):
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


@pytest.mark.parametrize("factor", [1.0, 1.5, 2.0, 3.5])
def test_two_main_loops_advance_at_one_over_f_of_two(factor):
    trace = two_residents(10, Costs(k_step=100, coresidency=(1.0, factor)))
    assert times(trace, "start", "drain") == [(0, 1000 * factor)] * 2


def test_a_main_loop_speeds_up_when_its_neighbour_drains():
    # Block 1 starts 400 ns late: 400 of 1000 ns done alone, then both at half speed. At 400 + 1200 the first
    # is through and the second has 400 ns left, alone again.
    trace = two_residents(10, Costs(k_step=100, dispatch=400, coresidency=(1.0, 2.0)))
    assert times(trace, "start", "drain") == [(0, 1600), (400, 2000)]


def test_launch_and_epilogue_leave_the_sm_to_the_neighbour():
    costs = Costs(k_step=100, dispatch=1000, launch=300, epilogue=700, coresidency=(1.0, 9.0))
    trace = two_residents(10, costs)
    assert times(trace, "issue", "start", "drain", "done") == [
        (0, 300, 1300, 2000),
        (1000, 1300, 2300, 3000),
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


def test_a_block_that_is_alone_in_an_idle_device_is_relieved():
    """Five blocks on two SMs of two slots each: the last is alone, and three of four slots idle."""
    costs = Costs(k_step=100, coresidency=(1.0, 1.5), unloaded_latency=0.4)
    trace = simulate("naive", Problem(1, 5, 10, tile=(1, 1, 1)), Device(2, ctas_per_sm=2), costs)
    took = sorted((trace.spans["done"] - trace.spans["issue"]).tolist())
    assert took == [700, 1500, 1500, 1500, 1500]


def test_a_block_that_is_alone_waits_for_dram_unhidden():
    """The last of five: its row of A is in the cache, its column of B is not."""
    problem, device = Problem(128, 640, 256, tile=(128, 128, 64)), Device(2, ctas_per_sm=2)
    costs = Costs(k_step=1000, bandwidth=1e12, cache=10**9, sole_exposed_dram=0.4)
    stretch = k_step_stretch(plan("naive", problem, device), problem, device, costs)
    assert stretch == pytest.approx([1.0] * 4 + [1 + 0.4 * (1 - 0.5**IN_FLIGHT)])


@pytest.mark.parametrize(
    ("order", "expected"), [((0, 1, 0, 1), [1.0, 0.9, 1.0]), ((0, 0, 1, 1), [1.0, 1.0, 0.9])]
)
def test_alone_is_who_has_no_neighbour_where_the_hardware_puts_it(order, expected):
    """Three blocks for four slots: it depends on the order in which these are filled who is alone."""
    problem, costs = Problem(1, 3, 10, tile=(1, 1, 1)), Costs(k_step=100, unloaded_latency=0.4)
    device = Device(2, ctas_per_sm=2, sm_order=order)
    stretch = k_step_stretch(plan("naive", problem, device), problem, device, costs)
    assert stretch == pytest.approx(expected)
    trace = simulate("naive", problem, device, replace(costs, coresidency=(1.0, 1.5)))
    took = [1000 * share * (1.5 if share == 1 else 1) for share in expected]
    assert sorted((trace.spans["done"] - trace.spans["issue"]).tolist()) == sorted(took)


def test_alone_is_who_has_no_neighbour_in_pieces_of_several_k_steps(monkeypatch):
    """Five blocks on eight slots, one of which has a neighbour."""
    problem, costs = Problem(1, 5, 64, tile=(1, 1, 1)), Costs(k_step=100, unloaded_latency=0.8)
    device = Device(4, ctas_per_sm=2)
    made = plan("naive", problem, device)
    fine = k_step_stretch(made, problem, device, costs)
    assert fine == pytest.approx([1.0, 0.7, 0.7, 0.7, 1.0])
    monkeypatch.setattr(traffic, "MOST_PIECES", 32)
    assert k_step_stretch(made, problem, device, costs) == pytest.approx(fine)


@pytest.mark.parametrize("name", ["ramp", "contention"])
def test_no_run_is_longer_than_it_can_be(name):
    """What main loops take beyond K-steps is slowed by residents, too."""
    problem, device = Problem(1, 4, 1, tile=(1, 1, 1)), Device(1, ctas_per_sm=2)
    costs = Costs(k_step=1, coresidency=(1.0, 50.0), epilogue=5000, overlap=True, **{name: 1000})
    for schedule in ("naive", "persistent"):
        made = plan(schedule, problem, device)
        assert simulate(schedule, problem, device, costs).makespan <= run.longest(
            made, problem, device, costs
        )
    with pytest.raises(CostsError, match="with these costs the run could last"):
        simulate("persistent", problem, device, replace(costs, coresidency=(1.0, 1e4), **{name: 10**15}))


def test_the_longest_run_grows_with_every_cost():
    problem, device = Problem(1, 4, 1, tile=(1, 1, 1)), Device(1, ctas_per_sm=2)
    made = plan("naive", problem, device)
    others = {"bandwidth", "unloaded_latency", "clock_mhz"}
    names = [name for name in (*TIMES, *REAL) if name not in others]
    some = Costs(**dict.fromkeys(names, 1), bandwidth=0.5, cache=1, coresidency=(1.0, 1.5))

    def longest(problem=problem, **costs):
        return run.longest(made, problem, device, replace(some, **costs))

    assert longest(replace(problem, dtype="fp32")) > longest(replace(problem, dtype="bf16"))
    grown = {name: longest(**{name: 2}) for name in names}
    grown["bandwidth"], grown["coresidency"] = longest(bandwidth=0.25), longest(coresidency=(1.0, 3.0))
    assert not [name for name, ns in grown.items() if ns <= longest()]


def test_where_an_sm_has_one_slot_alone_is_the_rule():
    problem, costs = (
        Problem(1, 3, 10, tile=(1, 1, 1)),
        Costs(k_step=100, unloaded_latency=0.4, sole_exposed_dram=0.3),
    )
    assert simulate("naive", problem, Device(4), costs).makespan == 1000


def test_a_block_out_of_step_with_nobody_is_alone_with_the_cache():
    """One block on a device of ten SMs asks for a tenth of what all could."""
    costs = Costs(k_step=100, unshared_l2=0.4)
    assert simulate("naive", Problem(1, 1, 10, tile=(1, 1, 1)), Device(10), costs).makespan == 1040


def test_k_steps_take_longer_where_slots_load_nothing_together():
    """Two tiles of one row: side by side they share A; where one is half of K behind, nothing."""
    problem, device = Problem(128, 256, 512, tile=(128, 128, 64)), Device(2)
    straight = Plan(segments([0, 1], [0, 1], 0, 8), 2)
    skewed = Plan(segments([0, 1, 1], [0, 1, 1], [0, 4, 0], [8, 8, 4]), 2)
    for made, unshared in ((straight, 3 / 4), (skewed, 1.0)):
        stretch = k_step_stretch(made, problem, device, Costs(k_step=100, unshared_l2=0.4))
        assert stretch == pytest.approx([1 + 0.4 * unshared] * len(made.segments))


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
    costs = Costs(k_step=10, dispatch=5, launch=3, prologue=5, epilogue=30, epilogue_serialisation=20)
    trace = simulate("naive", problem, device, costs)
    assert times(trace, "issue", "start", "drain", "done") == [
        (0, 8, 48, 78),
        (5, 13, 53, 98),
        (78, 103, 143, 173),
    ]
    # What waits for partials is not writing yet: the tile beside it takes no turn after it.
    made = Plan(segments([0, 1, 2, 3, 3], [0, 0, 1, 2, 3], [0, 4, 0, 0, 0], [4, 8, 8, 8, 8]), 4)
    merged = replace(costs, dispatch=0, merge=1000)
    spans = run.run(made, Problem(1, 4, 8, tile=(1, 1, 1)), Device(2, ctas_per_sm=2), merged)
    whole = spans[spans["tile"] == 1]
    assert int(whole["done"][0] - whole["fixup"][0]) == 30
    alone = simulate("naive", problem, Device(1), costs)
    assert (
        alone.spans.tolist()
        == simulate("naive", problem, Device(1), replace(costs, epilogue_serialisation=0)).spans.tolist()
    )


def persistent_pair(overlap, epilogue=30):
    costs = Costs(k_step=10, launch=3, prologue=5, handover=2, epilogue=epilogue, overlap=overlap)
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


def test_a_ramp_is_paid_once_for_each_main_loop():
    costs = Costs(k_step=10, ramp=7)
    problem = Problem(1, 1, 4, tile=(1, 1, 1))
    assert times(simulate("naive", problem, Device(1), costs), "start", "drain") == [(0, 47)]
    assert times(simulate("split-k:2", problem, Device(2), costs), "start", "drain") == [(0, 27)] * 2


def test_a_ramp_is_shared_with_the_neighbour_as_k_steps_are():
    assert two_residents(10, Costs(k_step=100, ramp=500, coresidency=(1.0, 2.0))).makespan == 3000


def staged(epilogue, overlap=True):
    costs = Costs(k_step=10, handover=2, epilogue=epilogue, overlap=overlap, staging=9, contention=6)
    return simulate("persistent", Problem(1, 2, 4, tile=(1, 1, 1)), Device(1), costs)


def test_staging_holds_up_the_next_segment_and_the_epilogue_its_main_loop():
    assert times(staged(30), "issue", "start", "drain", "done") == [(0, 0, 40, 70), (40, 51, 97, 127)]


def test_an_epilogue_that_is_over_before_the_next_main_loop_does_not_disturb_it():
    assert times(staged(11), "issue", "start", "drain", "done") == [(0, 0, 40, 51), (40, 51, 91, 102)]
    assert times(staged(12), "issue", "start", "drain", "done") == [(0, 0, 40, 52), (40, 51, 97, 109)]


@pytest.mark.parametrize(("epilogue", "overlap"), [(0, True), (30, False)])
def test_nothing_is_staged_where_no_epilogue_is_overlapped(epilogue, overlap):
    assert times(staged(epilogue, overlap), "issue", "start", "drain", "done") == [
        (0, 0, 40, 40 + epilogue),
        (40 + epilogue, 42 + epilogue, 82 + epilogue, 82 + 2 * epilogue),
    ]


def test_the_next_block_of_a_slot_is_neither_staged_nor_disturbed():
    costs = Costs(k_step=10, epilogue=30, overlap=True, staging=9, contention=6)
    trace = simulate("naive", Problem(1, 2, 4, tile=(1, 1, 1)), Device(1), costs)
    assert times(trace, "issue", "start", "drain", "done") == [(0, 0, 40, 70), (70, 70, 110, 140)]


def handed_in(**costs):
    """Block 0 hands in two K-steps of tile 0 and goes on to tile 1; block 1 adds them to its one K-step."""
    problem = Problem(1, 2, 3, tile=(1, 1, 1))
    made = Plan(segments([0, 0, 1], [0, 1, 0], [0, 0, 2], [2, 3, 3]), 2)
    spans = run.run(made, problem, Device(2), Costs(k_step=10, handover=2, epilogue=30, **costs))
    names = ("issue", "start", "drain", "ready", "fixup", "done")
    rows = {(int(span["tile"]), int(span["k0"])): tuple(int(span[name]) for name in names) for span in spans}
    return rows[0, 0], rows[1, 0], rows[0, 2]


@pytest.mark.parametrize(
    ("costs", "partial", "later", "owner"),
    [
        # No cost of its own: a partial is written as a tile is, and the block goes on as it does then.
        ({}, (20, 50), (50, 52, 82), (50, 50, 80)),
        ({"overlap": True}, (20, 50), (20, 22, 52), (50, 50, 80)),
        ({"overlap": True, "staging": 4, "contention": 1}, (20, 50), (20, 26, 57), (50, 50, 80)),
        # One of its own: the block waits until the partial is stored, whether epilogues overlap or not.
        ({"partial": 13}, (20, 33), (33, 35, 65), (33, 33, 63)),
        ({"partial": 13, "overlap": True, "staging": 4, "contention": 1},
         (20, 33), (33, 35, 65), (33, 33, 63)),
        ({"partial": 0, "overlap": True, "staging": 4}, (20, 20), (20, 22, 52), (20, 20, 50)),
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


def memory(**costs):
    return {"cache": 10**9, **costs}


@pytest.mark.parametrize("bandwidth", [81.92, 163.84, 40.96])
def test_k_steps_wait_for_what_comes_from_dram(bandwidth):
    # 5 x 16384 bytes in 1000 ns are 81.92 a ns: as much as DRAM delivers, half of it, twice as much.
    costs = Costs(**memory(bandwidth=bandwidth))
    asked = 5 * 16384 / (bandwidth * 1000)
    found = k_step_stretch(plan("naive", WIDE, Device(4)), WIDE, Device(4), costs)
    assert found == pytest.approx((1 + asked**2) ** 0.5)
    makespan = simulate("naive", WIDE, Device(4), costs).makespan
    assert makespan == pytest.approx(4000 * (1 + asked**2) ** 0.5, abs=1)


def test_dram_that_delivers_much_leaves_k_steps_alone():
    costs = Costs(**memory(bandwidth=1e12, exposed_dram=0.0))
    assert simulate("naive", WIDE, Device(4), costs).makespan == 4000


def test_k_steps_with_operands_from_dram_take_longer_by_what_is_exposed():
    costs = Costs(**memory(bandwidth=1e12, exposed_dram=0.25))
    # Of eight loads at a time five come from DRAM, or three of four; then A is in the cache and B is not.
    l2_miss = [1 - (1 - share) ** IN_FLIGHT for share in (5 / 8, 3 / 4, 1 / 2)]
    assert simulate("naive", WIDE, Device(4), costs).makespan == round(4000 * (1 + 0.25 * l2_miss[0]))
    stretch = k_step_stretch(plan("naive", WIDE, Device(2)), WIDE, Device(2), costs)
    assert stretch == pytest.approx(
        [1 + 0.25 * share for share in (l2_miss[1], l2_miss[1], l2_miss[2], l2_miss[2])]
    )
    # Four tiles of two rows and two columns, one after another: the last finds both of its operands.
    square = Problem(256, 256, 256, tile=(128, 128, 64))
    stretch = k_step_stretch(plan("naive", square, Device(1)), square, Device(1), costs)
    assert stretch == pytest.approx([1.25, 1 + 0.25 * l2_miss[2], 1 + 0.25 * l2_miss[2], 1.0])


def test_a_queue_is_stretched_as_the_same_tiles_of_blocks():
    problem, device = Problem(1024, 4096, 512), Device(8)
    costs = Costs(bandwidth=200.0, cache=10**6, exposed_dram=0.1)
    made = [plan(name, problem, device) for name in ("naive", "persistent-dynamic")]
    found = [k_step_stretch(one, problem, device, costs) for one in made]
    assert (found[0] > 1.1).all()
    assert len(made[1].shared) == problem.tiles
    assert found[0].tolist() == pytest.approx(found[1].tolist(), rel=0.01)


@pytest.mark.parametrize("schedule", ["persistent", "stream-k"])
def test_whatever_parts_main_loops_parts_their_loads_alike(schedule):
    """Only how long it takes counts; an epilogue under the next main loop takes no time between the two."""
    problem, device = Problem(512, 1024, 512), Device(3)
    made = plan(schedule, problem, device)
    costs = Costs(k_step=100, bandwidth=400.0, cache=10**6, exposed_dram=0.2, unshared_l2=0.4)

    def found(**gap):
        return k_step_stretch(made, problem, device, replace(costs, **gap)).tolist()

    for gap in ({"ramp": 700}, {"epilogue": 700}, {"staging": 700, "overlap": True}):
        assert found(**gap) == found(handover=700) != found()
    assert found(epilogue=700, overlap=True) == found()


def test_residents_that_slow_each_other_down_ask_for_less_at_a_time():
    device = Device(2, ctas_per_sm=2)
    stretch = [
        k_step_stretch(
            plan("naive", WIDE, device), WIDE, device,
            Costs(**memory(bandwidth=81.92, coresidency=(1.0, f))),
        )
        for f in (1.0, 2.0)
    ]  # fmt: skip
    assert stretch[0] == pytest.approx(2**0.5)
    assert stretch[1] == pytest.approx((1 + 0.5**2) ** 0.5)


def test_equal_arguments_give_equal_bytes():
    costs = Costs(
        k_step=700, ramp=90, dispatch=3, launch=168, prologue=400, handover=150, epilogue=900, overlap=True,
        staging=120, contention=80, partial=300, merge=70, fixup=20, coresidency=(1.0, 1.3),
        bandwidth=3000.0, cache=24 * 10**6, exposed_dram=0.1, jitter=0.03,
    )  # fmt: skip
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


def test_the_dispatcher_keeps_its_interval_over_the_whole_device():
    trace = simulate("naive", Problem(1, 6, 1, tile=(1, 1, 1)), Device(4), Costs(k_step=100, dispatch=40))
    assert times(trace, "cta", "issue") == [(0, 0), (1, 40), (2, 80), (3, 120), (4, 160), (5, 200)]


def test_a_slot_is_taken_in_the_order_in_which_slots_free_up():
    trace = simulate("naive", Problem(1, 5, 1, tile=(1, 1, 1)), Device(2), Costs(k_step=100, dispatch=70))
    assert times(trace, "cta", "sm", "issue") == [
        (0, 0, 0),
        (1, 1, 70),
        (2, 0, 140),
        (3, 1, 210),
        (4, 0, 280),
    ]


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


TIMES = [name for name in WHOLE if name != "cache"]


@pytest.mark.parametrize("name", TIMES)
def test_every_time_of_a_segment_counts_towards_what_fits(name):
    """2^15 tiles of 1e15 ns do not fit int64 with a slot-time of 2^62 ns; of 1e11 ns they do."""
    problem, device = Problem(1, 2**15, 2, tile=(1, 1, 1)), Device(2)
    for schedule in ("naive", "persistent", "split-k:2"):
        with pytest.raises(CostsError, match=r"the run could last \S+ ns; at most"):
            simulate(schedule, problem, device, Costs(**{name: 10**15}))
        assert simulate(schedule, problem, device, Costs(**{name: 10**11})).makespan > 0


def test_slow_memory_counts_towards_what_fits():
    with pytest.raises(CostsError, match=r"the run could last \S+ ns; at most"):
        simulate("naive", WIDE, Device(4), Costs(bandwidth=1e-12, cache=1))
    with pytest.raises(CostsError, match=r"the run could last \S+ ns; at most"):
        simulate("naive", WIDE, Device(4), Costs(bandwidth=1e6, cache=1, exposed_dram=1e15))
    with pytest.raises(CostsError, match=r"the run could last inf ns; at most"):
        simulate("naive", WIDE, Device(4), Costs(bandwidth=5e-324, cache=1))


@given(planned(), devices(), costs(), st.floats(-9, 18))
def test_what_fits_never_overflows(case, device, turned, magnitude):
    """Whatever memory stretches, main loops stay below what they were refused for."""
    schedule, problem = case
    turned = replace(turned, cache=1, bandwidth=10.0**-magnitude)
    try:
        trace = simulate(schedule, problem, device, turned)
    except CostsError:
        return
    assert (np.diff([trace.spans[name] for name in ("start", "drain", "done")], axis=0) >= 0).all()
    assert (trace.spans["drain"] > trace.spans["start"]).all()


def test_ideal_costs_have_none_of_it():
    ideal = Costs.ideal()
    assert ideal == Costs(source=ideal.source)
    assert (ideal.bandwidth, ideal.partial) == (0, None)
    for name, makespan in {"naive": 16000, "persistent": 16000, "stream-k": 16000}.items():
        assert simulate(name, WIDE, Device(1), ideal).makespan == makespan
