"""Slices: named intervals on named tracks, as profilers write them, converted to rows.

A slice becomes a row if it is the main loop of a tile or, for work items, if no other slice contains it:

tile   args have `tile`, a number, or the name does: "tile 17", "tile_17", "tile #17". If no slice names a
       tile, the main loops are the slices named by `--map main=`, those called "main loop", or all of them
       if they have the same name
sm     args have `sm` or `smid`, or the name of the thread or process has it: "SM 5", "sm_005", "Core5"
cta    args have `cta`, or those names do: "CTA3", "Block 3", "blk3_g0"

Other slices are ignored, as are those called launch, prologue, hand-over, wait or fix-up. If several warps of
a block record the same main loop, their n-th slices are combined, from the first begin to the last end. An
epilogue belongs to the main loop of its tile, or else to the one with the same number in its block. k0, k1
and cycles come from args that every slice has.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tilesim.errors import TraceError, shown
from tilesim.formats.reading import Reading, listed
from tilesim.formats.rows import Rows, integers

TILE = re.compile(r"(?<![a-z])tile[ _#:=]*([0-9]{1,18})\b(?!\s*[,x.]\s*[0-9])", re.IGNORECASE)
SM = re.compile(r"(?<![a-z])(?:sm|core)[ _#:=]*([0-9]{1,18})(?![0-9])", re.IGNORECASE)
CTA = re.compile(r"(?<![a-z])(?:cta|block|blk)[ _#:=]*([0-9]{1,18})(?![0-9])", re.IGNORECASE)
NUMBERS: dict[str, tuple[tuple[str, ...], re.Pattern[str], tuple[str, ...]]] = {
    "tile": (("tile",), TILE, ("called",)),
    "sm": (("sm", "smid"), SM, ("thread", "process")),
    "cta": (("cta",), CTA, ("thread", "process")),
}
"""Where a number stands: under which args, or else as what in which texts of a slice."""
NUMBER = re.compile(r"([0-9]{1,18})(?![0-9])")
MAIN = re.compile(r"(?<![a-z])main[ _-]?loop(?![a-z])", re.IGNORECASE)
EPILOGUE = re.compile(r"(?<![a-z])epilogue(?![a-z])", re.IGNORECASE)
NO_SEGMENT = re.compile(r"(?<![a-z])(launch|prologue|hand-?over|wait|fix-?up)(?![a-z])", re.IGNORECASE)
FROM_ARGS = ("k0", "k1", "cycles")


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
    tile: int | None = None
    sm: int | None = None
    cta: int | None = None
    """What `located` finds, None if the slice names none."""

    @property
    def called(self) -> str:
        return f"{self.name} {self.category}"

    @property
    def place(self) -> object:
        """Identifies its part of the work."""
        return self.tile, self.sm, str(self.args.get("k0"))

    @property
    def block(self) -> object:
        """Identifies its thread block: the number, or else the track."""
        return (self.track,) if self.cta is None else self.cta


def located(each: Slice, reading: Reading, noun: str) -> Slice:
    """A slice with the place that it names; raises TraceError if it names no SM."""
    cta, sm = _number(each, "cta", reading), _number(each, "sm", reading)
    for name, found in (("cta", cta), ("sm", sm)):
        if found is None and name in reading.names:
            raise TraceError(
                f"{noun} {each.number} ({shown(each.name)}) has no number {shown(reading.names[name])} "
                f"to take {name} from; {listed([*each.args, 'thread', 'process', 'name'])}"
            )
    if sm is None:
        args = f" or --map sm={shown(next(iter(each.args)))} from its args" if each.args else ""
        raise TraceError(
            f"{noun} {each.number} ({shown(each.name.strip())}) does not say its SM, by the name of its "
            "thread or process, such as 'SM 5', or by sm in its args; --map sm=thread takes the number in "
            f"{shown(each.thread)}{args}"
        )
    return replace(each, tile=tile_of(each, reading), sm=sm, cta=cta)


def tile_of(each: Slice, reading: Reading) -> int | None:
    """The tile that a slice names; None if it names none, or tiles come from elsewhere."""
    return None if reading.tile_from or reading.items else _number(each, "tile", reading)


def _number(each: Slice, name: str, reading: Reading) -> int | None:
    """A number from the slice's args, or else from one of its texts, as NUMBERS or a mapping says."""
    keys, pattern, texts = NUMBERS[name]
    if name in reading.names:
        theirs = reading.names[name]
        keys, pattern, texts = (theirs,), NUMBER, tuple({theirs} & {"thread", "process", "name"})
    for key in keys:
        if type(each.args.get(key)) is int:
            return each.args[key]
    match = next(filter(None, (pattern.search(getattr(each, text)) for text in texts)), None)
    return int(match[1]) if match else None


def merged(segments: Iterable[Slice]) -> list[Slice]:
    """Combine segments recorded by several threads of a block, in file order."""

    def what(one: Slice) -> object:
        return one.name if one.tile is None else (one.tile, str(one.args.get("k0")))

    groups: dict[object, list[Slice]] = defaultdict(list)
    for one, turn in _in_turn(segments, lambda one: (one.block, one.track, what(one))):
        groups[one.sm, one.block, what(one), turn].append(one)
    found = [
        replace(group[0], number=min(one.number for one in group), end=max(one.end for one in group))
        for group in groups.values()
    ]
    return sorted(found, key=lambda one: one.number)


def owners(segments: list[Slice], epilogues: list[Slice], noun: str) -> Iterator[tuple[Slice, Slice]]:
    """(main loop, epilogue) for each epilogue."""
    by_tile = {one.place: one for one in reversed(segments)}
    by_turn = {(one.block, turn): one for one, turn in _in_turn(segments, lambda one: one.block)}
    for each, turn in _in_turn(epilogues, lambda one: one.block):
        owner = by_turn.get((each.block, turn)) if each.tile is None else by_tile.get(each.place)
        if owner is None:
            whose = f"tile {each.tile} on SM {each.sm}" if each.tile is not None else f"SM {each.sm}"
            raise TraceError(f"{noun} {each.number} is an epilogue of {whose}, and has no other slice")
        yield owner, each


def _in_turn(segments: Iterable[Slice], key: Callable[[Slice], object]) -> Iterator[tuple[Slice, int]]:
    """(segment, how many of the same key came before it), in order of time."""
    turns: Counter[object] = Counter()
    for one in sorted(segments, key=lambda one: (one.begin, one.number)):
        yield one, turns[key(one)]
        turns[key(one)] += 1


def rows(
    slices: Iterable[Slice], reading: Reading, noun: str = "event", entries: Mapping[int | None, int] = {}
) -> Rows:
    """The rows of `slices`; `noun` is what the file calls one, `entries` when blocks were entered, by cta.
    Raises TraceError, naming the slice at fault, or what is missing and how to give it."""
    found, kernel = _of_one_kernel(list(slices), reading)
    mains, epilogues = _sorted_out(found, reading)
    segments = merged(located(each, reading, noun) for each in mains)
    drains = {one.number: one.end for one in segments}
    ends = dict(drains)
    for one, each in owners(segments, merged(located(each, reading, noun) for each in epilogues), noun):
        drains[one.number] = each.begin
        ends[one.number] = max(ends[one.number], each.end)
    columns: dict[str, list[Any]] = {
        "sm": [one.sm for one in segments],
        "start": [one.begin for one in segments],
        "drain": list(drains.values()),
        "end": list(ends.values()),
        "tile": [one.tile for one in segments],
        "cta": [one.cta for one in segments],
        "entry": [entries.get(one.cta) for one in segments],
    }
    for name in FROM_ARGS:
        values = [one.args.get(reading.names.get(name, name)) for one in segments]
        columns[name] = [value if type(value) is int else None for value in values]
    lines = np.array([one.number for one in segments], np.int64)
    arrays = {
        name: integers(name, column, lambda row: f"{noun} {lines[row]}")
        for name, column in columns.items()
        if None not in column
    }
    items = tuple(one.name for one in segments)
    return Rows({"schedule": kernel} if kernel else {}, arrays, lines, noun, items)


def _of_one_kernel(slices: list[Slice], reading: Reading) -> tuple[list[Slice], str]:
    """(the slices of the selected kernel, its name)."""
    kernels = list(dict.fromkeys(each.kernel for each in slices if each.kernel))
    wanted = reading.names.get("kernel")
    if wanted is None and len(kernels) > 1:
        raise TraceError(
            f"it holds {len(kernels)} kernels; {listed(kernels)}: choose one with --map kernel=NAME"
        )
    if wanted is not None and wanted not in kernels:
        raise TraceError(f"it has no kernel {shown(wanted)}; {listed(kernels)}")
    kernel = wanted or (kernels[0] if kernels else "")
    return [each for each in slices if each.kernel == kernel], kernel


def _sorted_out(slices: list[Slice], reading: Reading) -> tuple[list[Slice], list[Slice]]:
    """(main loops, epilogues), by the names given or else by the slices' own names."""
    written, main = reading.names.get("epilogue"), reading.names.get("main")
    if written is not None:
        epilogues = [each for each in slices if each.name == written]
    else:
        epilogues = [each for each in slices if EPILOGUE.search(each.called) and not reading.items]
    skipped = {each.number for each in epilogues}
    rest = [each for each in slices if each.number not in skipped and not NO_SEGMENT.search(each.called)]
    for name in (main, written):
        if name is not None and all(each.name != name for each in slices):
            raise TraceError(f"no slice is called {shown(name)}; {listed(each.name for each in slices)}")
    if main is not None:
        return [each for each in slices if each.name == main], epilogues
    tiled = [each for each in rest if tile_of(each, reading) is not None]
    if tiled or not (reading.tile_from or reading.items):
        if not tiled:
            raise TraceError(
                f"none of its {len(slices)} slices says its tile, by a name such as 'tile 17' or by tile "
                "in args; give --map tile=NAME, --tile-from cta|order|FILE, or --items"
            )
        return tiled, [each for each in epilogues if tile_of(each, reading) is not None] or epilogues
    if reading.items:
        return _outermost(rest), epilogues
    named = [each for each in rest if MAIN.search(each.called)] or rest
    if len({each.name for each in named}) != 1:
        raise TraceError(
            f"it does not say which slices are main loops; {listed(each.name for each in named)}: "
            "choose one with --map main=NAME, and one for the write with --map epilogue=NAME"
        )
    return named, epilogues


def _outermost(slices: Sequence[Slice]) -> list[Slice]:
    """Slices that no other slice of the same track contains."""
    until: dict[object, int] = {}
    found = []
    for each in sorted(slices, key=lambda each: (each.begin, -each.end)):
        if each.begin < until.get(each.track, each.begin) and each.end <= until[each.track]:
            continue
        until[each.track] = each.end
        found.append(each)
    return found
