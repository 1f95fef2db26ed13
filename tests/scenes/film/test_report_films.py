"""Films of reports: a report that lacks some of its rows is told or refused in a sentence."""

from pathlib import Path

import pytest
from prepared import prepared

from tilesim.cli.packages import scene_class
from tilesim.ladder.reports import report
from tilesim_scenes.film.course import OURS
from tilesim_scenes.kit.lesson import Lesson

FILMS = [scene_class(name) for name, film in OURS.items() if film.takes == "report"]
MOST = 4
"""Rows of a list that are left out one by one."""


def set_up(film):
    """What refuses the film, None where nothing does."""
    try:
        prepared(film)
    except SystemExit as refused:
        return str(refused.code)
    return None


@pytest.mark.parametrize("film", FILMS, ids=lambda film: film.__name__)
def test_a_report_without_one_of_its_rows_is_told_or_refused(film, monkeypatch):
    benches = []
    monkeypatch.setattr(Lesson, "report", lambda self, bench: benches.append(bench) or report(bench))
    assert set_up(film) is None and len(benches) == 1
    whole, found = report(benches[0]), []
    for name, rows in whole.items():
        if isinstance(rows, list) and len(rows) > 1:
            for left_out in range(0, len(rows), -(-len(rows) // MOST)):
                lacks = {name: rows[:left_out] + rows[left_out + 1 :]}
                monkeypatch.setattr(Lesson, "report", lambda self, bench, lacks=lacks: {**whole, **lacks})
                found.append(set_up(film))
    assert found
    assert all(one.startswith("error: ") and "\n" not in one for one in found if one)


@pytest.mark.parametrize("film", FILMS, ids=lambda film: film.__name__)
def test_a_report_of_another_bench_is_refused_before_anything_is_drawn(film, tmp_path: Path):
    (other := tmp_path / "other.json").write_text('{"machine": {}}', "utf-8")
    with pytest.raises(SystemExit, match=r"other\.json: "):
        prepared(film, {"report": str(other)})
