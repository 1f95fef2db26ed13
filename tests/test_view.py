"""What there is to see at an instant, against one span after another."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import traces

from tilesim import view
from tilesim.traces import TIMES
from tilesim.view import Phase


@st.composite
def moments(draw):
    """(trace, t): any instant, often one at which something happens."""
    trace = draw(traces())
    events = sorted({int(span[name]) for span in trace.spans for name in TIMES})
    return trace, draw(st.one_of(st.sampled_from(events), st.integers(-5, trace.makespan + 5)))


def pieces(trace, tile):
    return [span for span in trace.spans if span["tile"] == tile]


def phase(span, t):
    """A span's own phase; what has a begin and an end counts from the begin until just before the end."""
    for name, reached in (
        ("done", Phase.DONE),
        ("fixup", Phase.WRITING),
        ("ready", Phase.ADDING),
        ("drain", Phase.AWAITING),
    ):
        if t >= span[name]:
            return reached
    if t >= span["start"]:
        return Phase.MULTIPLYING
    return Phase.LAUNCHING if t >= span["issue"] else Phase.WAITING


@given(moments())
def test_phases_counts_and_progress(case):
    trace, t = case
    expected = []
    for tile in range(trace.problem.tiles):
        own = [phase(span, t) for span in pieces(trace, tile)]
        begun, ended = min(max(own), Phase.MULTIPLYING), min(own)
        expected.append(ended if ended > Phase.MULTIPLYING else begun)
    assert view.phases(trace, t).tolist() == expected
    assert view.segment_phases(trace, t).tolist() == [phase(span, t) for span in trace.spans]
    assert view.tiles_done(trace, t) == expected.count(Phase.DONE)
    begun = {int(span["cta"]) for span in trace.spans if span["issue"] <= t}
    assert view.blocks_launched(trace, t) == len(begun)
    busy = {int(span["sm"]) for span in trace.spans if span["issue"] <= t < span["done"]}
    assert view.busy_sms(trace, t) == len(busy)
    for span, share in zip(trace.spans, view.progress(trace, t).tolist(), strict=True):
        start, drain = int(span["start"]), int(span["drain"])
        passed = min(max(Fraction(t - start, drain - start), Fraction(0)), Fraction(1))
        assert share == pytest.approx(float(passed), abs=1e-12)
        assert 0 <= share <= 1


@given(traces(), st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_nothing_is_undone_from_the_first_picture_to_the_last(trace, shares):
    instants = [share * trace.makespan for share in sorted(shares)]
    for before, after in pairwise(instants):
        assert (view.progress(trace, before) <= view.progress(trace, after)).all()
        assert (view.phases(trace, before) <= view.phases(trace, after)).all()
    assert (view.phases(trace, -1) == Phase.WAITING).all()
    assert (view.progress(trace, 0) == 0).all()
    assert (view.phases(trace, trace.makespan) == Phase.DONE).all()
    assert view.progress(trace, trace.makespan).tolist() == [1.0] * len(trace.spans)
    assert (view.busy_sms(trace, -1), view.busy_sms(trace, trace.makespan)) == (0, 0)
    for tile, sm in enumerate(view.tile_sm(trace).tolist()):
        assert sm == max(pieces(trace, tile), key=lambda span: (span["done"], span["cta"]))["sm"]
