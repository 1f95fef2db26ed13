"""Coalescing refuses reports that do not bear out what it says."""

from copy import deepcopy

import pytest
from prepared import prepared

from tilesim.ladder.reports import report
from tilesim_scenes.coalescing import Coalescing


def made(monkeypatch: pytest.MonkeyPatch, columns: int, **changed: float) -> Coalescing:
    """The film on the report that ships, but for some figures of one table."""
    other = deepcopy(dict(report("strided_sum")))
    next(row for row in other["rows"] if row["columns"] == columns and row["loads"] == 8).update(changed)
    monkeypatch.setattr(Coalescing, "report", lambda self, bench: other)
    return prepared(Coalescing)


def test_a_warp_needs_as_many_pieces_as_were_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert made(monkeypatch, 1).pieces == [4, 32]


@pytest.mark.parametrize(
    ("columns", "changed", "claim"),
    [
        (8, {"us": 300.0}, "the time grows"),
        (4, {"dram_read_bytes": 2e9}, "as often as it has columns"),
        (8, {"load_sectors": 8388608}, "4 or 32 pieces"),
        (8, {"l2_hit_sectors": 30000000}, "the cache cannot keep"),
        (2, {"sum": 1}, "always the same"),
    ],
)
def test_a_report_that_says_otherwise_is_refused(
    columns: int, changed: dict[str, float], claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match=claim):
        made(monkeypatch, columns, **changed)
