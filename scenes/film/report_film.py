"""ReportFilm: a film of what a bench measured."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from tilesim.ladder.reports import read, report
from tilesim_scenes.film.scene import Film
from tilesim_scenes.film.settings import REPORT, Kind


class ReportFilm(Film):
    """A film that tells the `story` of what `tilesim bench` wrote, which ships unless a file is asked for.

    A subclass names the bench and says by `story_of` what is told; it may add parameters to `asked`.
    """

    bench: ClassVar[str]
    asked: ClassVar[Mapping[str, Kind]] = REPORT

    @classmethod
    @abstractmethod
    def story_of(cls, report: Mapping[str, Any], settings: Mapping[str, Any]) -> Any:
        """What is told of a report with some settings; raises TilesimError where nothing can be."""

    @classmethod
    def bench_of(cls, settings: Mapping[str, Any]) -> str:
        """The bench whose report settings ask for."""
        return cls.bench

    @classmethod
    def checked(cls, settings: Mapping[str, Any]) -> None:
        """Raise TilesimError where a setting, or the report that it names, is not what it must be."""
        super().checked(settings)
        cls._told(settings)

    def setup(self) -> None:
        """Find the story, in the film's language."""
        super().setup()
        self.story = self._told(self.given)

    @classmethod
    def _told(cls, settings: Mapping[str, Any]) -> Any:
        bench = cls.bench_of(settings)
        found = read(settings["report"], bench) if "report" in settings else report(bench)
        return cls.story_of(found, settings)
