"""Lesson: a film that tells one story about the data that ships."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from manim import DOWN, Animation, Mobject, config

from tilesim.errors import TilesimError
from tilesim.ladder import reports
from tilesim_scenes.animations.fade import Fade, Leave, late
from tilesim_scenes.film import settings
from tilesim_scenes.film.configured_scene import Area
from tilesim_scenes.film.scene import Film
from tilesim_scenes.film.settings import READING, SIMULATION, FilmError
from tilesim_scenes.look.language import tr
from tilesim_scenes.look.text import lines, px
from tilesim_scenes.look.theme import Colour
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.words.badge import Badge
from tilesim_scenes.mobjects.words.finding import Finding
from tilesim_scenes.mobjects.words.key import Entry, Key

OWN_DATA = {"trace", *SIMULATION, *READING}
"""Settings that ask for other data than a lesson is about: with any of them, the neutral film is shown."""
FOOT, FOOT_NARROW = 236, 310
"""Pixels below the picture, for a caption of two lines; of three in a frame that is not wide."""


class Lesson(Film):
    """A film of one story. A subclass takes its figures in `prepare` and tells the story in `construct`.

    Its sentences stand where they are said, as English text with {fields} for figures; that text is the key
    of its translation. A field is a figure that is given with the sentence, or else an attribute of the
    film, as `prepare` sets them. Whatever a sentence claims about the data is guarded in `prepare`. Where
    somebody asks for data of their own, the film is made by the class `neutral` instead, which makes no
    claims.
    """

    neutral: ClassVar[type[Film] | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """What a film may be asked for follows from what its FILM declares that it takes."""
        super().__init_subclass__(**kwargs)
        takes = getattr(sys.modules.get(cls.__module__), "FILM", {}).get("takes")
        if takes:
            cls.asked = getattr(settings, takes.upper())

    def setup(self) -> None:
        super().setup()
        if self.neutral is not None and OWN_DATA & set(self.given):
            self.__class__ = type(type(self).__name__, (self.neutral,), {"default": self.default})
            return
        self._key: Key | None = None
        self.hue = self.theme.by_phase["multiply"]
        try:
            self.prepare()
        except TilesimError as error:
            raise SystemExit(f"error: {error}") from None

    @property
    def area(self) -> Area:
        """Between the margins, below badge and clock, above a caption of two lines."""
        area = super().area
        foot = px(FOOT_NARROW if self.narrow else FOOT) - config.frame_height / 2
        return area._replace(bottom=max(area.bottom, foot))

    @property
    def narrow(self) -> bool:
        """Whether the frame is square or upright, so that things are stacked that else stand side by side."""
        return config.frame_width < 1.3 * config.frame_height

    def prepare(self) -> None:
        """Take the figures from the data and guard what the film says; nothing is drawn yet."""

    def report(self, bench: str) -> Mapping[str, Any]:
        """What `tilesim bench BENCH` measured: the file of the setting `report`, or else what ships."""
        return reports.read(self.given["report"], bench) if "report" in self.given else reports.report(bench)

    def guard(self, holds: bool, claim: str) -> None:
        """Refuse data for which something that the film says is not true; `claim` follows "says that"."""
        if not holds:
            raise FilmError(
                f"the film {type(self).__name__} says that {claim}, and this data does not show it"
            )

    def measured(self) -> Badge:
        """The badge of what was measured on the film's `gpu`."""
        return Badge(self.tr("measured on {gpu}"), "measured")

    def counted(self) -> Badge:
        """The badge of what was counted there."""
        return Badge(self.tr("counted on {gpu}"), "counted")

    def ask(self, note: str = "") -> None:
        """Show the film's title and question, as FILM has them, and in small what a newcomer has to know."""
        declared = sys.modules[type(self).__module__].FILM
        question, title = declared["question"], declared["title"]
        self.title(tr(question), tr(title), tr(note) if note else "")

    def tr(self, sentence: str, **figures: Any) -> str:
        """A sentence in the film's language, its fields filled in."""
        return tr(sentence, **(vars(self) | figures))

    def say(self, sentence: str, **figures: Any) -> None:
        """Make a sentence the caption with the next play, once the one before could be read."""
        super().say(self.tr(sentence, **figures) if sentence else "")

    def word(
        self, text: str, size: float = 46, color: Colour | None = None, bold: bool = False, **figures: Any
    ) -> Mobject:
        """A label, of two lines if one is too wide; its English text is the key of its translation."""
        shown = lines(
            self.tr(text, **figures), size, self.area.width, color=color or self.theme.quiet, bold=bold
        )
        return shown[0] if len(shown) == 1 else shown

    def bold(self, text: str, size: float = 46, **figures: Any) -> Mobject:
        """A label in bold, in the ink of the theme."""
        return self.word(text, size, self.theme.text, bold=True, **figures)

    def key(self, *entries: Entry) -> Sequence[Animation]:
        """Animations that bring up what colors mean, above the caption, in place of the key before, if any.

        Without entries, they take the key away.
        """
        old, self._key = self._key, None
        changes: list[Animation] = []
        if old is not None:
            changes.append(Leave(old))
        if entries:
            new = Key(entries, self.area.width)
            new.move_to([0, self.area.bottom, 0], DOWN)
            changes.append(Fade(new, 0.0, 1.0) if old is None else Fade(new, 0.0, 1.0, 0.6, rate_func=late))
            self._key = new
        return changes

    def phases(self, *kinds: str) -> list[Entry]:
        """Entries of a key for lanes that are colored by what happens."""
        theme = self.theme
        colors = theme.by_phase | {"both": theme.both, "idle": theme.idle}
        words = {
            "hand over": tr("hand over to the copy unit"),
            "both": tr("multiply and write"),
            "idle": tr("no tile left"),
        }
        return [Entry(words.get(kind) or tr(kind), [colors[kind]]) for kind in kinds]

    def leave(self, *mobjects: Mobject) -> None:
        """Let mobjects fade out and leave the scene, once the caption could be read."""
        self.let_read()
        self.play(*map(Leave, mobjects))

    @property
    def floor(self) -> float:
        """Where the picture ends: above the key, if there is one."""
        return self.area.bottom if self._key is None else self._key.get_top()[1] + px(24)

    def close(
        self,
        sentence: str,
        rows: Sequence[tuple[str, float]],
        number: str,
        form: str,
        badge: Badge,
        conditions: str = "",
        **figures: Any,
    ) -> None:
        """The end card: a sentence, bars, and the one number that follows from the longest and the shortest.

        `rows`: name and value. `form`: how a value is written, with its unit. `number` is
        "less time", "fewer bytes", "times", "share", "part", "count" or "work": {work} times the second bar's
        work is the first one's. Any other `number` is written as it is.
        `sentence` may hold {times}, by how much the longest bar is longer,
        {less}, the share that the shortest one saves, {first} and {second}: computed from values as printed.
        """
        short, *_, long = sorted(float(form.format(value).split()[0].replace(",", "")) for _, value in rows)
        figures |= {"times": long / short, "less": 1 - short / long, "first": long, "second": short}
        kind = "measured" if badge.kind == "counted" else badge.kind
        bars = Bars([(name, value, kind) for name, value in rows], width=self.area.width, form=form)
        card = Finding(
            self.tr(sentence, **figures), _number(number, vars(self) | figures), bars, badge, conditions
        )
        self.finding(card, [bars.grow()])


def _number(kind: str, figures: Mapping[str, Any]) -> str:
    """The number of an end card."""
    return {
        "less time": lambda: tr("{less:.0%} less time", **figures),
        "fewer bytes": lambda: tr("{less:.0%} fewer bytes", **figures),
        "times": lambda: tr("{times:.1f} times", **figures),
        "work": lambda: tr("{work} times the work, same time", **figures),
        "part": lambda: tr("{second:,.0f} of {first:,.0f}", **figures),
        "share": lambda: tr("{share:.0%}", share=1 - figures["less"]),
        "count": lambda: tr("{first:.0f} of {all}", **figures),
    }.get(kind, lambda: kind)()
