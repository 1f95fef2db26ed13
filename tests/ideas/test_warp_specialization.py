"""Warp specialisation: what holds of any ring of stages, with a producer and without, and of groups."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tilesim.ideas.warp_specialization import Times, timeline

NS = st.integers(0, 5000)
TIMES = st.builds(Times, latency=NS, k_step=st.integers(1, 2000), write=NS, interval=NS, contention=NS)
COUNTS = st.tuples(st.integers(1, 9), st.integers(1, 12), st.integers(1, 6))


@st.composite
def timelines(draw):
    groups = draw(st.integers(1, 3))
    producer = groups > 1 or draw(st.booleans())
    return timeline(draw(TIMES), *draw(COUNTS), groups=groups, producer=producer)


@given(timelines())
def test_a_stage_is_filled_when_empty_and_multiplied_when_full(made):
    steps = made.steps
    assert (steps["full"] <= steps["multiply"]).all()
    assert (steps["load"][made.stages :] >= steps["empty"][: -made.stages]).all()


@given(timelines())
def test_the_tensor_cores_multiply_one_k_step_at_a_time_in_order(made):
    steps = made.steps
    assert (steps["multiply"][1:] >= steps["empty"][:-1]).all()
    assert (np.diff(steps["tile"]) >= 0).all()


@given(timelines())
def test_a_group_does_one_thing_at_a_time_and_leaves_no_moment_out(made):
    for group in range(made.groups):
        lane = made.consumers(group)
        assert all(a.end == b.start for a, b in pairwise(lane))
        assert [phase.tile for phase in lane if phase.kind == "write"] == list(
            range(group, len(made.writes), made.groups)
        )


@given(timelines())
def test_the_producers_lane_covers_every_flight_and_waits_only_between_them(made):
    loads = [phase for phase in made.loads() if phase.kind == "load"]
    waits = [phase for phase in made.loads() if phase.kind == "wait"]
    for load, full in made.steps[["load", "full"]].tolist():
        assert any(phase.start <= load <= full <= phase.end for phase in loads)
        assert not any(wait.start < load < wait.end for wait in waits)


@given(TIMES, COUNTS)
def test_pauses_and_multiplications_fill_the_time_between_first_and_last(times, counts):
    made = timeline(times, *counts)
    multiplied = int((made.steps["empty"] - made.steps["multiply"]).sum())
    paused = sum(pause.end - pause.start for pause in made.pauses())
    assert multiplied + paused == made.steps["empty"][-1] - made.steps["multiply"][0]


@given(TIMES, COUNTS)
def test_a_producer_never_loses(times, counts):
    alike = timeline(times, *counts, producer=False)
    specialised = timeline(times, *counts)
    assert (specialised.steps["full"] <= alike.steps["full"]).all()
    assert specialised.makespan <= alike.makespan


@given(TIMES, COUNTS)
def test_another_stage_never_loses(times, counts):
    tiles, k_steps, stages = counts
    assert timeline(times, tiles, k_steps, stages + 1).makespan <= timeline(times, *counts).makespan


@given(TIMES, COUNTS)
def test_without_a_producer_nothing_is_asked_for_during_a_write(times, counts):
    made = timeline(times, *counts, producer=False)
    for _, _, start, end in made.writes.tolist():
        assert not ((start < made.steps["load"]) & (made.steps["load"] < end)).any()


@given(COUNTS, st.integers(1, 2000), NS)
def test_two_groups_close_every_pause_that_a_main_loop_covers(counts, k_step, write):
    """Loads that take no time, and a write no longer than the other group's main loop."""
    tiles, k_steps, stages = counts
    times = Times(latency=0, k_step=k_step, write=min(write, k_steps * k_step))
    made = timeline(times, tiles, k_steps, stages, groups=2)
    assert not made.pauses()
    assert made.makespan == tiles * k_steps * k_step + times.write


@given(TIMES, COUNTS)
def test_contention_lengthens_each_main_loop_but_the_first_by_itself(times, counts):
    tiles, k_steps, stages = counts
    made = timeline(times, tiles, k_steps, stages, groups=2)
    lasted = (made.steps["empty"] - made.steps["multiply"]).reshape(tiles, k_steps).sum(
        1
    ) - k_steps * times.k_step
    assert lasted.tolist() == [0] + [times.contention] * (tiles - 1)


def test_by_hand_one_stage_and_a_write():
    made = timeline(Times(latency=5, k_step=3, write=7), tiles=2, k_steps=2, stages=1)
    assert made.steps["load"].tolist() == [0, 8, 16, 26]
    assert made.steps["multiply"].tolist() == [5, 13, 23, 31]
    assert made.writes["end"].tolist() == [23, 41]
