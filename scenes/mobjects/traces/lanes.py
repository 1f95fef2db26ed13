"""Lanes: what SMs do over time, a lane for each place of a thread block. Parts: what is drawn in them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from textwrap import shorten
from typing import Any, NamedTuple, Self

import numpy as np
from manim import Group, Mobject, VMobject

from tilesim import Trace
from tilesim.metrics import launch_end, next_in_slot, slot_index
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import AnyColour
from tilesim_scenes.mobjects.drawing.redrawn import one_of

MOST_SPANS = 500
"""Segments up to which lanes are vectors; beyond they are an image."""
MOST_LANES = 16
KINDS = ("launch", "first load", "hand over", "multiply", "wait", "fix up", "write", "write under")
"""Hand over is to a later segment of a thread block. Wait is for other thread blocks' partials, which fix up
adds. Write under runs beneath the main loop of the next segment."""


class Lanes(Mobject):
    """Lanes of a trace: vectors where they are few, and one image, LaneImage, where they are many.

    `sms`: whose lanes to show, all by default. `window`: the ns of the trace that they show, its whole run by
    default. `width`: units of a lane, its name not counted. `lane_height`: units of one lane, or `height` of
    all together. `gap`: units between two. `labels`: names of SMs on the left. `ticks`: a dark line after
    each K-step, where they are far enough apart. `numbers`: of tiles, in their main loops. `cursor`: a line
    at the clock. `fills`: colors for some of `KINDS`, in place of the SM's own and the theme's. An
    image takes colors for all of them or for none, and has no gaps, names, ticks and numbers.

    A subclass of it is as well one of LaneVectors or LaneImage, whichever its lanes need.

    Raises ValueError for SMs that the trace does not have, and for `fills` that these lanes do not take.
    """

    grounds: Group
    names: Group
    t: float

    def __init__(
        self,
        trace: Trace,
        sms: Iterable[int] | None = None,
        window: tuple[float, float] | None = None,
        width: float | None = None,
        lane_height: float | None = None,
        height: float | None = None,
        gap: float | None = None,
        labels: bool = True,
        ticks: bool = True,
        numbers: bool = True,
        cursor: bool = True,
        fills: Mapping[str, AnyColour] | None = None,
    ) -> None:
        # Both are lanes, so neither can be read before this class is.
        from tilesim_scenes.mobjects.traces.lane_image import LaneImage
        from tilesim_scenes.mobjects.traces.lane_vectors import LaneVectors

        shown = shown_sms(trace, sms)
        if not isinstance(self, LaneVectors | LaneImage):
            self.__class__ = one_of(type(self), LaneVectors if few(trace, shown) else LaneImage)
        if fills and (not isinstance(fills, Mapping) or not set(KINDS).issuperset(fills)):
            raise ValueError(f"fills gives colors by kind of part, and the kinds are {', '.join(KINDS)}")
        if fills and isinstance(self, LaneImage) and len(fills) < len(KINDS):
            raise ValueError(f"so many lanes are an image, whose fills must color all of {', '.join(KINDS)}")
        self.trace, self.sms = trace, shown
        self.window = window or (0.0, float(trace.makespan))
        places = trace.device.ctas_per_sm
        self.slots = [sm * places + place for sm in self.sms for place in range(places)]
        self._cursor, self._ticks, self._numbered, self._fills = cursor, ticks, numbers, fills or {}
        self._build(width or px(1400), lane_height, height, gap, labels)

    def show(self, t: float) -> Self:
        """Look as at `t`, ns of the trace: what has happened by then is drawn."""
        return super().show(t)

    def x(self, t: float) -> float:
        """The scene's x of an instant, also beyond the window."""
        raise NotImplementedError

    def lane(self, sm: int) -> Mobject:
        """Where an SM's lanes are: their grounds, or in an image their outline.

        Raises IndexError where they are not shown.
        """
        raise NotImplementedError

    def span(self, tile: int, part: str = "multiply") -> VMobject:
        """A tile's part, one of `KINDS`, as it is now; of several segments, all.

        An image has its outline, of several segments the first one's.

        Raises KeyError where these lanes show no such part.
        """
        raise NotImplementedError

    def _row(self, sm: int) -> int:
        """The place of an SM among those shown."""
        if sm not in self.sms:
            named = shorten(", ".join(map(str, self.sms)), 60, placeholder=" and more")
            raise IndexError(f"these lanes show no SM {sm}; they show {named}")
        return self.sms.index(sm)

    def _share(self, t: float) -> float:
        """How far along the window an instant is: 0 at its begin, 1 at its end."""
        low, high = self.window
        return (t - low) / (high - low)


def shown_sms(trace: Trace, sms: Iterable[int] | None) -> tuple[int, ...]:
    """The SMs whose lanes are shown, all of them where none are named."""
    every = range(trace.device.sms)
    if sms is not None and not isinstance(sms, Iterable):
        raise ValueError(f"sms is a list of SMs, such as range(4), and not {sms!r}")
    shown = tuple(every if sms is None else sms)
    unknown = [sm for sm in shown if sm not in every]
    if unknown or not shown:
        named = unknown[0] if unknown else "none"
        raise ValueError(f"sms must name SMs of the trace, 0 to {every[-1]}, but names {named}")
    return shown


def not_shown(tile: int, part: str) -> KeyError:
    """What is raised where lanes are asked for a part that they do not show."""
    return KeyError(f"these lanes show no {part} of tile {tile}; a part is one of {', '.join(KINDS)}")


def few(trace: Trace, shown: tuple[int, ...]) -> bool:
    """Whether lanes of some SMs are drawn as vectors."""
    lanes = len(shown) * trace.device.ctas_per_sm
    return lanes <= MOST_LANES and int(np.isin(trace.spans["sm"], shown).sum()) <= MOST_SPANS


class Part(NamedTuple):
    """What one slot does between `begin` and `end`, in ns. `kind`: one of KINDS. `row`: of its spans."""

    slot: int
    begin: int
    end: int
    kind: str
    row: int


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """All parts that take time, those that lie on others last: arrays of shape [parts].

    `slot` is as of `metrics.slot_index`, `begin` and `end` are ns, `kind` indexes KINDS, and `row` the
    trace's spans.
    """

    slot: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    kind: np.ndarray
    row: np.ndarray

    def each(self) -> list[Part]:
        """The same, part by part.

        >>> from tilesim import Costs, Device, Problem, simulate
        >>> trace = simulate("naive", Problem(128, 256, 4, tile=(128, 128, 4)), Device(2), Costs.ideal())
        >>> [tuple(part) for part in parts(trace).each()]
        [(0, 0, 1000, 'multiply', 0), (1, 0, 1000, 'multiply', 1)]
        """
        columns = (self.slot, self.begin, self.end, self.kind, self.row)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [Part(slot, begin, end, KINDS[kind], row) for slot, begin, end, kind, row in rows]

    def shown(self, slots: list[int], window: tuple[float, float]) -> "Parts":
        """Those in some slots that show in a window, ns."""
        low, high = window
        return self.chosen(np.isin(self.slot, slots) & (self.end > low) & (self.begin < high))

    def chosen(self, rows: np.ndarray) -> "Parts":
        """Some of them, by index or mask."""
        return Parts(self.slot[rows], self.begin[rows], self.end[rows], self.kind[rows], self.row[rows])

    def __deepcopy__(self, memo: Any) -> "Parts":
        return self


def parts(trace: Trace) -> Parts:
    """What every slot of a trace does, over its whole run."""
    spans = trace.spans
    launched = launch_end(trace)
    first = launched > spans["issue"]
    under = next_in_slot(trace, "start") < spans["done"]
    # A block that spends no time on its launch is told from a hand-over by its being the block's first.
    first[np.unique(spans["cta"], return_index=True)[1]] = True
    columns = (
        ("launch", spans["issue"], launched, first),
        ("first load", launched, spans["start"], first),
        ("hand over", spans["issue"], spans["start"], ~first),
        ("multiply", spans["start"], spans["drain"], None),
        ("wait", spans["drain"], spans["ready"], None),
        ("fix up", spans["ready"], spans["fixup"], None),
        ("write", spans["fixup"], spans["done"], ~under),
        ("write under", spans["fixup"], spans["done"], under),
    )
    begin, end, kind, row = [], [], [], []
    for name, left, right, those in columns:
        shown = np.flatnonzero((right > left) if those is None else (right > left) & those)
        begin.append(left[shown])
        end.append(right[shown])
        kind.append(np.full(len(shown), KINDS.index(name)))
        row.append(shown)
    rows = np.concatenate(row)
    return Parts(
        slot_index(trace)[rows], np.concatenate(begin), np.concatenate(end), np.concatenate(kind), rows
    )
