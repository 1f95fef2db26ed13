"""How large a text file of a trace may be: what is written can be read, in some GB of memory at most."""

from collections.abc import Sequence

from tilesim.errors import TilesimError, TraceError
from tilesim.traces import Trace

MOST_TEXT = 2**29
"""Bytes of a file, and of what is inflated from one."""
MOST_LISTS = 2**22
MOST_VALUES = 2**25
"""Lists and objects, and values, of a JSON file: a few dozen to a few hundred bytes of memory each."""
MOST_LINES = 2**22 + 2**10
MOST_CELLS = 2**26
"""Lines and cells of a table."""
MOST_SEGMENTS = {"CSV": 2**22, "JSON": 2**20, "Perfetto": 2**18}
"""That are written: a segment is a line of some 100 bytes, an object of 200, or slices of 800 to 1,300."""
MOST_SLOTS = 2**17
"""Of which each has threads with names in a Perfetto file; the largest GPU has some 10,000."""


def check_written(traces: Sequence[Trace], form: str) -> None:
    """Raise TilesimError where traces have more segments or slots than a file of a form can hold."""
    for trace in traces:
        if len(trace.spans) > MOST_SEGMENTS[form]:
            raise TilesimError(
                f"the trace has {len(trace.spans)} segments, too many for a {form} file: "
                f"at most {MOST_SEGMENTS[form]}; write it as .npz"
            )
    slots = sum(trace.device.slots for trace in traces)
    if form == "Perfetto" and slots > MOST_SLOTS:
        raise TilesimError(
            f"the device has {slots} slots, too many for a Perfetto file: at most {MOST_SLOTS}"
        )


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
