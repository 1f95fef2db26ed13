"""The spans of a trace as compact text, which the page decodes."""

from base64 import b64encode
from itertools import pairwise

import numpy as np

from tilesim.metrics import launch_end
from tilesim.traces import Trace

PLACES = ("tile", "cta", "sm", "slot", "k0", "k1")
TIMES = ("issue", "load", "start", "drain", "ready", "fixup", "done")
"""Each is stored as the difference from the previous one; `load` is when the first load begins."""


def encoded(trace: Trace, rows: slice) -> str:
    """Rows of the spans, column by column: PLACES, then TIMES. Each value is stored as the difference from
    the previous row, in zigzag and LEB128, and base64."""
    spans = trace.spans[rows]
    times = [launch_end(trace)[rows] if name == "load" else spans[name] for name in TIMES]
    columns = [spans[name] for name in PLACES] + [times[0]]
    columns += [after - before for before, after in pairwise(times)]
    return b64encode(
        b"".join(varints(np.diff(column.astype(np.int64), prepend=0)) for column in columns)
    ).decode()


def varints(values: np.ndarray) -> bytes:
    """Integers in zigzag and LEB128 encoding: seven bits per byte, lowest first.

    >>> varints(np.array([0, -1, 1, 64])).hex(" ")
    '00 01 02 80 01'
    """
    rest = ((values << 1) ^ (values >> 63)).view(np.uint64)
    widths = np.ones(len(rest), np.int64)
    for bits in range(7, 64, 7):
        widths += rest >> np.uint64(bits) > 0
    ends = np.cumsum(widths)
    found = np.zeros(ends[-1] if len(ends) else 0, np.uint8)
    for place in range(int(widths.max(initial=0))):
        wide = widths > place
        more = (widths[wide] > place + 1).astype(np.uint8) << 7
        digit = (rest[wide] >> np.uint64(7 * place)).astype(np.uint8) & 0x7F
        found[ends[wide] - widths[wide] + place] = digit | more
    return found.tobytes()
