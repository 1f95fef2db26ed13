"""Take: which frames of a scene a process draws, and where they go.

One process draws all segments one after the other; or it forks where a segment begins, and whoever was forked
draws that segment and ends, while it walks on through the scene. Where enough are forked it draws itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tilesim_scenes.render.dirty import Pixels
from tilesim_scenes.render.files.formats import Format, SegmentEncoder
from tilesim_scenes.render.files.planes import HDTV, Planes
from tilesim_scenes.render.forks import Forks


class Encoded(SegmentEncoder):
    """Encodes frames into `path`; `planes`, if given, keep the last one from segment to segment."""

    def __init__(self, path: Path, form: Format, planes: Planes | None = None) -> None:
        super().__init__(path, form.codec, *form.size, form.rate)
        self.planes = planes or Planes(*form.size, form.codec.pixels, HDTV)

    def show(self, picture: np.ndarray, changed: list[Pixels], repeat: int) -> None:
        self.planes.convert(picture, changed)
        self.write(self.planes.frame, repeat)


@dataclass(frozen=True, slots=True)
class Part:
    """The frames from `first` on and before `end`, cut into segments of `length` frames."""

    first: int
    end: int
    length: int

    def segment(self, number: int) -> int:
        """The segment that a frame of the part is in."""
        return (number - self.first) // self.length

    def rest(self, number: int) -> int:
        """How many frames from `number` on have the same lot."""
        if number < self.first:
            return self.first - number
        if number >= self.end:
            return 2**62
        return min(self.first + (self.segment(number) + 1) * self.length, self.end) - number

    def segments(self) -> list["Part"]:
        """Each segment as a part of its own."""
        firsts = range(self.first, self.end, self.length)
        return [Part(first, min(first + self.length, self.end), self.length) for first in firsts]


class Take:
    """Draws the frames of `part`, here or in processes that are forked; `sink` opens a segment by number."""

    def __init__(self, part: Part, sink: Callable[[int], Any], forks: Forks | None = None) -> None:
        self.part, self.sink, self.forks = part, sink, forks
        self.mine: int | None = None
        """The segment that this process draws, where it is one of several."""
        self.seen, self.shown = -1, 0
        self.open: tuple[int, Encoded] | None = None

    def needs(self, first: int, count: int = 1) -> bool:
        """Whether this process draws one of so many frames from `first` on, or forks before one of them."""
        first, end = max(first, self.part.first), min(first + count, self.part.end)
        if first >= end or self.forks is None:
            return first < end
        segments = range(self.part.segment(first), self.part.segment(end - 1) + 1)
        return self.mine in segments or (not self.forks.forked and segments[-1] > self.seen)

    def wants(self, number: int) -> bool:
        """Whether this process draws the frame `number`, which is next; may fork where a segment begins."""
        if not self.part.first <= number < self.part.end:
            return False
        segment = self.part.segment(number)
        if self.forks and not self.forks.forked and segment > self.seen:
            self.close()  # An encoder does not outlive a fork.
            self.seen = segment
            self.mine = segment if self.forks.full() or self.forks.fork() else None
        return segment == self.mine if self.forks else True

    def show(self, number: int, picture: np.ndarray, changed: list[Pixels], repeat: int) -> None:
        """Take the frame `number`, shown `repeat` times, all of them in the same segment."""
        segment = self.part.segment(number)
        if self.open is None or self.open[0] != segment:
            self.close()
            self.open = segment, self.sink(segment)
        self.open[1].show(picture, changed, repeat)
        self.shown += repeat
        if self.forks:
            self.forks.done(repeat)

    def over(self, number: int) -> bool:
        """Whether those before `number` are all that were asked for; a forked process ends here then."""
        if self.part.rest(number - 1) == 1:
            self.leave()
        return number >= self.part.end

    def close(self) -> None:
        """There are no more frames."""
        if self.open is not None:
            self.open[1].close()
            self.open = None

    def leave(self, error: str = "") -> None:
        """End this process if it was forked, with what went wrong, if anything did."""
        if self.forks and self.forks.forked:
            if not error:
                self.close()
            self.forks.leave(error)
