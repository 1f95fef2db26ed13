"""How lanes climb a tree: both trees add all values up, and banks serve a word a clock."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.ideas import reduction
from tilesim.ladder.reports import report

THREADS = st.sampled_from([32, 64, 128, 256, 512, 1024])
TREE = st.sampled_from(list(reduction.TREES.values()))
WORDS = st.lists(st.integers(0, 4095), min_size=1, max_size=reduction.WARP).map(np.array)


@given(TREE, THREADS)
def test_a_tree_adds_every_value_exactly_once(tree, threads):
    held = 3 ** np.arange(threads, dtype=object)  # sums of powers of 3 tell which values are in them
    for level in tree(threads):
        held[level.owns] = held[level.owns] + held[level.others]
    assert held[0] == sum(3 ** np.arange(threads, dtype=object))


@given(TREE, THREADS)
def test_a_tree_of_t_values_has_t_minus_1_additions_in_log_t_levels(tree, threads):
    levels = tree(threads)
    assert sum(len(level.owns) for level in levels) == threads - 1
    assert 2 ** len(levels) == threads


@given(THREADS)
def test_no_lanes_of_the_sequential_tree_meet_at_a_bank(threads):
    levels = reduction.sequential(threads)
    every = reduction.accesses(levels)
    assert {one.wavefronts for one in every} == {1} and reduction.tree_wavefronts(levels) == len(every)


def test_a_tree_of_256_takes_47_wavefronts_interleaved_and_12_sequential():
    trees = {name: reduction.tree_wavefronts(tree()) for name, tree in reduction.TREES.items()}
    assert trees == {"interleaved": 47, "sequential": 12}


@given(WORDS)
def test_a_bank_serves_one_word_in_each_wavefront(words):
    asked = set(words.tolist())
    of_a_bank = [len([word for word in asked if word % 32 == bank]) for bank in range(32)]
    assert reduction.wavefronts(words) == max(of_a_bank)


@given(TREE, THREADS, st.integers(1, 16))
def test_a_tree_is_paid_once_whatever_was_added_before_it(tree, threads, added):
    alone, several = reduction.work(tree(threads)), reduction.work(tree(threads), added)
    assert several.values == added * alone.values == added * threads
    assert several.load_wavefronts == alone.load_wavefronts == 2 * reduction.tree_wavefronts(tree(threads))


@pytest.mark.parametrize("name", list(reduction.steps()))
def test_the_counters_of_a_gpu_agree_to_the_last_wavefront(name):
    row = next(row for row in report("bank_conflicts")["rows"] if row["name"] == name)
    work = reduction.steps()[name]
    assert row["load_wavefronts"] == work.load_wavefronts * row["thread_blocks"]
    assert row["store_wavefronts"] == work.store_wavefronts * row["thread_blocks"]


def test_shuffles_leave_a_word_of_each_warp_in_shared_memory():
    for threads in (64, 256, 1024):
        work = reduction.shuffled(threads)
        assert (work.store_wavefronts, work.loads, work.barriers) == (threads // 32 + 1, 2, 2)
    assert reduction.shuffled(32).store_wavefronts == 0
