"""Rows of one instant come in a trace's order, whatever else is in the log."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.engine import run as ties
from tilesim.spans.columns import SPAN


@st.composite
def logs(draw):
    """Spans in the order of issue, of some instants alike: slots in the same order, with the same lags."""
    many = draw(st.integers(1, 5))
    alike = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=many, max_size=many))
    others = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 300)), min_size=1, max_size=6)
    instants = draw(st.lists(st.just(alike) | others, min_size=1, max_size=12))
    rows = [(issue, lag, place) for issue, instant in enumerate(instants) for lag, place in instant]
    spans = np.zeros(len(rows), SPAN)
    issue, lag, place = np.array(rows).T
    spans["issue"], spans["start"] = 1000 * issue, 1000 * issue + lag
    spans["sm"], spans["slot"], spans["tile"] = place // 2, place % 2, np.arange(len(rows))
    return spans


@pytest.mark.parametrize("rows", [1, 4, 10**6])
@given(spans=logs())
def test_rows_are_sorted_as_a_traces(rows, spans):
    expected = spans[np.lexsort((spans["slot"], spans["sm"], spans["start"], spans["issue"]))]
    with patch.object(ties, "SORTED_ROWS", rows):
        ties.settle(spans)
    assert spans.tobytes() == expected.tobytes()
