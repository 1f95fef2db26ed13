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
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tilesim.errors import TraceError, shown
from tilesim.formats.profilers.segments import Slice, merged, owners, segment, tile_of
from tilesim.formats.reading import Reading, listed
from tilesim.formats.rows import Rows, integers

MAIN = re.compile(r"(?<![a-z])main[ _-]?loop(?![a-z])", re.IGNORECASE)
EPILOGUE = re.compile(r"(?<![a-z])epilogue(?![a-z])", re.IGNORECASE)
NO_SEGMENT = re.compile(r"(?<![a-z])(launch|prologue|hand-?over|wait|fix-?up)(?![a-z])", re.IGNORECASE)
FROM_ARGS = ("k0", "k1", "cycles")


def rows(
    slices: Iterable[Slice], reading: Reading, noun: str = "event", entries: Mapping[int, int] | None = None
) -> Rows:
    """The rows of `slices`; `noun` is what the file calls one, `entries` when blocks were entered, by cta.
    Raises TraceError, naming the slice at fault, or what is missing and how to give it."""
    found, kernel = _of_one_kernel(list(slices), reading)
    mains, epilogues = _sorted_out(found, reading, noun)
    segments = merged([segment(each, reading, noun) for each in mains])
    drains, ends = [one.of.end for one in segments], [one.of.end for one in segments]
    for row, each in owners(segments, merged([segment(each, reading, noun) for each in epilogues]), noun):
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
    for name in FROM_ARGS:
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


def _sorted_out(slices: list[Slice], reading: Reading, noun: str) -> tuple[list[Slice], list[Slice]]:
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
    tiled = [each for each in rest if tile_of(each, reading, noun) is not None]
    if tiled or not (reading.tile_from or reading.items):
        if not tiled:
            raise TraceError(
                f"none of its {len(slices)} slices says its tile, by a name such as 'tile 17' or by tile "
                "in args; give --map tile=NAME, --tile-from cta|order|FILE, or --items"
            )
        return tiled, [each for each in epilogues if tile_of(each, reading, noun) is not None] or epilogues
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
    """Slices that no other slice of the same track contains."""
    until: dict[object, int] = {}
    found = []
    for each in sorted(slices, key=lambda each: (each.begin, -each.end)):
        if each.begin < until.get(each.track, each.begin) and each.end <= until[each.track]:
            continue
        until[each.track] = each.end
        found.append(each)
    return found
