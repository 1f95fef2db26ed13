"""IKET's JSON: ranges recorded by warps of a CuTe DSL kernel, from NVIDIA's `run-iket --postprocess json`.

`launches` lists kernels with `ranges`, which have a name, `startTs` and `endTs` in ns, and the warp's
location: SM, CTA as three coordinates, warp. A warp's lifetime begins with its block's first instruction.
Names and locations are inline, or indices into `stringTable` and `locationTable`. Format:
docs.nvidia.com/cutlass, "IKET Profiling", "JSON Trace Shape", CUTLASS 4.6; both forms are experimental.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from tilesim.errors import TraceError, shown
from tilesim.formats.profilers import slices
from tilesim.formats.profilers.slices import Slice
from tilesim.formats.reading import AS_IT_IS, Reading
from tilesim.formats.rows import Rows
from tilesim.storage.decode import between, decode

T = TypeVar("T")
Whole = Annotated[int, between(-(2**63), 2**63 - 1)]
Coordinate = Annotated[int, between(0, 2**31 - 1)]


@dataclass(frozen=True, slots=True)
class _Place:
    ctaId: tuple[Coordinate, Coordinate, Coordinate]
    warpId: Whole
    smId: Whole | None = None


@dataclass(frozen=True, slots=True)
class _Range:
    startTs: Whole
    endTs: Whole
    rangeName: str | None = None
    rangeNameIdx: int | None = None
    warpLocs: tuple[_Place, ...] = ()
    warpLocIdxs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _Lifetime:
    startTs: Whole
    warpLocation: _Place | None = None
    locIdx: int | None = None


@dataclass(frozen=True, slots=True)
class _Launch:
    kernelName: str = ""
    ranges: tuple[_Range, ...] = ()
    warpLifetimes: tuple[_Lifetime, ...] = ()


@dataclass(frozen=True, slots=True)
class _File:
    launches: tuple[_Launch, ...]
    stringTable: tuple[str, ...] = ()
    locationTable: tuple[_Place, ...] = ()


def is_iket(values: object) -> bool:
    return isinstance(values, dict) and isinstance(values.get("launches"), list)


def parse(values: dict[str, Any], reading: Reading = AS_IT_IS) -> Rows:
    """The rows of parsed JSON; raises TraceError that names the field or range at fault."""
    file = decode(_File, values, "the trace", TraceError, extra=True)
    entries: dict[str, dict[int | None, int]] = {}
    found: list[Slice] = []
    for launch in file.launches:
        kernel = launch.kernelName
        if kernel in entries:
            continue  # of repeated launches, only the first is read
        first = len(found) + 1
        places = [_place_of_range(file, each, f"range {n}") for n, each in enumerate(launch.ranges, first)]
        begun = [
            (each.warpLocation or _entry(file.locationTable, each.locIdx, f"warp lifetime {n}"), each.startTs)
            for n, each in enumerate(launch.warpLifetimes, 1)
        ]
        numbers = _numbers([*places, *(place for place, _ in begun)])
        for number, (each, place) in enumerate(zip(launch.ranges, places, strict=True), first):
            name = each.rangeName
            if name is None:
                name = _entry(file.stringTable, each.rangeNameIdx, f"range {number}")
            cta, warp = numbers[place.ctaId], f"warp {place.warpId}"
            args = {"cta": cta, "warp": place.warpId} | ({} if place.smId is None else {"sm": place.smId})
            track = cta, warp
            found.append(Slice(number, name, "", warp, each.startTs, each.endTs, args, "", kernel, track))
        # Of the warps of a block, the earliest is the last to be noted.
        begun.sort(key=lambda one: one[1], reverse=True)
        entries[kernel] = {numbers[place.ctaId]: begin for place, begin in begun}
    wanted = reading.names.get("kernel", found[0].kernel if found else "")
    return slices.rows(found, reading, "range", entries.get(wanted, {}))


def _place_of_range(file: _File, each: _Range, at: str) -> _Place:
    places = each.warpLocs or [_entry(file.locationTable, index, at) for index in each.warpLocIdxs]
    if not places:
        raise TraceError(f"{at} has no location")
    return places[0]


def _entry(table: Sequence[T], index: int | None, at: str) -> T:
    if index is None or not 0 <= index < len(table):
        raise TraceError(f"{at} refers to entry {shown(index)} of a table of {len(table)}")
    return table[index]


def _numbers(places: Iterable[_Place]) -> dict[tuple[int, int, int], int]:
    """The number of each thread block by its coordinates, of which x counts first."""
    seen = {place.ctaId for place in places}
    wide, high = (max((cta[axis] for cta in seen), default=0) + 1 for axis in (0, 1))
    return {(x, y, z): x + wide * (y + high * z) for x, y, z in seen}
