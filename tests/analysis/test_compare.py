"""Comparison of two runs: hand-made traces whose answer is known, and what must hold for any two."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st
from refusals import refused

from tilesim import Device, Problem, Trace, simulate
from tilesim.analysis.compare import Pair, compare, kendall_tau
from tilesim.analysis.divergence import since_first_multiply, time_lag
from tilesim.errors import TraceError
from tilesim.metrics import run
from tilesim.traces import SPAN

TILE = (64, 64, 16)


def trace(rows, sms=2, k_steps=1, **changes):
    """A trace of a tile a row: (sm, issue, start, drain, done)."""
    spans = np.zeros(len(rows), SPAN)
    for tile, (sm, issue, start, drain, done) in enumerate(rows):
        spans[tile] = (tile, tile, 0, k_steps, sm, 0, issue, start, drain, drain, drain, done, 0)
    problem = Problem(64, 64 * len(rows), 16 * k_steps, tile=TILE)
    return replace(Trace(problem, Device(sms), "naive", spans), **changes)


# Two SMs, two tiles each: 100 ns to launch, 300 to multiply, 100 to write; no launch before 2 and 3.
FAST = trace([(0, 0, 100, 400, 500), (1, 0, 100, 400, 500), (0, 500, 500, 800, 900), (1, 500, 500, 800, 900)])


def slower():
    """FAST with all its times stretched to one and a half."""
    names = ("issue", "start", "drain", "done")
    return trace([(row["sm"], *(1.5 * row[name] for name in names)) for row in FAST.spans])


def test_figures_by_hand():
    measured = trace(
        # SM 1 is late, and takes tile 2; its run ends 100 ns later.
        [(0, 0, 0, 320, 400), (1, 0, 40, 360, 440), (1, 440, 440, 760, 840), (0, 400, 420, 740, 900)],
        origin="measured",
    )
    found = compare(FAST, measured)
    assert found.makespan == Pair(900, 900)
    assert found.run == Pair(800, 900)
    assert found.run.error == pytest.approx(-1 / 9)
    assert found.main_loop == Pair(300, 320)
    assert found.gap == Pair(100, 90)
    assert found.epilogue == Pair(100, 100)
    assert found.tail == Pair(0, 60)
    assert found.tail_idle == Pair(0, 60)
    assert found.same_sm == 0.5
    # Starts 100 100 500 500 against 0 40 440 420: the ties are of no order, all others agree.
    assert found.order == pytest.approx(4 / np.sqrt(4 * 6))
    assert found.largest_lag == 100
    assert found.largest_lag_at == 900
    assert found.run_cycles is None


def test_leads_by_hand():
    """The slower run is 1.5 times as long from the first multiply on, so it loses a third of its time."""
    fast, slow = since_first_multiply(FAST), since_first_multiply(slower())
    times, leads = time_lag(fast, slow)
    assert leads.tolist() == pytest.approx((times / 3).tolist())
    assert (times[-1], leads[-1]) == (1200, 400)
    found = compare(fast, slow)
    assert (found.largest_lag, found.largest_lag_at) == (400, 1200)
    assert found.diverged_at == 3 * round(0.01 * 1200)
    assert compare(slow, fast).diverged_at == 3 * 8
    assert compare(slow, fast).largest_lag == -400


def test_a_pause_of_all_slots_is_no_lead():
    """Both pause as long between two waves, the second run 10 ns later: so late is it throughout."""
    first, later = (
        trace([(0, 0, 0, 300 + by, 400 + by), (1, 0, 0, 300 + by, 400 + by),
               (0, 600 + by, 600 + by, 900 + by, 1000 + by), (1, 600 + by, 600 + by, 900 + by, 1000 + by)])
        for by in (0, 10)
    )  # fmt: skip
    times, leads = time_lag(first, later)
    assert leads.max() == pytest.approx(10)
    assert (leads[times >= 410] == pytest.approx(10)) and leads.min() >= 0


def test_sms_that_are_numbered_another_way_carry_the_same_loads():
    uneven = trace([(0, 0, 0, 300, 300), (1, 0, 0, 100, 100), (2, 0, 0, 200, 200)], sms=3)
    turned = trace([(2, 0, 0, 300, 300), (0, 0, 0, 100, 100), (1, 0, 0, 200, 200)], sms=3)
    found = compare(uneven, turned)
    assert found.same_sm == 0.0
    assert (found.loads.correlation, found.loads.largest) == (-0.5, 1.0)
    assert found.loads.mean == pytest.approx(400 / 3 / 200)
    in_order = found.sorted_loads
    assert (in_order.correlation, in_order.largest, in_order.mean) == (1.0, 0.0, 0.0)


def test_cycles_where_both_clocks_are_known():
    calibrated = replace(FAST, meta={"costs": {"clock_mhz": 2000}})
    measured = replace(slower(), origin="measured", meta={"sm_mhz": 1000})
    found = compare(calibrated, measured)
    assert found.run_cycles == Pair(1600, 1200)
    assert compare(replace(FAST, meta={"costs": {"clock_mhz": 0}}), measured).run_cycles is None
    assert compare(calibrated, slower()).run_cycles is None


def test_what_a_recorder_does_not_see_is_cut_off():
    seen = since_first_multiply(FAST)
    assert seen.spans["issue"].tolist() == [0, 0, 400, 400]
    assert seen.makespan == run(FAST) == 800
    assert since_first_multiply(seen).spans.tolist() == seen.spans.tolist()


def test_a_figure_of_0_has_no_relative_error():
    assert Pair(3, 0).error is None
    assert Pair(0, 0).error == 0.0


def test_json_holds_plain_data_and_the_errors():
    figures = compare(FAST, slower()).as_json()
    assert figures["run"] == {"simulated": 800, "measured": 1200, "error": pytest.approx(-1 / 3)}
    assert figures["run_cycles"] is None and figures["loads"]["correlation"] == 0.0


@pytest.mark.parametrize(
    "other, words",
    [
        (trace([(0, 0, 0, 300, 400)]), "different problems, 64x256x16 in tiles of 64x64x16 and 64x64x16"),
        (trace([(0, i, i, i + 1, i + 1) for i in range(4)], k_steps=2), "and 64x256x32"),
        (trace([(0, i, i, i + 1, i + 1) for i in range(4)], sms=3), "2 slots on 2 of 2 SMs and 3 slots on"),
        (trace([(0, 0, 5, 5, 5)] * 4), "takes 0 ns from its first multiply to its last write"),
    ],
)
def test_what_cannot_be_compared(other, words):
    with refused(words, TraceError):
        compare(FAST, other)
    with refused("", TraceError):
        compare(other, FAST)


@st.composite
def pairs(draw):
    """Two simulations of one problem on one device, of any schedules and costs."""
    problem, device = draw(strategies.problems()), draw(strategies.devices())
    named = ["naive", "persistent", "persistent-contiguous", "persistent-dynamic", "stream-k"]
    schedules = st.sampled_from(named)
    made = [simulate(draw(schedules), problem, device, draw(strategies.costs())) for _ in range(2)]
    assume(all(map(run, made)))
    return made


def share_done(trace, t):
    """The share of the work that is done at `t` after the first multiply, segment by segment."""
    spans, first = trace.spans, trace.spans["start"].min()
    end = spans["done"] - first
    begin = np.minimum(np.maximum(0, spans["issue"] - first), end - 1)
    done = (spans["k1"] - spans["k0"]) * np.clip((t - begin) / (end - begin), 0, 1)
    return done.sum() / (trace.problem.tiles * trace.problem.k_steps)


def first_done(trace, share):
    """When that share of the work is first done, ns after the first multiply; found by halving."""
    low, high = 0.0, float(run(trace))
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if share_done(trace, middle) >= share else (middle, high)
    return high


@given(pairs())
def test_a_lag_is_how_much_later_one_run_had_done_what_both_have(made):
    one, other = made
    times, lags = time_lag(one, other)
    assert (np.diff(times) > 0).all()
    assert lags[-1] == pytest.approx(run(other) - run(one))
    near = 0.01 + 1e-6 * max(map(run, made))
    for t, lag in list(zip(times, lags, strict=True))[:: max(1, len(times) // 3)]:
        # A little less, as a share that is rounded up would be done only after a pause.
        both = min(share_done(one, t), share_done(other, t)) - 1e-9
        assert lag == pytest.approx(first_done(other, both) - first_done(one, both), abs=near)


@given(pairs())
def test_the_other_way_round_everything_changes_its_sign_alone_and_against_itself_nothing_differs(made):
    there, back = compare(*made), compare(*reversed(made))
    assert (there.largest_lag, there.largest_lag_at) == (-back.largest_lag, back.largest_lag_at)
    assert (there.order, there.loads.correlation) == pytest.approx((back.order, back.loads.correlation))
    assert there.same_sm == back.same_sm
    assert (there.run.simulated, there.run.measured) == (back.run.measured, back.run.simulated)
    same = compare(made[0], made[0])
    pairs = (same.makespan, same.run, same.tail, same.tail_idle, same.main_loop, same.gap, same.epilogue)
    assert {pair.error for pair in pairs} == {0.0}
    assert (same.largest_lag, same.diverged_at, same.same_sm) == (0, None, 1.0)
    assert same.order == pytest.approx(1.0) == same.loads.correlation
    assert same.loads.largest == same.sorted_loads.mean == 0.0


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=40))
def test_kendalls_tau_counts_pairs(rankings):
    one, other = np.array(rankings).T
    signs = [
        (np.sign(one[i] - one[j]), np.sign(other[i] - other[j])) for i, j in combinations(range(len(one)), 2)
    ]
    agree = sum(int(a * b) for a, b in signs)
    ranked = [sum(bool(pair[side]) for pair in signs) for side in (0, 1)]
    if all(ranked):
        assert kendall_tau(one, other) == pytest.approx(agree / np.sqrt(ranked[0] * ranked[1]))
    else:
        assert kendall_tau(one, other) == (ranked[0] == ranked[1])
