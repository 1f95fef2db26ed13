"""The columns of a trace's spans, one row per segment. Times are int64 ns."""

from collections import namedtuple
from typing import Any

import numpy as np

PLACES = ("cta", "tile", "k0", "k1", "sm", "slot")
TIMES = ("issue", "start", "drain", "ready", "fixup", "done")
FIELDS = (*PLACES, *TIMES, "cycles")
SPAN = np.dtype([(name, "i4" if name in PLACES else "i8") for name in FIELDS])
LONGEST_NS = 2**62
"""Maximum of slots times makespan, so that slot-time fits int64."""
MOST_CYCLES = 2**39
"""Of a main loop, minutes on any GPU: a thousand times those of one, and the sum of all, must fit int64."""
Column = Any
"""A list or a one-dimensional array."""
SpanColumns: Any = namedtuple("SpanColumns", FIELDS)  # type: ignore[misc]


def columns_of(spans: np.ndarray) -> Any:
    """The fields of a SPAN array as SpanColumns."""
    return SpanColumns(*(spans[name] for name in FIELDS))
