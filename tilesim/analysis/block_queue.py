"""Block queue: whether a thread block that had to wait ran on the SM that was free first."""

import numpy as np

from tilesim.metrics import slot_index
from tilesim.traces import Trace


def behind_the_first(trace: Trace) -> np.ndarray:
    """How much later than the first free slot each block's own slot had become free, ns.

    Of the blocks that waited, by number: int64 [blocks - slots]. Every block must be one segment, as in a
    naive kernel. 0 says that the block ran where a slot was free first; a recorder's timer moves in steps.

    >>> from tilesim import Device, Problem, simulate
    >>> behind_the_first(simulate("naive", Problem(384, 1536, 512), Device.named("h200", sms=4))).max()
    np.int64(0)
    """
    order = np.argsort(trace.spans["cta"])
    slots, done = slot_index(trace)[order].tolist(), trace.spans["done"][order].tolist()
    free = dict(zip(slots[: trace.device.slots], done, strict=False))
    late = []
    for slot, end in zip(slots[trace.device.slots :], done[trace.device.slots :], strict=True):
        late.append(free[slot] - min(free.values()))
        free[slot] = end
    return np.array(late, np.int64)
