"""Trace: what it refuses to believe, row by row, and what it does with what it believes."""

from itertools import pairwise

import numpy as np
import pytest
from refusals import refused

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.errors import TraceError
from tilesim.spans.columns import SPAN, TIMES

PROBLEM = Problem(2, 4, 4, tile=(1, 1, 1))
DEVICE = Device(3, ctas_per_sm=2, busy_sms=1)
GOOD = simulate("naive", PROBLEM, DEVICE, Costs(k_step=10, launch=3, epilogue=5))


def changed(row, **values):
    """GOOD's spans with fields of one row changed; a negative row counts from the end."""
    spans = np.array(GOOD.spans)
    for name, value in values.items():
        spans[name][row] = value
    return spans


def refuses(sentence, spans=GOOD.spans, schedule="naive", **others):
    with refused(sentence, TraceError):
        Trace(PROBLEM, DEVICE, schedule, spans, **others)


@pytest.mark.parametrize(
    ("spans", "sentence"),
    [
        (np.zeros(0, SPAN), "the trace has no spans; it needs at least one"),
        (np.zeros((1, 1), SPAN), "they must be one row per segment with the fields cta, tile,"),
        (np.zeros(8), "spans are float64; they must be"),
        (GOOD.spans.astype([(n, "f8") for n in SPAN.names]), "they must be one row per segment"),
        (GOOD.spans[:-1], "tile 7 is never computed"),
        (np.append(GOOD.spans, GOOD.spans[:1]), "K-steps 0 to 4 of tile 0 are computed more than once"),
        (changed(3, tile=2), "tile 3 is never computed"),
        (changed(3, k0=1), "K-steps 0 to 1 of tile 3 are never computed"),
        (changed(3, sm=3), "row 3: sm is 3; it must be from 0 to 2 for 2x4x4 on 3 SMs"),
        (changed(3, sm=0), "row 3: sm is 0; another kernel holds that SM"),
        (changed(3, slot=2), "row 3: slot is 2; it must be from 0 to 1"),
        (changed(3, cta=-1), "row 3: cta is -1"),
        (changed(3, cycles=-5), "row 3: cycles is -5; it must be from 0"),
        (changed(3, cycles=2**60), "row 3: cycles is 1152921504606846976; it must be from 0"),
        (changed(3, drain=2**62), "row 3: tile 3 has its "),
        (changed(7, done=2**61), "ns; they must be 1 to"),
        (changed(slice(None), **dict.fromkeys(TIMES, 7)), "row 0 begins at 7 ns and row 0 ends at 7 ns"),
    ],
)
def test_spans_that_contradict_themselves(spans, sentence):
    refuses(sentence, spans)


@pytest.mark.parametrize(("earlier", "later"), list(pairwise(TIMES)))
def test_times_do_not_run_backwards(earlier, later):
    spans = np.array(GOOD.spans)
    at = int(spans[earlier][7])
    for name in TIMES[TIMES.index(later) :]:
        spans[name][7] = at - 1
    what = later.replace("done", "end")
    refuses(f"row 7: tile 7 has its {what} at {at - 1} ns, before its {earlier} at {at} ns", spans)


def test_main_loops_do_not_overlap_in_a_slot_not_even_a_short_one_with_a_long_one():
    spans = np.array(GOOD.spans)
    first, second = np.flatnonzero((spans["sm"] == 1) & (spans["slot"] == 0))
    spans["issue"][second] = spans["start"][second] = spans["drain"][first] - 1
    refuses("tile 4 starts at 42 ns on SM 1, slot 0, where the main loop of tile 0 runs until 43 ns", spans)
    spans["issue"][second] = spans["start"][second] = spans["drain"][first]
    assert Trace(PROBLEM, DEVICE, "naive", spans).spans["start"][4] == 43
    rows = np.zeros(3, SPAN)
    rows["tile"], rows["k1"], rows["cta"] = range(3), 1, range(3)
    rows["start"], rows["drain"] = [0, 10, 50], [100, 20, 60]
    for name in ("ready", "fixup", "done"):
        rows[name] = rows["drain"]
    with pytest.raises(TraceError, match=r"tile 1 starts at 10 ns .* tile 0 runs until 100 ns"):
        Trace(Problem(1, 3, 1, tile=(1, 1, 1)), Device(1), "by hand", rows)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"origin": "guessed"}, "origin is 'guessed'; choose from simulated, measured"),
        ({"tick_ns": 0}, "tick_ns is 0; it must be a whole number from 1"),
        ({"schedule": 3}, "schedule is 3; it must be a text"),
        ({"meta": [1]}, "meta is [1]; it must be a mapping"),
        ({"meta": {"launches": 0}}, "meta's launches is 0; it must be a whole number from 1"),
        ({"meta": {"date": object}}, "meta must hold JSON values"),
        ({"meta": {"load": float("nan")}}, "meta must hold JSON values"),
    ],
)
def test_words_that_make_no_sense(values, sentence):
    refuses(sentence, **values)


@pytest.mark.parametrize("zero", [1_700_000_000_000_000_000, -20])
def test_spans_are_sorted_and_shifted_and_copied(zero):
    spans = np.array(GOOD.spans)[::-1].copy()
    for name in TIMES:
        spans[name] += zero
    kept = spans.copy()
    trace = Trace(PROBLEM, DEVICE, "naive", spans, "measured", 32)
    assert trace.spans.tolist() == GOOD.spans.tolist()
    assert (spans == kept).all()
    spans["tile"] = 0
    assert trace.spans.tolist() == GOOD.spans.tolist()
    rows = trace.spans[["issue", "start", "sm", "slot"]].tolist()
    assert rows == sorted(rows)
