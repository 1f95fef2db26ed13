"""Hand-over: a thread block that overlaps hands its tile to the copy unit, which writes it meanwhile."""

from dataclasses import replace

import numpy as np

from tilesim import Trace
from tilesim.metrics import next_in_slot


def written_after_hand_over(trace: Trace) -> Trace:
    """The same run, with each write that runs under a main loop drawn from that main loop's begin.

    Stamps do not tell when the copy unit begins. The block multiplies again once it has handed its tile over.
    """
    spans = trace.spans.copy()
    begun = next_in_slot(trace, "start")
    under = begun < spans["done"]
    spans["fixup"] = np.where(under, np.maximum(begun, spans["drain"]), spans["fixup"])
    return replace(trace, spans=spans)
