"""ReportFilm: a film of what a bench measured."""

from collections.abc import Mapping
from typing import Any, ClassVar

from tilesim.ladder.reports import read, report
from tilesim_scenes.film.scene import Film
from tilesim_scenes.film.settings import REPORT, Kind


class ReportFilm(Film):
    """A film that shows `report`: what `tilesim bench` wrote, which ships unless a file is asked for.

    A subclass names the bench; it may add parameters of its own to `asked`, and finds them in `self.given`.
    """

    bench: ClassVar[str]
    asked: ClassVar[Mapping[str, Kind]] = REPORT

    @classmethod
    def checked(cls, settings: Mapping[str, Any]) -> None:
        """Raise TilesimError where a setting, or the report that it names, is not what it must be."""
        super().checked(settings)
        cls.report_of(settings)

    @classmethod
    def report_of(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """The report that settings ask for."""
        return read(settings["report"], cls.bench) if "report" in settings else report(cls.bench)

    def setup(self) -> None:
        """Read the report."""
        super().setup()
        self.report = self.report_of(self.given)
