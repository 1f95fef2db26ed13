"""Pipelining refuses reports that do not bear out what it says."""

from copy import deepcopy

import pytest
from prepared import prepared

from tilesim.ladder.reports import report
from tilesim_scenes.pipelining import Pipelining


@pytest.mark.parametrize(
    ("buffers", "ns", "claim"),
    [
        (2, 1600.0, "each buffer makes a step shorter"),
        (4, 600.0, "a fourth buffer saves nearly nothing"),
        (1, 2500.0, "two multiplications take longer than a load"),
    ],
)
def test_a_report_that_says_otherwise_is_refused(buffers, ns, claim, monkeypatch):
    other = deepcopy(dict(report("pipelining")))
    next(row for row in other["rows"] if row["stages"] == buffers)["k_step_ns"] = ns
    monkeypatch.setattr(Pipelining, "report", lambda self, bench: other)
    with pytest.raises(SystemExit, match=claim):
        prepared(Pipelining)


def test_a_step_with_one_buffer_takes_as_long_as_its_two_parts():
    scene = prepared(Pipelining)
    assert scene.load + scene.multiply == round(scene.step_ns[1])
    assert scene.until == 6 * (scene.load + scene.multiply)
