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
    counts = draw(COUNTS)
    return timeline(draw(TIMES), *counts, groups=groups, producer=producer), counts[-1], groups


@given(timelines())
def test_what_holds_of_any_ring_of_stages(drawn):
    made, stages, groups = drawn
    steps = made.steps
    # A stage is filled when it is empty and multiplied when it is full, one K-step at a time, in order.
    assert (steps["full"] <= steps["multiply"]).all()
    assert (steps["load"][stages:] >= steps["empty"][:-stages]).all()
    assert (steps["multiply"][1:] >= steps["empty"][:-1]).all() and (np.diff(steps["tile"]) >= 0).all()
    # A group does one thing at a time.
    for group in range(groups):
        lane = made.consumers(group)
        assert all(a.end <= b.start for a, b in pairwise(lane))
        written = [phase.tile for phase in lane if phase.kind == "write"]
        assert written == list(range(group, len(made.writes), groups))
    # The producer's lane covers every flight, and nothing else.
    loads = made.loads()
    assert all(a.end < b.start for a, b in pairwise(loads))
    for load, full in steps[["load", "full"]].tolist():
        assert any(phase.start <= load <= full <= phase.end for phase in loads)
    assert {phase.start for phase in loads} <= set(steps["load"].tolist())
    assert {phase.end for phase in loads} <= set(steps["full"].tolist())


@given(TIMES, COUNTS)
def test_neither_a_producer_nor_another_stage_ever_loses(times, counts):
    made, (tiles, k_steps, stages) = timeline(times, *counts), counts
    multiplied = int((made.steps["empty"] - made.steps["multiply"]).sum())
    paused = sum(pause.end - pause.start for pause in made.pauses())
    assert multiplied + paused == made.steps["empty"][-1] - made.steps["multiply"][0]
    assert timeline(times, tiles, k_steps, stages + 1).makespan <= made.makespan
    alike = timeline(times, *counts, producer=False)
    assert (made.steps["full"] <= alike.steps["full"]).all() and made.makespan <= alike.makespan
    for _, _, start, end in alike.writes.tolist():
        assert not ((start < alike.steps["load"]) & (alike.steps["load"] < end)).any()


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
    lasted = (made.steps["empty"] - made.steps["multiply"]).reshape(tiles, k_steps).sum(axis=1)
    assert (lasted - k_steps * times.k_step).tolist() == [0] + [times.contention] * (tiles - 1)


def test_by_hand_one_stage_and_a_write():
    made = timeline(Times(latency=5, k_step=3, write=7), tiles=2, k_steps=2, stages=1)
    assert made.steps["load"].tolist() == [0, 8, 16, 26]
    assert made.steps["multiply"].tolist() == [5, 13, 23, 31]
    assert made.writes["end"].tolist() == [23, 41]
