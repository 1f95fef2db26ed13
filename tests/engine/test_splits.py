"""Plans that cut tiles along K, made by hand: the engine must play them as it is, and never hang."""

import numpy as np
import pytest
from hypothesis import given
from invariants import check_run
from strategies import costs, devices, split_plans

from tilesim import Costs, Device, Plan, Problem, Trace, plan, simulate
from tilesim.engine import run
from tilesim.errors import PlanError
from tilesim.plans import UNASSIGNED, segments


def play(plan, problem, device, costs, name="by hand"):
    plan.check(problem)
    spans = run.run(plan, problem, device, costs)
    check_run(plan, device, costs, spans)
    return Trace(problem, device, name, spans, meta={"launches": plan.ctas})


def row(trace, tile, k0):
    (found,) = trace.spans[(trace.spans["tile"] == tile) & (trace.spans["k0"] == k0)]
    return {name: int(found[name]) for name in ("issue", "start", "drain", "ready", "fixup", "done")}


def test_the_last_of_a_tile_waits_for_the_others_and_adds_them():
    # Two K-steps by block 0, one by block 1: block 1 is through first, waits until the partial is stored at
    # 2000 + 300, adds it in 70 and writes in 300.
    problem = Problem(1, 1, 3, tile=(1, 1, 1))
    made = Plan(segments([0, 1], 0, [0, 2], [2, 3]), 2)
    trace = play(made, problem, Device(2), Costs(epilogue=300, fixup=70))
    assert row(trace, 0, 0) == dict(issue=0, start=0, drain=2000, ready=2000, fixup=2000, done=2300)
    assert row(trace, 0, 2) == dict(issue=0, start=0, drain=1000, ready=2300, fixup=2370, done=2670)


def test_who_comes_last_does_not_wait():
    problem = Problem(1, 1, 3, tile=(1, 1, 1))
    made = Plan(segments([0, 1], 0, [0, 1], [1, 3]), 2)
    trace = play(made, problem, Device(2), Costs(epilogue=300, fixup=70))
    assert row(trace, 0, 1) == dict(issue=0, start=0, drain=2000, ready=2000, fixup=2070, done=2370)


def test_the_last_to_be_stored_is_not_always_the_last_to_be_drained():
    # Both SMs have two slots. Block 2 drains at 20 ns, and stores its part of tile 0 in turn after block 0,
    # which stores one of tile 1 until 60; block 1 drains at 30 and is done at 80; block 3 waits for both.
    problem = Problem(1, 2, 6, tile=(1, 1, 1))
    made = Plan(segments([0, 0, 1, 2, 3], [1, 1, 0, 0, 0], [0, 1, 2, 0, 5], [1, 6, 5, 2, 6]), 4)
    costs = Costs(k_step=10, epilogue=50, epilogue_serialisation=40)
    trace = play(made, problem, Device(2, ctas_per_sm=2), costs)
    assert [row(trace, 0, k0)["done"] for k0 in (0, 2)] == [100, 80]
    assert (row(trace, 0, 5)["drain"], row(trace, 0, 5)["ready"]) == (10, 100)


def test_each_foreign_partial_is_added_on_its_own():
    problem = Problem(1, 1, 4, tile=(1, 1, 1))
    trace = play(plan("split-k:4", problem, Device(4)), problem, Device(4), Costs(fixup=70))
    assert row(trace, 0, 3)["fixup"] - row(trace, 0, 3)["ready"] == 3 * 70


def test_a_block_that_waits_holds_its_slot_but_not_the_sm():
    # Block 1 waits from 1000 to 2000 beside block 0 on the same SM; block 0 has the SM to itself meanwhile.
    problem = Problem(1, 1, 3, tile=(1, 1, 1))
    made = Plan(segments([0, 1], 0, [0, 2], [2, 3]), 2)
    trace = play(made, problem, Device(1, ctas_per_sm=2), Costs(coresidency=(1.0, 2.0)))
    assert (row(trace, 0, 2)["drain"], row(trace, 0, 0)["drain"], row(trace, 0, 2)["ready"]) == (
        2000,
        3000,
        3000,
    )


@pytest.mark.parametrize(("overlap", "issued"), [(False, 2670), (True, 2370)])
def test_after_a_wait_the_next_segment_is_issued_when_the_accumulator_is_free(overlap, issued):
    problem = Problem(1, 2, 3, tile=(1, 1, 1))
    made = Plan(segments([0, 1, 1], [0, 0, 1], [0, 2, 0], [2, 3, 3]), 2)
    trace = play(made, problem, Device(2), Costs(epilogue=300, fixup=70, overlap=overlap))
    assert row(trace, 1, 0)["issue"] == issued


def test_a_block_may_come_back_to_a_tile_of_its_own():
    problem = Problem(1, 2, 4, tile=(1, 1, 1))
    made = Plan(segments(0, [0, 1, 0], [0, 0, 2], [2, 4, 4]), 1)
    assert play(made, problem, Device(1), Costs(fixup=10)).makespan == 8010


@given(split_plans(), devices(max_sms=3), costs(max_k_step=30))
def test_any_split_plan_runs_by_the_rules_or_is_refused(case, device, costs):
    problem, made = case
    made.check(problem)
    try:
        spans = run.run(made, problem, device, costs)
    except PlanError as error:
        assert "waits forever" in str(error)
        with pytest.raises(
            PlanError, match=r"^tile \d+ waits forever for thread block \d+, because such tiles"
        ):
            made.check(problem, device.slots)
        return
    made.check(problem, device.slots)
    check_run(made, device, costs, spans)
    Trace(problem, device, "by hand", spans)


@given(split_plans(), devices(max_sms=3))
def test_a_plan_without_a_queue_never_hangs(case, device):
    problem, made = case
    rows = np.concatenate([made.segments, made.shared])
    owned = Plan(segments(np.sort(rows["cta"] % made.ctas), rows["tile"], rows["k0"], rows["k1"]), made.ctas)
    play(owned, problem, device, Costs(epilogue=3))


def test_waiting_for_a_block_that_finds_no_slot_is_an_error():
    # Block 0 takes the tile's last K-step from the queue and waits for block 1, for which there is no slot.
    problem = Problem(1, 1, 2, tile=(1, 1, 1))
    made = Plan(segments([1], 0, 0, 1), 2, segments([UNASSIGNED], 0, 1, 2))
    made.check(problem)
    assert len(run.run(made, problem, Device(2), Costs.ideal())) == 2
    with pytest.raises(PlanError, match=r"tile 0 waits forever .* thread block 1 finds none"):
        run.run(made, problem, Device(1), Costs.ideal())


def test_a_plan_that_would_wait_for_ever_is_refused_before_it_runs(monkeypatch):
    def late(problem, device):
        return Plan(segments([2, 3], [1, 3], 0, 1), 4, segments(UNASSIGNED, [0, 1, 2, 3], [0, 1, 0, 1], 2))

    monkeypatch.setattr("tilesim.schedules.SCHEDULES", {"late": late})
    problem = Problem(1, 4, 2, tile=(1, 1, 1))
    # Two tiles wait for blocks 2 and 3: with three slots one is left for those, with two none.
    assert len(simulate("late", problem, Device(3)).spans) == 6
    with pytest.raises(PlanError, match=r"^tile 1 waits forever for thread block 2, .*\(2 in total\)$"):
        simulate("late", problem, Device(2))
