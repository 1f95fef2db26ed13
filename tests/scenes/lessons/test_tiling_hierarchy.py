"""Tiling: what tiles load follows from their sizes, and a report that says otherwise is refused."""

from copy import deepcopy

import pytest
from prepared import prepared

from tilesim.ladder.reports import report
from tilesim_scenes.tiling_hierarchy import TilingHierarchy


def made(monkeypatch, row=0, **changed):
    """The film on the shipped report, but for some figures of one product."""
    other = deepcopy(dict(report("tiling_hierarchy")))
    other["products"][row].update(changed)
    monkeypatch.setattr(TilingHierarchy, "report", lambda self, bench: other)
    return prepared(TilingHierarchy)


def test_twice_as_large_a_tile_loads_half_as_often(monkeypatch):
    scene = made(monkeypatch)
    small, *_, large = scene.needed
    assert small == pytest.approx(2 * scene.size**3 * 2 / 64 / 1e9)
    assert large == pytest.approx(scene.size**3 * 2 * (1 / 128 + 1 / 256) / 1e9)


@pytest.mark.parametrize(
    ("row", "changed", "claim"),
    [
        (3, {"us": 210.0}, "larger tiles load less and take less time"),
        (0, {"l2_bytes": 5e9}, "no byte comes twice"),
        (0, {"tensor_cycles": 2e8}, "multiplying takes about as long"),
        (3, {"tile": [128, 128, 64]}, "half the registers"),
    ],
)
def test_a_report_that_says_otherwise_is_refused(row, changed, claim, monkeypatch):
    with pytest.raises(SystemExit, match=claim):
        made(monkeypatch, row, **changed)
