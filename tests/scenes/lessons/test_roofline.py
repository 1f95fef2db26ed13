"""Roofline: what the film says is true of the report, or it is not made."""

from copy import deepcopy

import pytest
from prepared import prepared

from tilesim.ladder import reports
from tilesim_scenes import roofline


def made(monkeypatch, functions: int = 1, factor: float = 1.0) -> roofline.Roofline:
    """The film of the shipped report, with the time of so many operations changed, before it is played."""
    other = deepcopy(dict(reports.report("fusion")))
    for row in other["rows"]:
        if (row["kernel"], row["functions"]) == ("fused", functions):
            row["us"] *= factor
    monkeypatch.setattr(roofline.Roofline, "report", lambda *_: other)
    return prepared(roofline.Roofline)


@pytest.mark.parametrize(
    ("functions", "factor", "claim"),
    [(64, 1.1, "as long as one"), (1024, 0.3, "much longer"), (512, 0.5, "none is above")],
)
def test_a_report_that_says_something_else_is_refused(functions, factor, claim, monkeypatch):
    with pytest.raises(SystemExit, match=claim):
        made(monkeypatch, functions, factor)


def test_points_are_under_the_roof_and_move_up_it(monkeypatch):
    film = made(monkeypatch)
    shares = [film.share(point, film.flat) for point in film.points.values()]
    assert min(shares) > 0.7 and max(shares) <= 1
    assert film.computing[64] == pytest.approx(64 * film.computing[1])
    assert film.bound == [n for n in film.us if n <= 64]


def test_a_figure_appears_once_its_bar_has_its_length():
    assert [roofline.after(0.5, alpha) for alpha in (0.0, 0.4, 0.5, 1.0)] == pytest.approx([0, 0, 1, 1])
