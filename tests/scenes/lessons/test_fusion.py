"""Fusion: what the film says is true of the report, or it is not made; its code is what was timed."""

from copy import deepcopy

import pytest
from prepared import prepared

from tilesim.ladder import reports
from tilesim_scenes import fusion
from tilesim_scenes.kit.round_trip import PIECES, RoundTrip


@pytest.mark.parametrize(
    ("kernel", "functions", "claim"),
    [
        ("fused", 8, "an eighth of the time"),
        ("eager", 1, "a line takes an eighth"),
        ("torch.compile", 8, "torch.compile's kernel"),
    ],
)
def test_a_report_that_says_something_else_is_refused(kernel, functions, claim, monkeypatch):
    other = deepcopy(dict(reports.report("fusion")))
    for row in other["rows"]:
        if (row["kernel"], row["functions"]) == (kernel, functions):
            row["us"] *= 1.1
    monkeypatch.setattr(fusion.Fusion, "report", lambda *_: other)
    with pytest.raises(SystemExit, match=claim):
        prepared(fusion.Fusion)


def test_the_printed_parts_of_a_line_s_time_add_up():
    scene = prepared(fusion.Fusion)
    assert scene.each == pytest.approx(scene.separate / len(fusion.LINES), abs=0.05)
    assert scene.trip == pytest.approx(2 * round(scene.mb) / round(scene.tb, 1), abs=0.05)


def test_the_code_on_screen_is_what_the_bench_times():
    torch = pytest.importorskip("torch")
    from tilesim_kernels.ideas.fusion import chain

    names = {"x": torch.tensor([1.0, -3.0])}
    expected = chain(names["x"].clone(), len(fusion.LINES))
    exec("\n".join(fusion.LINES), names)
    assert torch.allclose(names["x"], expected)


def test_a_round_trip_has_a_register_for_each_piece():
    trip = RoundTrip("memory", "x", "processors", "registers", ["x + 1"], 12.0, 4.0)
    assert len(trip.pieces) == len(trip.slots) == len(trip.homes) == PIECES
    trip.run(["x + 1", "x * 2"])
    assert len(trip.operations) == 2 and trip.submobjects.count(trip.operations) == 1
