"""The columns of a trace's spans, one row per segment. Times are int64 ns."""

from typing import Any, NamedTuple

import numpy as np

PLACES = ("cta", "tile", "k0", "k1", "sm", "slot")
TIMES = ("issue", "start", "drain", "ready", "fixup", "done")
SPAN = np.dtype([(name, "i4") for name in PLACES] + [(name, "i8") for name in (*TIMES, "cycles")])
LONGEST_NS = 2**62
"""Maximum of slots times makespan, so that slot-time fits int64."""
MOST_CYCLES = 2**39
"""Of a main loop, minutes on any GPU: a thousand times those of one, and the sum of all, must fit int64."""

Column = Any
"""A list or a one-dimensional array."""


class SpanColumns(NamedTuple):
    """The fields of SPAN except `cycles`, each a column."""

    cta: Column
    tile: Column
    k0: Column
    k1: Column
    sm: Column
    slot: Column
    issue: Column
    start: Column
    drain: Column
    ready: Column
    fixup: Column
    done: Column
