"""Tile order refuses reports that do not bear out what it says, and lights what tiles need."""

from copy import deepcopy

import numpy as np
import pytest
from prepared import prepared

from tilesim.ladder.reports import report
from tilesim_scenes.l2_order import L2Order, Sharing


def made(monkeypatch: pytest.MonkeyPatch, order: str, **changed: float) -> L2Order:
    """The film on the report that ships, but for some figures of one order."""
    other = deepcopy(dict(report("l2_order")))
    next(row for row in other["rows"] if row["order"] == order and row["k"] == 8192).update(changed)
    monkeypatch.setattr(L2Order, "report", lambda self, bench: other)
    return prepared(L2Order)


def test_what_the_tiles_at_work_need(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = made(monkeypatch, "row-major")
    assert scene.few == [[1, 9], [3, 3]] and scene.needs == [[5, 32], [8, 17]]
    assert [round(mb) for mb in scene.mb] == [145, 88]


def test_tiles_at_work_are_lit_with_their_strips_and_earlier_ones_stay_done() -> None:
    sharing = Sharing(4, 3, 2.0, 1.0, np.arange(12), wave=4).show(8.0)
    tiles, rows, columns = (len(one.points) // 16 for one in sharing.now)
    assert (tiles, rows, columns, len(sharing.done.points) // 16) == (4, 2, 3, 4)
    assert len(sharing.show(9.0).now[0].points) // 16 == 1


@pytest.mark.parametrize(
    ("order", "changed", "claim"),
    [
        ("grouped:8", {"dram_read_bytes": 2.4e9}, "sends less"),
        ("row-major", {"dram_read_bytes": 4e9}, "strips of each batch anew"),
        ("grouped:8", {"us": 1300.0}, "as many cycles"),
        ("row-major", {"us": 1397.0, "sm_mhz": 1569}, "the clock runs faster"),
    ],
)
def test_a_report_that_says_otherwise_is_refused(
    order: str, changed: dict[str, float], claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match=claim):
        made(monkeypatch, order, **changed)
