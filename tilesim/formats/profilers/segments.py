"""Slices of profilers, the location and tile that they name, and which of a thread block belong together."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tilesim.errors import TraceError, shown
from tilesim.formats.reading import Reading, listed

TILE = re.compile(r"(?<![a-z])tile[ _#:=]*([0-9]{1,18})\b(?!\s*[,x.]\s*[0-9])", re.IGNORECASE)
SM = re.compile(r"(?<![a-z])(?:sm|core)[ _#:=]*([0-9]{1,18})(?![0-9])", re.IGNORECASE)
CTA = re.compile(r"(?<![a-z])(?:cta|block|blk)[ _#:=]*([0-9]{1,18})(?![0-9])", re.IGNORECASE)
NUMBER = re.compile(r"([0-9]{1,18})(?![0-9])")


@dataclass(frozen=True, slots=True)
class Slice:
    """Slice `number` of its file; `begin` and `end` in ns; `kernel` is "" if the file does not name it."""

    number: int
    name: str
    process: str
    thread: str
    begin: int
    end: int
    args: Mapping[str, Any] = field(default_factory=dict)
    category: str = ""
    kernel: str = ""
    track: object = None
    """Identifies the track, whatever its name."""

    @property
    def called(self) -> str:
        return f"{self.name} {self.category}"


@dataclass(frozen=True, slots=True)
class Segment:
    """A slice with the location that it names; None if it names none."""

    of: Slice
    tile: int | None
    sm: int
    cta: int | None

    @property
    def place(self) -> object:
        """Identifies its part of the work."""
        return self.tile, self.sm, str(self.of.args.get("k0"))

    @property
    def block(self) -> object:
        """Identifies its thread block: the number, or else the track."""
        return (self.of.track,) if self.cta is None else self.cta


def segment(each: Slice, reading: Reading, noun: str) -> Segment:
    """The location of a slice; raises TraceError if it names no SM."""
    cta = _said(each, "cta", reading, noun, ("cta",), CTA)
    sm = _said(each, "sm", reading, noun, ("sm", "smid"), SM)
    if sm is None:
        args = f" or --map sm={shown(next(iter(each.args)))} from its args" if each.args else ""
        raise TraceError(
            f"{noun} {each.number} ({shown(each.name.strip())}) does not say its SM, by the name of its "
            "thread or process, such as 'SM 5', or by sm in its args; --map sm=thread takes the number in "
            f"{shown(each.thread)}"
            f"{args}"
        )
    return Segment(each, tile_of(each, reading, noun), sm, cta)


def tile_of(each: Slice, reading: Reading, noun: str) -> int | None:
    """The tile that a slice names; None if it names none, or tiles come from elsewhere."""
    if reading.tile_from or reading.items:
        return None
    if "tile" in reading.names:
        return _mapped(each, "tile", reading.names["tile"], noun)
    if type(each.args.get("tile")) is int:
        return each.args["tile"]
    match = TILE.search(each.called)
    return int(match[1]) if match else None


def _said(
    each: Slice, name: str, reading: Reading, noun: str, keys: Iterable[str], pattern: re.Pattern[str]
) -> int | None:
    """A number from the slice's args, or the name of its thread or process."""
    if name in reading.names:
        found = _mapped(each, name, reading.names[name], noun)
        if found is None:
            raise TraceError(
                f"{noun} {each.number} ({shown(each.name)}) has no number {shown(reading.names[name])} "
                f"to take {name} from; {listed([*each.args, 'thread', 'process', 'name'])}"
            )
        return found
    for key in keys:
        if type(each.args.get(key)) is int:
            return each.args[key]
    for text in (each.thread, each.process):
        match = pattern.search(text)
        if match:
            return int(match[1])
    return None


def _mapped(each: Slice, name: str, theirs: str, noun: str) -> int | None:
    """The number under `theirs` in the args, or in the name of the thread, process or slice."""
    if type(each.args.get(theirs)) is int:
        return each.args[theirs]
    texts = {"thread": each.thread, "process": each.process, "name": each.name}
    match = NUMBER.search(texts.get(theirs, ""))
    return int(match[1]) if match else None


def merged(segments: Sequence[Segment]) -> list[Segment]:
    """Combine segments recorded by several threads of a block, in file order."""
    turns: Counter[object] = Counter()
    groups: dict[object, list[Segment]] = defaultdict(list)
    for one in sorted(segments, key=lambda one: (one.of.begin, one.of.number)):
        what = one.of.name if one.tile is None else (one.tile, str(one.of.args.get("k0")))
        track = one.block, one.of.track, what
        groups[one.sm, one.block, what, turns[track]].append(one)
        turns[track] += 1
    found = [
        replace(
            group[0],
            of=replace(
                group[0].of,
                number=min(one.of.number for one in group),
                begin=min(one.of.begin for one in group),
                end=max(one.of.end for one in group),
            ),
        )
        for group in groups.values()
    ]
    return sorted(found, key=lambda one: one.of.number)


def owners(segments: list[Segment], epilogues: list[Segment], noun: str) -> list[tuple[int, Slice]]:
    """(row of the main loop, epilogue) for each epilogue."""
    by_tile: dict[object, int] = {}
    for row, one in enumerate(segments):
        by_tile.setdefault(one.place, row)
    by_turn = {turn: row for row, turn in _turns(segments)}
    found = []
    for number, turn in _turns(epilogues):
        each = epilogues[number]
        owner = by_turn.get(turn) if each.tile is None else by_tile.get(each.place)
        if owner is None:
            whose = f"tile {each.tile} on SM {each.sm}" if each.tile is not None else f"SM {each.sm}"
            raise TraceError(f"{noun} {each.of.number} is an epilogue of {whose}, and has no other slice")
        found.append((owner, each.of))
    return found


def _turns(segments: Sequence[Segment]) -> list[tuple[int, tuple[object, int]]]:
    """(row, (block, how many came before it in its block)), in order of time."""
    turns: Counter[object] = Counter()
    found = []
    for row in sorted(range(len(segments)), key=lambda row: segments[row].of.begin):
        block = segments[row].block
        found.append((row, (block, turns[block])))
        turns[block] += 1
    return found
