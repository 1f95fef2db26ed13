"""What is made of the stamps of blocks that spin: the gaps between them, and which SM got which."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from on_device import torch

import tilesim
from tilesim.devices.facts import fill_order
from tilesim.metrics import TURNAROUND_NS
from tilesim_kernels import KernelError
from tilesim_kernels.bench import sm_order, turnaround
from tilesim_kernels.probes import spin

SHIPPED = json.loads((Path(tilesim.__file__).parent / "data/turnaround/h200.json").read_text("utf-8"))


def stamped(*warps):
    """Stamps of one launch with a block a row of warps: (sm, wanted, begin, begin_ns, end, end_ns) each."""
    return torch.tensor([warps], dtype=torch.int64)


def test_a_block_begins_with_its_first_warp_and_ends_with_its_last():
    (run,) = spin.blocks(stamped([(3, 5, 10, 100, 20, 104), (3, 5, 8, 99, 19, 106)]))
    assert run.tolist() == [(3, 8, 20, 99, 106)]


@pytest.mark.parametrize(
    ("warp", "sentence"),
    [
        ((0, 0, 0, 0, 0, 0), "1 of the thread blocks launched recorded no time"),
        ((3, 50, 10, 100, 20, 104), "stopped or went backwards"),
        ((3, 5, 10, 100, 20, 96), "stopped or went backwards"),
        ((4, 5, 10, 100, 20, 104), "stamped different SMs"),
    ],
)
def test_stamps_that_cannot_be(warp, sentence):
    with pytest.raises(KernelError, match=sentence):
        spin.blocks(stamped([(3, 5, 10, 100, 20, 104), warp]))


@st.composite
def launches(draw):
    """(run, slots, gaps): on a few SMs, each block goes to the slot that is free the longest, after a gap."""
    slots, rows, left = draw(st.integers(1, 4)), [], []
    times = st.integers(1, 500)
    for sm in range(draw(st.integers(1, 3))):
        # the clocks of SMs have nothing to do with each other
        began, ends = draw(st.integers(0, 10**12)), []
        for i in range(slots * draw(st.integers(1, 6))):
            begin = began + i
            if i >= slots:
                left.append(draw(times))
                begin = ends.pop(ends.index(min(ends))) + left[-1]
            ends.append(begin + slots + draw(times))
            rows.append((sm, begin, ends[-1], 2 * begin, 2 * ends[-1]))
    order = draw(st.permutations(range(len(rows))))
    return np.array([rows[i] for i in order], spin.BLOCK), slots, left


@given(launches())
def test_gaps_add_up_whichever_block_follows_which(made):
    run, slots, left = made
    found = turnaround.gaps(run, slots)
    assert len(found) == len(left)
    assert found.sum() == sum(left)
    assert turnaround.gaps(run, slots, "begin_ns", "end_ns").sum() == 2 * sum(left)
    assert slots > 1 or sorted(found) == sorted(left)
    assert turnaround.residents(run) == slots
    assert turnaround.sm_mhz([run]) == pytest.approx(500)


def test_figures_of_two_repeats():
    runs = [
        np.array([(0, 0, 100, 0, 50), (0, 100 + gap, 200, 50 + gap // 2, 100)], spin.BLOCK)
        for gap in (20, 40)
    ]
    assert turnaround.figures(runs, 2000) == {
        "residents": 1, "gaps": 2, "cycles": {"min": 20, "p20": 24, "p50": 30, "p80": 36},
        "ns": {"min": 10.0, "p20": 12.0, "p50": 15.0, "p80": 18.0}, "medians_ns": [10.0, 20.0],
        "mean_ns": 15.0, "timer_ns": 15.0,
    }  # fmt: skip


def test_a_timer_that_stands_still():
    with pytest.raises(KernelError, match="timer did not advance"):
        turnaround.sm_mhz([np.array([(0, 0, 100, 50, 50)], spin.BLOCK)])


def test_the_shipped_sweep_is_whole_and_each_row_agrees_with_itself():
    rows = SHIPPED["rows"]
    seen = {(row["threads"], row["shared_kb"], row["spin"]) for row in rows}
    assert len(seen) == len(rows) == len(turnaround.THREADS) * len(turnaround.SHARED_KB) * 2
    for row in rows:
        ns, cycles = ([row[unit][name] for name in ("min", "p20", "p50", "p80")] for unit in ("ns", "cycles"))
        assert row["residents"] == min(32, 2048 // row["threads"], 228 // (row["shared_kb"] + 1))
        assert row["gaps"] >= 5 * 132 * 7 * row["residents"]
        assert ns == pytest.approx([1000 / SHIPPED["sm_mhz"] * each for each in cycles], rel=0.01)
        assert ns == sorted(ns) and min(row["medians_ns"]) <= row["ns"]["p50"] <= max(row["medians_ns"])
        # two clocks, one truth: a block's first and last reads of them are a few cycles apart
        assert row["timer_ns"] == pytest.approx(row["mean_ns"], abs=10)
    assert SHIPPED["launch_ns"] == turnaround.launch_ns(rows)
    assert pytest.approx(SHIPPED["launch_ns"], rel=0.03) == TURNAROUND_NS


BIG, SMALL = [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5]], [[10, 11], [12, 13]]


@st.composite
def models(draw):
    """Tiers of groups of SMs; within a tier the group with the lowest SM is first."""
    sizes = draw(st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=4), min_size=1, max_size=3))
    sms = draw(st.permutations(range(sum(map(sum, sizes)))))
    made = []
    for tier in sizes:
        groups = [[sms.pop() for _ in range(size)] for size in tier]
        made.append(sm_order._from_lowest(groups))
    return made


def every_order(model):
    """All that the model can give, as (first, order)."""
    firsts = [()]
    for groups in model:
        firsts = [(*first, group[0]) for first in firsts for group in groups]
    return [(first, list(fill_order(model, first))) for first in firsts]


@given(models(), st.data())
def test_an_order_tells_where_it_began_if_the_model_can_give_it(model, data):
    for first, order in every_order(model):
        assert sm_order.begins(order, model) == first
    given_by_model = [order for _, order in every_order(model)]
    order = data.draw(st.permutations(given_by_model[0]))
    assert (sm_order.begins(order, model) is not None) == (order in given_by_model)


@given(models(), st.randoms())
def test_groups_come_back_from_their_orders(model, random):
    """But tiers of one group are joined: nothing tells them apart, and they explain the same orders."""
    orders = [order for _, order in every_order(model)]
    random.shuffle(orders)
    found = sm_order.tiers(orders)
    assert sorted(order for _, order in every_order(found)) == sorted(orders)
    if all(len(groups) > 1 for groups in model):
        assert found == model


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=1))
def test_groups_joined_by_clusters_are_disjoint_and_hold_each_cluster(clusters):
    found = sm_order.joined(np.array(clusters))
    assert len({sm for group in found for sm in group}) == sum(map(len, found))
    assert all(len(group) > 1 and group == sorted(group) for group in found)
    for cluster in clusters:
        assert len(set(cluster)) == 1 or sum(set(cluster) <= set(group) for group in found) == 1


def test_sms_that_are_not_filled_evenly_have_no_order():
    with pytest.raises(KernelError, match="4 thread blocks should fill 2 SMs evenly, and went to 2"):
        sm_order.places(np.array([0, 0, 0, 1]), 2)


def test_a_tally_counts_what_is_alike_and_what_is_explained():
    model = [SMALL, BIG]
    usual, other = list(fill_order(model)), list(fill_order(model, (12, 4)))
    strange = usual[::-1]
    runs = [[usual, usual], [usual, usual], [other, other], [usual, other], [strange, strange]]
    first = [[[10, 0], 2], [[12, 4], 1]]
    assert sm_order.tally(runs, model) == {"launches": 5, "alike": 2, "explained": 3, "first": first}
