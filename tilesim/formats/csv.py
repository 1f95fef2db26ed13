"""CSV: a header, then a row per span with every field of it; times are ns from the trace's zero."""

import csv
from io import TextIOWrapper
from os import PathLike
from typing import BinaryIO

from tilesim.formats import _atomic
from tilesim.traces import SPAN, Trace


def save(trace: Trace, path: str | PathLike[str]) -> None:
    """Write `trace`; raises TilesimError where `path` cannot be written."""

    def fill(file: BinaryIO) -> None:
        text = TextIOWrapper(file, "utf-8", newline="")
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(SPAN.names or ())
        rows.writerows(trace.spans.tolist())
        text.flush()
        text.detach()

    _atomic.write(path, fill)
