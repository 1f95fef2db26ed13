"""Films of reports: what one is told of is told, and a report that lacks a row is a sentence."""

from pathlib import Path

import pytest

from tilesim.cli.packages import scene_class, scene_names
from tilesim.errors import TilesimError
from tilesim.ladder.reports import report
from tilesim_scenes.film.report_film import ReportFilm

FILMS = [film for film in map(scene_class, scene_names()) if issubclass(film, ReportFilm)]
ASKED = [(film, {}) for film in FILMS] + [(film, {"stride": 32}) for film in FILMS if "stride" in film.asked]


@pytest.mark.parametrize(("film", "settings"), ASKED, ids=lambda one: getattr(one, "__name__", str(one)))
def test_a_report_without_one_of_its_rows_is_told_or_refused(film, settings):
    whole, refused = report(film.bench_of(settings)), 0
    for name, rows in whole.items():
        for left_out in range(len(rows)) if isinstance(rows, list) and len(rows) > 1 else ():
            try:
                film.story_of(whole | {name: rows[:left_out] + rows[left_out + 1 :]}, settings)
            except TilesimError:
                refused += 1
    assert refused < sum(len(rows) for rows in whole.values() if isinstance(rows, list))


@pytest.mark.parametrize("film", FILMS, ids=lambda film: film.__name__)
def test_a_report_of_another_bench_is_refused_before_anything_is_drawn(film, tmp_path: Path):
    (other := tmp_path / "other.json").write_text('{"machine": {}}', "utf-8")
    with pytest.raises(TilesimError, match=r"other\.json: "):
        film.checked({"report": str(other)})
