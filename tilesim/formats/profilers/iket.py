"""IKET's JSON: ranges recorded by the warps of a CuTe DSL kernel, from NVIDIA's `run-iket --postprocess
json`.

`launches` lists kernels with `ranges`, which have a name, `startTs` and `endTs` in ns of the trace's clock,
and the warp's location: SM, CTA as three coordinates, warp. A warp's lifetime begins with its block's first
instruction. Names and locations are inline, or indices into `stringTable` and `locationTable`. Format:
docs.nvidia.com/cutlass, "IKET Profiling", "JSON Trace Shape", CUTLASS 4.6; both forms are experimental.
"""

from collections.abc import Iterator
from typing import Any

from tilesim.errors import TraceError, shown
from tilesim.formats.profilers import slices
from tilesim.formats.profilers.segments import Slice
from tilesim.formats.reading import AS_IT_IS, Reading
from tilesim.formats.rows import Rows

Place = dict[str, int]


def is_iket(values: object) -> bool:
    """Whether parsed JSON is in this format."""
    return isinstance(values, dict) and isinstance(values.get("launches"), list)


def parse(values: dict[str, Any], reading: Reading = AS_IT_IS) -> Rows:
    """The rows of parsed JSON; raises TraceError that names the range at fault."""
    entries: dict[tuple[str, int], int] = {}
    found: list[Slice] = []
    seen: set[str] = set()
    for launch in values["launches"]:
        kernel = str(_object("a launch", launch).get("kernelName", ""))
        if kernel in seen:
            continue  # of repeated launches, only the first is read
        seen.add(kernel)
        found += _slices(values, launch, kernel, len(found), _grid(values, launch))
        for place, begin in _lifetimes(values, launch):
            key = kernel, place["cta"]
            entries[key] = min(begin, entries.get(key, begin))
    wanted = reading.names.get("kernel", found[0].kernel if found else "")
    return slices.rows(
        found, reading, "range", {cta: begin for (kernel, cta), begin in entries.items() if kernel == wanted}
    )


def _slices(values: Any, launch: Any, kernel: str, before: int, grid: tuple[int, int]) -> Iterator[Slice]:
    for number, each in enumerate(_list("ranges", launch), before + 1):
        at = f"range {number}"
        name = (
            each["rangeName"]
            if "rangeName" in _object(at, each)
            else _entry(values, "stringTable", each.get("rangeNameIdx"), at)
        )
        places = each.get("warpLocs")
        if places is None:
            places = [_entry(values, "locationTable", index, at) for index in _list("warpLocIdxs", each)]
        if not isinstance(places, list) or not places:
            raise TraceError(f"{at} has no location: warpLocs is {shown(places)}")
        place = _place(places[0], at, grid)
        begin, end = (_whole(at, name, each.get(name)) for name in ("startTs", "endTs"))
        warp = f"warp {place['warp']}"
        yield Slice(number, str(name), "", warp, begin, end, place, "", kernel, (place["cta"], warp))


def _grid(values: Any, launch: Any) -> tuple[int, int]:
    """The number of thread blocks seen along x and y, which turns coordinates into a number."""
    seen = [0, 0]
    for each in (*_list("ranges", launch), *_list("warpLifetimes", launch)):
        for place in _places(values, each):
            cta = place.get("ctaId") if isinstance(place, dict) else None
            if isinstance(cta, list) and len(cta) == 3 and all(type(c) is int for c in cta):
                seen = [max(most, number) for most, number in zip(seen, cta, strict=False)]
    return seen[0] + 1, seen[1] + 1


def _places(values: Any, each: Any) -> list[Any]:
    """The locations of a range or lifetime; empty if malformed."""
    if not isinstance(each, dict):
        return []
    table = values.get("locationTable")
    table = table if isinstance(table, list) else []
    indices = each.get("warpLocIdxs", [each.get("locIdx")])
    indices = indices if isinstance(indices, list) else []
    given = each.get("warpLocs", [each.get("warpLocation")])
    found = given if isinstance(given, list) else []
    return found + [table[i] for i in indices if type(i) is int and 0 <= i < len(table)]


def _lifetimes(values: Any, launch: Any) -> Iterator[tuple[Place, int]]:
    grid = _grid(values, launch)
    for number, each in enumerate(_list("warpLifetimes", launch), 1):
        at = f"warp lifetime {number}"
        place = _object(at, each).get("warpLocation")
        if place is None:
            place = _entry(values, "locationTable", each.get("locIdx"), at)
        yield _place(place, at, grid), _whole(at, "startTs", each.get("startTs"))


def _place(place: Any, at: str, grid: tuple[int, int]) -> Place:
    """SM, block and warp of a range; block coordinates (x, y, z) are numbered x first."""
    cta = _object(at, place).get("ctaId")
    if not isinstance(cta, list) or len(cta) != 3 or not all(type(c) is int and 0 <= c < 2**31 for c in cta):
        raise TraceError(f"{at}: ctaId is {shown(cta)}; it must be three whole numbers")
    found = {
        "cta": cta[0] + grid[0] * (cta[1] + grid[1] * cta[2]),
        "warp": _whole(at, "warpId", place.get("warpId")),
    }
    return found | ({"sm": _whole(at, "smId", place["smId"])} if "smId" in place else {})


def _entry(values: Any, table: str, index: Any, at: str) -> Any:
    found = values.get(table)
    if not isinstance(found, list) or type(index) is not int or not 0 <= index < len(found):
        raise TraceError(f"{at} refers to entry {shown(index)} of {table}, which does not exist")
    return found[index]


def _list(name: str, values: dict[str, Any]) -> list[Any]:
    found = values.get(name, [])
    if not isinstance(found, list):
        raise TraceError(f"{name} is {shown(found)}; it must be a list")
    return found


def _object(what: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TraceError(f"{what} is {shown(value)}; it must be an object")
    return value


def _whole(at: str, name: str, value: Any) -> int:
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise TraceError(f"{at}: {name} is {shown(value)}; it must be a whole number of at most 64 bits")
    return value
