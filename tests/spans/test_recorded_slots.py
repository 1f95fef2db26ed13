"""Slots and issues of a measured run, derived from places and times alone."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from strategies import costs, devices, problems

from tilesim import simulate
from tilesim.errors import TraceError
from tilesim.spans.recorded_slots import complete
from tilesim.traces import SPAN


def stamped(*rows):
    """Spans of (cta, sm, start, drain, done), each a whole tile."""
    spans = np.zeros(len(rows), SPAN)
    for row, (cta, sm, start, drain, done) in enumerate(rows):
        spans[row] = (cta, row, 0, 1, sm, 0, 0, start, drain, drain, drain, done, 0)
    return spans


def derived(*rows, entry=None):
    spans = complete(stamped(*rows), entry if entry is None else np.array(entry))
    return list(zip(spans["slot"].tolist(), spans["issue"].tolist(), strict=True))


def test_two_residents_of_an_sm_get_two_slots():
    rows = [
        (0, 0, 1000, 1500, 1600),
        (1, 0, 1100, 1550, 1700),
        (2, 0, 1650, 1900, 2000),
        (3, 0, 1700, 2000, 2100),
    ]
    assert derived(*rows) == [(0, 1000), (1, 1000), (0, 1600), (1, 1700)]


def test_a_thread_block_keeps_its_slot_between_its_segments():
    rows = [(7, 0, 0, 8, 10), (8, 0, 5, 25, 30), (7, 0, 40, 45, 50), (9, 0, 60, 65, 70)]
    assert derived(*rows) == [(0, 0), (1, 0), (0, 10), (0, 50)]


def test_an_overlapped_epilogue_is_no_second_resident():
    rows = [(0, 0, 10, 50, 90), (0, 0, 60, 100, 110), (0, 0, 110, 150, 190)]
    assert derived(*rows) == [(0, 10), (0, 50), (0, 110)]  # issued at a drain where done comes later


def test_a_slot_is_held_from_the_entry_and_that_is_the_zero():
    rows = [(0, 0, 20, 30, 40), (1, 1, 25, 30, 40), (2, 0, 41, 50, 60)]
    assert derived(*rows) == [(0, 20), (0, 20), (0, 40)]
    assert derived(*rows, entry=[4, 7, 40]) == [(0, 4), (0, 4), (0, 40)]
    assert derived(*rows, entry=[4, 7, 39]) == [(0, 4), (0, 4), (1, 4)]  # there before the first had gone


def test_the_next_thread_block_waits_for_every_write_of_the_one_before():
    rows = [(0, 0, 0, 10, 100), (0, 0, 20, 30, 40), (1, 0, 120, 130, 140)]
    assert derived(*rows) == [(0, 0), (0, 10), (0, 100)]


def test_times_may_have_any_zero():
    rows = [(0, 0, 10, 50, 90), (1, 0, 95, 100, 110)]
    early = [(cta, sm, *(time - 10**18 for time in times)) for cta, sm, *times in rows]
    assert derived(*early) == [(0, 10 - 10**18), (0, 90 - 10**18)]


def test_main_loops_that_overlap_in_a_thread_block_are_left_to_the_trace():
    assert derived((0, 0, 0, 50, 60), (0, 0, 20, 70, 80)) == [(0, 0), (0, 20)]


@given(
    problems(), devices(), costs(), st.sampled_from(["naive", "persistent", "persistent-dynamic"]), st.data()
)
def test_a_simulated_run_fits_into_its_slots_again(problem, device, costs, schedule, data):
    """Whatever the order of the rows; slots may be numbered in another order."""
    spans = simulate(schedule, problem, device, costs).spans
    came = {int(cta): int(spans["issue"][spans["cta"] == cta].min()) for cta in np.unique(spans["cta"])}
    bare = spans[data.draw(st.permutations(range(len(spans))))].copy()
    bare["slot"], bare["issue"] = 99, -1
    found = complete(bare, np.array([came[int(cta)] for cta in bare["cta"]]))
    assert (bare["slot"] == 99).all()
    assert (found["slot"] < device.ctas_per_sm).all()
    for cta in came:
        assert len(np.unique(found["slot"][found["cta"] == cta])) == 1
    for sm, slot in {(int(span["sm"]), int(span["slot"])) for span in found}:
        lane = found[(found["sm"] == sm) & (found["slot"] == slot)]
        lane = lane[np.argsort(lane["start"], kind="stable")]
        assert lane["issue"][0] == 0
        for before, after in pairwise(lane):
            assert after["issue"] <= after["start"]
            assert after["issue"] == before["done" if before["done"] <= after["start"] else "drain"]


@pytest.mark.parametrize(
    ("rows", "entry", "sentence"),
    [
        (
            [(5, 2, 0, 1, 2), (6, 3, 0, 1, 2), (5, 3, 4, 5, 6)],
            None,
            "thread block 5 ran on SM 2 and on SM 3; it can run on only one",
        ),
        ([(0, 0, 5, 6, 7)], [6], "thread block 0 starts tile 0 at 5 ns, before its entry at 6 ns"),
        (
            [(cta, 9, cta, 100, 200) for cta in range(65)],
            None,
            "SM 9 held more than 64 thread blocks at once, at 64 ns; no GPU can hold that many",
        ),
    ],
)
def test_stamps_that_cannot_be(rows, entry, sentence):
    with refused(sentence, TraceError):
        derived(*rows, entry=entry)
