"""Reports of `tilesim bench`: those that ship with tilesim, and others, as they were written."""

import json
from collections.abc import Mapping
from dataclasses import make_dataclass
from functools import cache
from importlib.resources import files
from os import PathLike
from typing import Annotated, Any

from tilesim.errors import ReportError, unknown
from tilesim.kernel_config import current_name
from tilesim.storage.decode import FILLED, between, decode, text
from tilesim.storage.files import read_json
from tilesim.work import Work

LARGEST = 1e18
"""Of a number in a report."""
LONGEST_TEXT = 2000
"""Characters that a film has to find room for."""


@cache
def report(bench: str, device: str = "h200") -> Mapping[str, Any]:
    """What `tilesim bench BENCH` wrote on a device: "machine", "method" and "rows", all JSON values. Raises
    ReportError where no such report ships."""
    folder = files("tilesim").joinpath("data")
    known = sorted(
        path.name for path in folder.iterdir() if path.is_dir() and path.joinpath(f"{device}.json").is_file()
    )
    if bench not in known:
        raise ReportError(unknown(f"report of {device}", bench, known))
    return _renamed(json.loads(folder.joinpath(bench, f"{device}.json").read_text("utf-8")))


def read(path: str | PathLike[str], bench: str) -> Mapping[str, Any]:
    """The report that `tilesim bench BENCH` wrote into a file; ReportError, which starts with the path, where
    it cannot be read, or lacks what the report that ships says."""

    def checked(values: Any) -> Mapping[str, Any]:
        decode(_kind(report(bench)), values, "the file", ReportError, extra=True)
        return _renamed(values)

    return read_json(path, ReportError, checked)


def _renamed(report: dict[str, Any]) -> dict[str, Any]:
    """A report of any version with the kernels' names of today."""
    for one in report.get("rows", ()):
        one |= {name: current_name(one[name]) for name in ("kernel", "variant") if name in one}
    return report


def row(report: Mapping[str, Any], **wanted: Any) -> Mapping[str, Any]:
    """The row of a report that says all that is wanted; raises ReportError where none does."""
    for one in report["rows"]:
        if all(one[name] == value for name, value in wanted.items()):
            return one
    said = ", ".join(f"{name} {value}" for name, value in wanted.items())
    raise ReportError(f"the report has no row of {said}")


def _kind(model: Any) -> Any:
    """The type of JSON values that are like those of `model`; items of a list have what all of its have."""
    if isinstance(model, Mapping):
        named = all(map(str.isidentifier, model))
        fields = [(name, _kind(inner)) for name, inner in model.items()]
        return make_dataclass("Report", fields) if named else dict[str, Any]
    if isinstance(model, list):
        return Annotated[list[_kind(_common(model))], FILLED] if model else list[Any]  # type: ignore[misc]
    if isinstance(model, str):
        return Annotated[str, text(0, LONGEST_TEXT)]
    number = isinstance(model, int | float) and not isinstance(model, bool)
    return Annotated[float, between(-LARGEST, LARGEST)] if number else Any


def _common(items: list[Any]) -> Any:
    """The first of some items; of objects, with what all of them have that is not null in any."""
    first = items[0]
    if not all(isinstance(item, Mapping) for item in items):
        return first
    return {name: value for name, value in first.items() if all(item.get(name) is not None for item in items)}


@cache
def machines() -> tuple[Mapping[str, Any], ...]:
    """Every file of `tilesim bench` that ships: machine, method and rows of each."""
    folder = files("tilesim").joinpath("data/timings")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".json"))
    return tuple(json.loads(folder.joinpath(name).read_text("utf-8")) for name in names)


def kernel_times(problem: Work, facts: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The rows measured for exactly `problem`, by kernel, on the machine that `facts` describe; `us`, `p20`
    and `p80` in µs.

    A machine's facts are gpu (its full name), driver, cuda, torch, triton and date; those in `facts` must
    agree, at least gpu, so a measured trace's meta finds the times of its own day.
    """
    shape = problem.as_json()
    return {
        row["kernel"]: row
        for measured in machines()
        if "gpu" in facts
        and all(facts.get(name, value) == value for name, value in measured["machine"].items())
        for row in measured["rows"]
        if all(row.get(name) == value for name, value in shape.items())
    }
