"""File formats of a trace, one module each; the ending of a file's name tells which."""

from collections.abc import Sequence
from importlib import import_module
from os import PathLike, fspath

from tilesim.formats.limits import check_written
from tilesim.storage import files
from tilesim.traces import Trace

ENDINGS = {
    ".npz": "npz",
    ".csv": "csv",
    ".perfetto-trace": "pftrace",
    ".pftrace": "pftrace",
    ".perfetto.json": "perfetto",
    ".perfetto": "perfetto",
    ".json": "json",
}
"""The module that writes a file of such a name; of several endings that fit, the first counts."""


def format_of(path: str | PathLike[str]) -> str:
    """The format that a file's name tells, "" where it tells none.

    >>> format_of("run.NPZ"), format_of("run.perfetto.json"), format_of("run.json"), format_of("run.txt")
    ('npz', 'perfetto', 'json', '')
    """
    name = fspath(path).lower()
    return next((form for ending, form in ENDINGS.items() if name.endswith(ending)), "")


OF_SEVERAL = ("perfetto", "pftrace")
"""Formats that hold several runs."""
TITLES = {"csv": "CSV", "json": "JSON", "perfetto": "Perfetto", "pftrace": "Perfetto"}


def save(trace: Trace, path: str | PathLike[str], form: str) -> None:
    """Write `trace` in a format of ENDINGS; TilesimError if `path` cannot be written, or it is too long."""
    if form == "npz":
        trace.save(path)
    else:
        save_several([trace], path, form)


def save_several(traces: Sequence[Trace], path: str | PathLike[str], form: str) -> None:
    """Write traces on one clock, in a format of OF_SEVERAL; raises TilesimError as `save`."""
    check_written(traces, TITLES[form])
    document = import_module(f"{__name__}.{form}").document(*traces)
    files.write(path, lambda file: file.writelines(document))
