"""The models say what the literature says: every row of the page's table."""

import pytest
from figures.literature import ROWS, Row


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.idea}: {row.case}")
def test_a_model_says_what_the_literature_says_but_for_rounding_or_a_reason(row: Row) -> None:
    found = row.here()
    assert found == pytest.approx(row.said, rel=row.within, abs=1e-9)
    if row.miss:  # that can be seen, and is as large as is allowed
        assert row.form.format(found) != row.form.format(row.said)
        assert 0.7 * row.within < abs(found / row.said - 1)
    else:
        assert row.within <= 0.02
