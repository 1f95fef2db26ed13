"""Memory hierarchy refuses reports that do not bear out what it says."""

from copy import deepcopy

import pytest
from prepared import prepared

from tilesim.ladder.reports import report
from tilesim_scenes.memory_hierarchy import MemoryHierarchy


def made(monkeypatch: pytest.MonkeyPatch, size: int, **changed: float) -> MemoryHierarchy:
    """The film on the report that ships, but for some figures of one size."""
    other = deepcopy(dict(report("memory_hierarchy")))
    next(row for row in other["rows"] if row["m"] == size).update(changed)
    monkeypatch.setattr(MemoryHierarchy, "report", lambda self, bench: other)
    return prepared(MemoryHierarchy)


def test_what_arrives_is_all_that_the_tiles_load(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = made(monkeypatch, 4096)
    assert scene.strips * scene.problem.tiles == scene.arrived > scene.sent > scene.whole


@pytest.mark.parametrize(
    ("size", "changed", "claim"),
    [
        (4096, {"us": 400.0}, "main memory alone would take much longer"),
        (4096, {"arrived_bytes": 1.5e9}, "its two strips"),
        (4096, {"dram_read_bytes": 4e8}, "less than a quarter"),
        (2048, {"dram_read_bytes": 3e7}, "each byte once"),
    ],
)
def test_a_report_that_says_otherwise_is_refused(
    size: int, changed: dict[str, float], claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match=claim):
        made(monkeypatch, size, **changed)
