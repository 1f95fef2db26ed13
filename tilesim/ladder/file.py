"""The kernel ladder as `tilesim bench ladder` measured it, read from the files that ship, and from others."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from tilesim.errors import ReportError
from tilesim.kernel_config import current_name
from tilesim.ladder.steps import LARGEST, Figure, Ladder, LadderStep
from tilesim.storage.decode import decode
from tilesim.storage.files import read_json

FOLDER = Path(str(files("tilesim").joinpath("data/ladder")))
MACHINE = ("gpu", "driver", "cuda", "torch", "triton", "date")


def ladders() -> tuple[Ladder, ...]:
    """Every ladder that ships with tilesim, by the name of its file."""
    return tuple(map(read, sorted(FOLDER.glob("*.json"))))


def read(path: str | PathLike[str]) -> Ladder:
    """The ladder in a file of `tilesim bench ladder`; ReportError, naming the file, where it is none."""
    return read_json(path, ReportError, parse)


def parse(values: Any) -> Ladder:
    """The ladder that JSON values are. Raises ReportError, naming the field, where they are none."""
    values = _without_nulls(values)
    found = decode(Ladder, values, "the file", ReportError, extra=True)
    lacking = [name for name in MACHINE if name not in found.machine]
    if lacking:
        raise ReportError(f"machine lacks {' and '.join(', '.join(lacking).rsplit(', ', 1))}")
    for number, (row, given) in enumerate(zip(found.rows, values["rows"], strict=True)):
        _check(f"rows[{number}]", row, given)
    kinds = Counter((row.step, row.m, row.n, row.k, row.dtype) for row in found.rows)
    (((step, m, n, k, dtype), count),) = kinds.most_common(1)
    if count > 1:
        which = "a yardstick" if step is None else f"step {step}"
        raise ReportError(f"{which} of {m}x{n}x{k} {dtype} is there twice")
    named = (replace(row, name=current_name(row.name)) for row in found.rows)
    return replace(found, rows=tuple(sorted(named, key=lambda row: row.step or LARGEST)))


def _without_nulls(values: Any) -> Any:
    """JSON values in which a field that is null is left out."""
    if isinstance(values, list):
        return [_without_nulls(value) for value in values]
    if isinstance(values, dict):
        return {name: _without_nulls(value) for name, value in values.items() if value is not None}
    return values


def _check(place: str, row: LadderStep, given: Mapping[str, Any]) -> None:
    """Raise ReportError where a row, found at a place as `given`, contradicts itself."""
    for name in ("change", "why"):
        # Nobody says of the yardstick what it changes.
        if row.step is not None and not getattr(row, name):
            raise ReportError(f"{place} lacks {name}, which a step needs")
    if row.dram_bytes is not None and row.bytes_from is None:
        raise ReportError(f"{place} lacks bytes_from, which dram_bytes needs")
    if not row.p20 <= row.us <= row.p80:
        raise ReportError(f"the median of {place}, {row.us:g} µs, is not within p20 to p80")
    said = decode(Figure, given.get("tflops"), f"{place}.tflops", ReportError)
    if abs(said - row.tflops) > 0.01 * row.tflops + 0.05:  # it is rounded
        raise ReportError(f"{place} says {said:g} TFLOP/s, but its time makes {row.tflops:.4g}")
