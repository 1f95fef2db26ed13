"""File formats of a trace, one module each; the ending of a file's name tells which.

How large a text file may be is said here, too: what is written can be read, in some GB of memory at most.
"""

from collections.abc import Sequence
from importlib import import_module
from os import PathLike, fspath

from tilesim.errors import TilesimError, TraceError
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
    """The format that a file's name tells, "" where it tells none."""
    name = fspath(path).lower()
    return next((form for ending, form in ENDINGS.items() if name.endswith(ending)), "")


OF_SEVERAL = ("perfetto", "pftrace")
"""Formats that hold several runs."""
MOST_TEXT = 2**29
"""Bytes of a file, and of what is inflated from one."""
MOST_LISTS = 2**22
MOST_VALUES = 2**25
"""Lists and objects, and values, of a JSON file: a few dozen to a few hundred bytes of memory each."""
MOST_LINES = 2**22 + 2**10
MOST_CELLS = 2**26
"""Lines and cells of a table."""
MOST_SEGMENTS = {"csv": 2**22, "json": 2**20, "perfetto": 2**18, "pftrace": 2**18}
"""That are written: a segment is a line of some 100 bytes, an object of 200, or slices of 800 to 1,300."""
MOST_SLOTS = 2**17
"""Of which each has threads with names in a Perfetto file; the largest GPU has some 10,000."""


def save(trace: Trace, path: str | PathLike[str], form: str) -> None:
    """Write `trace` in a format of ENDINGS; TilesimError if `path` cannot be written, or it is too long."""
    if form == "npz":
        trace.save(path)
    else:
        save_several([trace], path, form)


def save_several(traces: Sequence[Trace], path: str | PathLike[str], form: str) -> None:
    """Write traces on one clock, in a format of OF_SEVERAL; raises TilesimError as `save`."""
    for trace in traces:
        if len(trace.spans) > MOST_SEGMENTS[form]:
            raise TilesimError(
                f"the trace has {len(trace.spans)} segments, too many for a {form} file: "
                f"at most {MOST_SEGMENTS[form]}; write it as .npz"
            )
    slots = sum(trace.device.slots for trace in traces)
    if form in OF_SEVERAL and slots > MOST_SLOTS:
        raise TilesimError(f"the device has {slots} slots, too many for a {form} file: at most {MOST_SLOTS}")
    document = import_module(f"{__name__}.{form}").document(*traces)
    files.write(path, lambda file: file.writelines(document))


def check_json(text: str) -> None:
    """Raise TraceError where a text would be too many values as JSON."""
    lists = text.count("{") + text.count("[")
    _check("lists and objects", lists, MOST_LISTS)
    _check("values", text.count(","), MOST_VALUES)


def check_table(text: str, delimiters: str) -> None:
    """Raise TraceError where a text would be too many lines or cells as a table."""
    _check("lines", text.count("\n") + text.count("\r"), 2 * MOST_LINES)
    _check("cells", sum(map(text.count, delimiters)), MOST_CELLS)


def _check(what: str, count: int, most: int) -> None:
    if count > most:
        raise TraceError(f"it holds {count} {what}; at most {most} are read")
