"""Plans whose tiles wait for thread blocks that never start are refused; the engine hangs at none."""

import pytest

from tilesim import Costs, Device, Plan, Problem, simulate
from tilesim.engine import run
from tilesim.errors import PlanError
from tilesim.plans import UNASSIGNED, segments


def test_waiting_for_a_block_that_finds_no_slot_is_an_error():
    # Block 0 takes tile 1's last K-step from the queue and waits for block 1, for which there is no slot.
    # Tile 0 lacks a partial as well, but no thread block waits for that.
    problem = Problem(1, 2, 2, tile=(1, 1, 1))
    queue = segments([UNASSIGNED], 1, 1, 2)
    made = Plan(segments([1, 1, 2], [1, 0, 0], [0, 0, 1], [1, 1, 2]), 3, queue)
    made.check(problem)
    assert len(run.run(made, problem, Device(2), Costs.ideal())) == 4
    with pytest.raises(PlanError, match=r"tile 1 waits forever .* thread block 1 finds none"):
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
    two = Plan(segments([2, 3], [0, 1], 0, 1), 4, segments(UNASSIGNED, [0, 1], 1, 2))
    with pytest.raises(PlanError, match="tile 0 waits forever"):
        two.check(Problem(1, 2, 2, tile=(1, 1, 1)), slots=2)
