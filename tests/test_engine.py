"""The clock: what each knob does, by hand and against a second engine that counts nanoseconds."""

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import devices, planned

from tilesim import Costs, Device, Problem, engine, plan, simulate
from tilesim.errors import CostsError

FIELDS = ["cta", "sm", "slot", "issue", "start", "drain", "done"]
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
    coresidency=FACTORS.map(lambda rest: (1.0, *rest)),
)


def times(trace, *names):
    return [tuple(int(span[name]) for name in names) for span in trace.spans]


@settings(max_examples=200)
@given(planned(max_side=4, max_k_steps=4), devices(max_sms=3), SMALL)
def test_against_an_engine_that_counts_nanoseconds(case, device, costs):
    schedule, problem = case
    made = plan(schedule, problem, device)
    rows = np.concatenate([made.segments, made.shared])
    if len(np.unique(rows["tile"])) < len(rows):
        return  # the second engine knows no split tiles
    work = ((rows["k1"] - rows["k0"]) * int(costs.k_step)).tolist()
    expected = reference.play(made, device, costs, work)
    spans = engine.run(made, problem, device, costs)
    assert {row: tuple(spans[FIELDS][row].tolist()) for row in range(len(rows))} == expected


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
    trace = simulate("naive", Problem(1, 8, 1, tile=(1, 1, 1)), device)
    placed = sorted(times(trace, "cta", "sm", "slot"))
    assert [place[1:] for place in placed] == [(2, 0), (0, 0), (1, 0), (2, 1), (0, 1), (1, 1), (2, 0), (0, 0)]


def test_busy_sms_get_no_work():
    device = Device(4, busy_sms=2, sm_order=(3, 1, 0, 2))
    trace = simulate("naive", Problem(1, 8, 1, tile=(1, 1, 1)), device)
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
