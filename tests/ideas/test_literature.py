"""The models say what the literature says: every row of the page's table."""

import pytest
from figures.literature import ROWS, Row


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.idea}: {row.case}")
def test_a_model_says_what_the_literature_says(row: Row) -> None:
    assert row.here() == pytest.approx(row.said, rel=row.within, abs=1e-9)


@pytest.mark.parametrize("row", [row for row in ROWS if row.miss], ids=lambda row: f"{row.idea}: {row.case}")
def test_where_they_differ_the_difference_can_be_seen(row: Row) -> None:
    """So that no reason is given for a miss that is none, nor a miss allowed that is larger than it is."""
    off = abs(row.here() / row.said - 1)
    assert row.form.format(row.here()) != row.form.format(row.said) and 0.7 * row.within < off


@pytest.mark.parametrize(
    "row", [row for row in ROWS if not row.miss], ids=lambda row: f"{row.idea}: {row.case}"
)
def test_without_a_reason_they_agree_but_for_rounding(row: Row) -> None:
    assert row.within <= 0.02
