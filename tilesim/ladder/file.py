"""The kernel ladder as `tilesim bench ladder` measured it, read from the files that ship, and from others."""

from collections.abc import Mapping
from dataclasses import fields
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from os import PathLike
from pathlib import Path
from typing import Any

from tilesim.errors import ReportError, shown, whole
from tilesim.ladder.steps import Ladder, LadderStep, Limit
from tilesim.storage.files import read_json
from tilesim.text import unprintable

FOLDER: Path | Traversable = files("tilesim").joinpath("data/ladder")
LARGEST = 2**31 - 1
NUMBERS = 1e-9, 1e18
"""Between which times in µs, rates and bytes lie."""
LONGEST_TEXT = 2000
"""Characters that a film has to find room for."""
FACTS = ("gpu", "driver", "cuda", "torch", "triton", "date")
SOURCES = ("counters", "model")
"""Where a row's bytes come from: the GPU's counters, or what the kernel must move in theory."""
OFF = 0.01, 0.05
"""What a row's TFLOP/s may be off from its time: a share of it, and TFLOP/s, as it is rounded."""


def ladders() -> tuple[Ladder, ...]:
    """Every ladder that ships with tilesim, by the name of its file."""
    if not FOLDER.is_dir():
        return ()
    found = sorted((file for file in FOLDER.iterdir() if file.name.endswith(".json")), key=lambda f: f.name)
    return tuple(_read(file) for file in found)


def _read(file: Traversable) -> Ladder:
    with as_file(file) as path:
        return read(path)


def read(path: str | PathLike[str]) -> Ladder:
    """The ladder in a file of `tilesim bench ladder`.

    Raises ReportError, in a sentence that starts with the path, where the file cannot be read, is no
    ladder, or contradicts itself.
    """
    values = read_json(path, ReportError)
    try:
        return parse(values)
    except ReportError as error:
        raise ReportError(f"{path}: {error}") from None


def parse(values: object) -> Ladder:
    """The ladder that JSON values are. Raises ReportError, naming the row, where they are none."""
    whole_file = _object("the file", values)
    machine = _object("machine", whole_file.get("machine"))
    rows = whole_file.get("rows")
    if not isinstance(rows, list) or not rows:
        raise ReportError(f"rows is {shown(rows)}; it must be a list of one row or more")
    found = [_row(number, row) for number, row in enumerate(rows, 1)]
    _check_once(found)
    return Ladder(
        {name: _text(f"machine.{name}", machine.get(name)) for name in FACTS},
        _text("method", whole_file.get("method")),
        _limit("peak_tflops", whole_file.get("peak_tflops")),
        _limit("bandwidth_gb_per_s", whole_file.get("bandwidth_gb_per_s")),
        tuple(sorted(found, key=lambda row: row.step or LARGEST)),
    )


def _row(number: int, values: object) -> LadderStep:
    what = f"row {number}"
    row = _object(what, values)
    step = row.get("step")
    tile = row.get("tile")
    if tile is not None and (not isinstance(tile, list) or len(tile) != 3):
        raise ReportError(f"tile of {what} is {shown(tile)}; it must be three sizes, or null where not known")
    given: dict[str, Any] = {
        "step": None if step is None else _whole(f"step of {what}", step),
        "tile": None if tile is None else tuple(_whole(f"tile of {what}", size) for size in tile),
        "dram_bytes": None,
        "bytes_from": None,
    }
    given |= {name: _text(f"{name} of {what}", row.get(name)) for name in ("name", "dtype")}
    for name in ("change", "why"):
        # Nobody says of the yardstick what it changes.
        given[name] = _text(f"{name} of {what}", row.get(name)) if step is not None or row.get(name) else ""
    given |= {name: _whole(f"{name} of {what}", row.get(name)) for name in "mnk"}
    given |= {name: _positive(f"{name} of {what}", row.get(name)) for name in ("us", "p20", "p80")}
    if row.get("dram_bytes") is not None:
        given["dram_bytes"] = _positive(f"dram_bytes of {what}", row["dram_bytes"])
        given["bytes_from"] = row.get("bytes_from")
        if given["bytes_from"] not in SOURCES:
            sources = " or ".join(SOURCES)
            raise ReportError(f"bytes_from of {what} is {shown(given['bytes_from'])}; it must be {sources}")
    for name in ("l2_bytes", "sm_mhz"):
        if row.get(name) is not None:
            given[name] = _positive(f"{name} of {what}", row[name])
    if row.get("order") is not None:
        given["order"] = _text(f"order of {what}", row["order"])
    if row.get("stages") is not None:
        given["stages"] = _whole(f"stages of {what}", row["stages"])
    made = LadderStep(**given)
    if not made.p20 <= made.us <= made.p80:
        raise ReportError(f"the median of {what}, {made.us:g} µs, is not within p20 to p80")
    said, (share, rounding) = _positive(f"tflops of {what}", row.get("tflops")), OFF
    if abs(said - made.tflops) > share * made.tflops + rounding:
        raise ReportError(f"{what} says {said:g} TFLOP/s, but its time makes {made.tflops:.4g}")
    return made


def _check_once(rows: list[LadderStep]) -> None:
    seen = set()
    for row in rows:
        key = (row.step, row.m, row.n, row.k, row.dtype)
        if key in seen:
            which = "a yardstick" if row.step is None else f"step {row.step}"
            raise ReportError(f"{which} of {row.m}x{row.n}x{row.k} {row.dtype} is there twice")
        seen.add(key)


def _object(what: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ReportError(f"{what} is {shown(value)}; it must be an object")
    return value


def _text(what: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ReportError(f"{what} is {shown(value)}; it must be a text")
    text = " ".join(value.split())
    if len(text) > LONGEST_TEXT:
        raise ReportError(f"{what} has {len(text)} characters; at most {LONGEST_TEXT} are allowed")
    if unprintable(text):
        raise ReportError(f"{what} is {shown(text)} with a {unprintable(text)}, which cannot be printed")
    return text


def _whole(what: str, value: object) -> int:
    return whole(what, value, 1, LARGEST, ReportError)


def _positive(what: str, value: object) -> float:
    low, high = NUMBERS
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ReportError(f"{what} is {shown(value)}; it must be a number above 0, from {low:g} to {high:g}")
    return float(value)


def _limit(name: str, value: object) -> Limit:
    values = _object(name, value)
    return Limit(*(_positive(f"{name}.{field.name}", values.get(field.name)) for field in fields(Limit)))
