"""Lessons make no claims about other data than their own, and tell or refuse a report that lacks rows."""

from pathlib import Path

import pytest
from prepared import prepared
from watching import watch

from tilesim.cli.packages import scene_class
from tilesim.ladder.reports import report
from tilesim_scenes.film.course import OURS
from tilesim_scenes.kit.lesson import Lesson
from tilesim_scenes.race import Race

OF_REPORTS = [scene_class(name) for name, film in OURS.items() if film.takes == "report"]
MOST = 4
"""Rows of a list that are left out one by one."""


@pytest.mark.parametrize("name", ["busy-sms", "naive", "persistent", "race", "stream-k"])
def test_data_of_one_s_own_leads_to_the_neutral_film(name):
    lesson = scene_class(name)
    scene = prepared(lesson, {"sms": 4, "m": 384, "n": 1536})
    assert isinstance(scene, lesson.neutral) and not isinstance(scene, lesson)
    assert scene.traces[0].problem.m == 384 and len(scene.traces) == len(lesson.default.schedules)


def test_the_picture_of_the_work_can_be_left_out():
    assert OURS["race"].seconds - watch(Race, "wide", {"work": False}).scene.now > 3


@pytest.mark.parametrize("film", OF_REPORTS, ids=lambda film: film.__name__)
def test_a_report_without_one_of_its_rows_is_told_or_refused(film, monkeypatch):
    benches = []
    monkeypatch.setattr(Lesson, "report", lambda self, bench: benches.append(bench) or report(bench))
    prepared(film)
    (bench,) = benches
    tables = {name: rows for name, rows in report(bench).items() if isinstance(rows, list) and len(rows) > 1}
    assert tables
    for name, rows in tables.items():
        for left_out in range(0, len(rows), -(-len(rows) // MOST)):
            lacks = report(bench) | {name: rows[:left_out] + rows[left_out + 1 :]}
            monkeypatch.setattr(Lesson, "report", lambda self, bench, lacks=lacks: lacks)
            try:
                prepared(film)
            except SystemExit as refused:
                assert str(refused).startswith("error: ") and "\n" not in str(refused)


@pytest.mark.parametrize("film", OF_REPORTS, ids=lambda film: film.__name__)
def test_a_report_of_another_bench_is_refused_before_anything_is_drawn(film, tmp_path: Path):
    (other := tmp_path / "other.json").write_text('{"machine": {}}', "utf-8")
    with pytest.raises(SystemExit, match=r"other\.json: "):
        prepared(film, {"report": str(other)})
