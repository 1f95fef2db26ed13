"""Latency hiding: warps that wait for memory, and why more of them get more of it.

A warp asks memory for something, waits until it has come, and asks again: it never has more than one
request under way. Each answer takes `latency` cycles, whoever else is asking. What warps share is how fast
memory takes up requests: one each `interval` cycles, which is a request's bytes by the bytes a cycle that an
SM gets. A request that finds memory at another one queues, in the order of asking. For a warp's requests i,

    ask[i]    = answer[i - 1], or 0 for the first
    served[i] = max(ask[i], served of the request before it, of whichever warp, + interval)
    answer[i] = served[i] + latency

so that N warps get

    throughput = min(N / latency, 1 / interval)

requests a cycle, and a warp waits max(latency, N · interval) for each. Up to latency / interval warps each
one more is all gain, since it asks while the others wait; from there on it only lengthens the queue.

That is Little's law: what is under way is the rate times the time that each is under way (J. D. C. Little, A
Proof for the Queuing Formula L = λW, Operations Research 9, 1961). V. Volkov puts it to warps: needed
parallelism = latency × throughput (Better Performance at Lower Occupancy, GTC 2010; Understanding Latency
Hiding on GPUs, dissertation, 2016). It does not matter to it who has the requests under way: many warps with
one each, or one thread of a CPU with many, which its caches and its out-of-order execution find for it.

Real warps do not ask the moment they have their answer, and latency grows somewhat as memory fills up; the
model leaves both out. Times are whole cycles of an SM's clock.
"""

from math import ceil

import numpy as np

from tilesim.analysis.memory_system import MemorySystem
from tilesim.errors import TilesimError, shown, whole

MOST_WARPS = 64
"""Resident on an SM (CUDA C++ Programming Guide, Technical Specifications per Compute Capability)."""
MOST_REQUESTS = 2**16
LONGEST = 10**9
LARGEST = 2**20
"""Bytes of a request."""

REQUEST = np.dtype([(name, np.int64) for name in ("ask", "served", "answer")])
"""When a warp asks, when memory takes that up, and when the warp has its answer: cycles."""


def requests(warps: int, count: int, latency: int, interval: int) -> np.ndarray:
    """The first `count` requests of each warp, all of which begin at 0: REQUEST [warps, count].

    Where warps ask at once, the one with the lower number comes first.

    Raises TilesimError for numbers out of range, or an interval longer than the latency.

    Three warps, of which the third just fits in, and a fourth that makes all of them queue:

    >>> requests(3, 2, latency=6, interval=2)["ask"].tolist()
    [[0, 6], [0, 8], [0, 10]]
    >>> requests(4, 3, latency=6, interval=2)["answer"].tolist()
    [[6, 14, 22], [8, 16, 24], [10, 18, 26], [12, 20, 28]]
    """
    warps, latency, interval = _checked(warps, latency, interval)
    count = whole("the number of requests", count, 1, MOST_REQUESTS, TilesimError)
    made = np.zeros((warps, count), REQUEST)
    ready, free = np.zeros(warps, np.int64), 0
    for number in range(count):
        # All wait equally long, so they keep the order in which they began.
        for warp in range(warps):
            served = max(int(ready[warp]), free)
            made[warp, number] = ready[warp], served, served + latency
            ready[warp], free = served + latency, served + interval
    return made


def throughput(warps: int, latency: int, interval: int) -> float:
    """Requests a cycle of so many warps. Raises what `requests` raises.

    >>> throughput(1, 700, 100) * 700, throughput(4, 700, 100) * 700, throughput(16, 700, 100) * 700
    (1.0, 4.0, 7.0)
    """
    warps, latency, interval = _checked(warps, latency, interval)
    return min(warps / latency, 1 / interval)


def wait(warps: int, latency: int, interval: int) -> int:
    """Cycles from a warp's question to its answer, once all are under way. Raises what `requests` raises.

    >>> wait(4, 700, 100), wait(16, 700, 100)
    (700, 1600)
    """
    warps, latency, interval = _checked(warps, latency, interval)
    return max(latency, warps * interval)


def enough(latency: int, interval: int) -> int:
    """The fewest warps that get all that memory gives. Raises what `requests` raises.

    >>> enough(700, 100), enough(701, 100)
    (7, 8)
    """
    _, latency, interval = _checked(1, latency, interval)
    return ceil(latency / interval)


def in_flight(per_time: float, latency: float) -> float:
    """What is under way at a rate, by Little's law; the unit of time is the same in both.

    Raises TilesimError for negative numbers.

    A DRAM that gives 4.8 TB/s after 700 ns has 3.4 MB under way:

    >>> in_flight(4.8e12, 700e-9)
    3360000.0
    """
    if not (per_time >= 0 and latency >= 0):
        raise TilesimError(
            f"the rate is {shown(per_time)} and the latency {shown(latency)}; both must be 0 or more"
        )
    return per_time * latency


def of_memory(memory: MemorySystem, size: int, sms: int) -> tuple[int, int]:
    """(latency, interval) of requests that move `size` bytes to and from DRAM, while `sms` SMs work alike.

    The latency is that of a pointer chase through DRAM. An SM gets its part of the bandwidth of a copy, but
    no more than one SM alone can take.

    Raises TilesimError for a size or a number of SMs out of range.

    >>> h200 = MemorySystem.named("h200")
    >>> of_memory(h200, 1536, 132), of_memory(h200, 1536, 1)
    ((686, 100), (686, 13))
    """
    size = whole("the size of a request", size, 1, LARGEST, TilesimError)
    sms = whole("the number of SMs", sms, 1, 10_000, TilesimError)
    clock_ghz = memory.dram_latency.cycles / memory.dram_latency.ns
    rate = min(memory.copy_gb_per_s / clock_ghz / sms, memory.sm_bytes_per_clock)
    return round(memory.dram_latency.cycles), max(1, round(size / rate))


def _checked(warps: int, latency: int, interval: int) -> tuple[int, int, int]:
    warps = whole("the number of warps", warps, 1, MOST_WARPS, TilesimError)
    latency = whole("the latency", latency, 1, LONGEST, TilesimError)
    return warps, latency, whole("the interval", interval, 1, latency, TilesimError)
