"""Slices: named stretches of time on named tracks, as profilers write them, and the rows that they make.

A slice counts where it is a main loop of a tile, or where each is a work item:

tile   its args hold `tile`, a number, or its name does: "tile 17", "tile_17", "tile #17". Where none says it,
       the main loops are the slices that `--map main=` names, those called "main loop", or all if they are
       called alike
sm     args hold `sm` or `smid`; or the name of its thread, or else of its process, does: "SM 5", "sm_005",
       "Core5"
cta    args hold `cta`; or those names do: "CTA3", "Block 3", "blk3_g0"

Others are left alone, and so are those called launch, prologue, hand-over, wait or fix-up by their name or
category. Warps of a thread block that stamp the same main loop, each on a thread of its own, are put
together: from the first begin to the last end, the n-th of one with the n-th of the others. A slice called
epilogue belongs to the main loop of its tile, or else to the one of the same number in its block: from its
begin on, the tile is written. k0, k1 and cycles are taken from args that hold them in every slice.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tilesim.errors import TraceError, shown
from tilesim.formats.reading import Reading, listed
from tilesim.formats.rows import Rows, integers

TILE = re.compile(r"(?<![a-z])tile[ _#:=]*([0-9]{1,18})\b(?!\s*[,x.]\s*[0-9])", re.IGNORECASE)
SM = re.compile(r"(?<![a-z])(?:sm|core)[ _#:=]*([0-9]{1,18})(?![0-9])", re.IGNORECASE)
CTA = re.compile(r"(?<![a-z])(?:cta|block|blk)[ _#:=]*([0-9]{1,18})(?![0-9])", re.IGNORECASE)
NUMBER = re.compile(r"([0-9]{1,18})(?![0-9])")
MAIN = re.compile(r"(?<![a-z])main[ _-]?loop(?![a-z])", re.IGNORECASE)
EPILOGUE = re.compile(r"(?<![a-z])epilogue(?![a-z])", re.IGNORECASE)
NO_SEGMENT = re.compile(r"(?<![a-z])(launch|prologue|hand-?over|wait|fix-?up)(?![a-z])", re.IGNORECASE)
FROM_ARGS = ("cta", "k0", "k1", "cycles")


@dataclass(frozen=True, slots=True)
class Slice:
    """Of that number in its file; `begin` and `end` in ns. `kernel`: which one it is of, where the file
    says."""

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
    """What tells its track from others, whatever they are called."""

    @property
    def called(self) -> str:
        return f"{self.name} {self.category}"


@dataclass(frozen=True, slots=True)
class Segment:
    """A slice with what it says of its place; None where it does not."""

    of: Slice
    tile: int | None
    sm: int
    cta: int | None

    @property
    def place(self) -> object:
        """What tells its part of the work from others."""
        return self.tile, self.sm, str(self.of.args.get("k0"))

    @property
    def block(self) -> object:
        """What tells its thread block from others: its number, or else its track."""
        return (self.of.track,) if self.cta is None else self.cta


def rows(
    slices: Iterable[Slice], reading: Reading, noun: str = "event", entries: Mapping[int, int] | None = None
) -> Rows:
    """The rows of `slices`; `noun` is what the file calls one, `entries` when blocks were entered, by cta.

    Raises TraceError, naming the slice at fault, or what is missing and how to give it.
    """
    found, kernel = _of_one_kernel(list(slices), reading)
    mains, epilogues = _sorted_out(found, reading, noun)
    segments = _merged([_segment(each, reading, noun) for each in mains])
    drains, ends = [one.of.end for one in segments], [one.of.end for one in segments]
    for row, each in _owners(segments, _merged([_segment(each, reading, noun) for each in epilogues]), noun):
        drains[row] = each.begin
        ends[row] = max(ends[row], each.end)
    columns: dict[str, list[Any]] = {
        "sm": [one.sm for one in segments],
        "start": [one.of.begin for one in segments],
        "drain": drains,
        "end": ends,
    }
    if all(one.tile is not None for one in segments):
        columns["tile"] = [one.tile for one in segments]
    if all(one.cta is not None for one in segments):
        columns["cta"] = [one.cta for one in segments]
    for name in FROM_ARGS[1:]:
        key = reading.names.get(name, name)
        if all(type(one.of.args.get(key)) is int for one in segments):
            columns[name] = [one.of.args[key] for one in segments]
    if entries and all(one.cta in entries for one in segments):
        columns["entry"] = [entries[one.cta] for one in segments if one.cta is not None]
    lines = np.array([one.of.number for one in segments], np.int64)
    arrays = {
        name: integers(name, column, int, lambda row: f"{noun} {lines[row]}")
        for name, column in columns.items()
    }
    items = tuple(one.of.name for one in segments)
    return Rows({"schedule": kernel} if kernel else {}, arrays, lines, noun, items)


def _of_one_kernel(slices: list[Slice], reading: Reading) -> tuple[list[Slice], str]:
    """(the slices of the kernel that is to be read, its name)."""
    kernels = list(dict.fromkeys(each.kernel for each in slices))
    wanted = reading.names.get("kernel")
    if wanted is None and len(kernels) > 1:
        raise TraceError(
            f"it holds {len(kernels)} kernels; {listed(kernels)}: choose one with --map kernel=NAME"
        )
    if wanted is not None and wanted not in kernels:
        raise TraceError(f"it has no kernel {shown(wanted)}; {listed(kernels)}")
    kernel = kernels[0] if wanted is None and kernels else wanted or ""
    return [each for each in slices if each.kernel == kernel], kernel


def _sorted_out(slices: list[Slice], reading: Reading, noun: str) -> tuple[list[Slice], list[Slice]]:
    """(main loops, epilogues): those that are named so, or else those that say so."""
    written, main = reading.names.get("epilogue"), reading.names.get("main")
    epilogues = [
        each for each in slices if (EPILOGUE.search(each.called) if written is None else each.name == written)
    ]
    skipped = {each.number for each in epilogues}
    rest = [each for each in slices if each.number not in skipped and not NO_SEGMENT.search(each.called)]
    for name in (main, written):
        if name is not None and all(each.name != name for each in slices):
            raise TraceError(f"no slice is called {shown(name)}; {listed(each.name for each in slices)}")
    if main is not None:
        return [each for each in slices if each.name == main], epilogues
    tiled = [each for each in rest if _tile(each, reading, noun) is not None]
    if tiled or not (reading.tile_from or reading.items):
        if not tiled:
            raise TraceError(
                f"none of its {len(slices)} slices says its tile, by a name such as 'tile 17' or by tile "
                "in args; give --map tile=NAME, --tile-from cta|order|FILE, or --items"
            )
        return tiled, [
            each
            for each in epilogues
            if reading.names.get("tile") is None or _tile(each, reading, noun) is not None
        ]
    if reading.items:
        return _outermost(rest), epilogues
    named = [each for each in rest if MAIN.search(each.called)] or rest
    if len({each.name for each in named}) > 1:
        raise TraceError(
            f"it does not say which slices are main loops; {listed(each.name for each in named)}: "
            "choose one with --map main=NAME, and one for the write with --map epilogue=NAME"
        )
    if not named:
        raise TraceError(
            f"there is no main loop among its {len(slices)} slices; {listed(each.name for each in slices)}"
        )
    return named, epilogues


def _outermost(slices: Sequence[Slice]) -> list[Slice]:
    """Those that no other slice of the same track holds."""
    until: dict[object, int] = {}
    found = []
    for each in sorted(slices, key=lambda each: (each.begin, -each.end)):
        if each.begin < until.get(each.track, each.begin) and each.end <= until[each.track]:
            continue
        until[each.track] = each.end
        found.append(each)
    return found


def _segment(each: Slice, reading: Reading, noun: str) -> Segment:
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
    return Segment(each, _tile(each, reading, noun), sm, cta)


def _tile(each: Slice, reading: Reading, noun: str) -> int | None:
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
    """A number by its args, or by the name of its thread, or of its process."""
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
    """The number under `theirs` in its args, or in the name of its thread, its process or itself."""
    if type(each.args.get(theirs)) is int:
        return each.args[theirs]
    texts = {"thread": each.thread, "process": each.process, "name": each.name}
    match = NUMBER.search(texts.get(theirs, ""))
    return int(match[1]) if match else None


def _merged(segments: Sequence[Segment]) -> list[Segment]:
    """One segment for those that several threads of a block stamp, in the order of the file."""
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


def _owners(segments: list[Segment], epilogues: list[Segment], noun: str) -> list[tuple[int, Slice]]:
    """(the row of its main loop, an epilogue), for each of these."""
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
    """(row, (block, how many came before it in its block)), in the order of time."""
    turns: Counter[object] = Counter()
    found = []
    for row in sorted(range(len(segments)), key=lambda row: segments[row].of.begin):
        block = segments[row].block
        found.append((row, (block, turns[block])))
        turns[block] += 1
    return found
