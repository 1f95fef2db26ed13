"""Latency hiding: how throughput grows with the number of warps that wait for memory.

Each warp has one request in flight. A request takes `latency` cycles; memory accepts one per `interval`. So N
warps complete min(N / latency, 1 / interval) requests per cycle, and a request takes max(latency, N ·
interval): Little's law (J. D. C. Little, Operations Research 9, 1961), as V. Volkov applies it to warps
(Better Performance at Lower Occupancy, GTC 2010). Times are SM cycles.
"""

from math import ceil

from tilesim.analysis.memory_system import MemorySystem


def throughput(warps: int, latency: int, interval: int) -> float:
    """Requests per cycle."""
    return min(warps / latency, 1 / interval)


def wait(warps: int, latency: int, interval: int) -> int:
    """Cycles from a request to its answer in the steady state."""
    return max(latency, warps * interval)


def enough(latency: int, interval: int) -> int:
    """The fewest warps that reach full throughput."""
    return ceil(latency / interval)


def in_flight(per_time: float, latency: float) -> float:
    """The amount in flight at a rate, by Little's law; both arguments use the same unit of time."""
    return per_time * latency


def of_memory(memory: MemorySystem, size: int, sms: int) -> tuple[int, int]:
    """(latency, interval) of DRAM requests of `size` bytes when `sms` SMs send them alike: the latency of a
    pointer chase, and each SM's share of a copy's bandwidth, up to the limit of one SM."""
    clock_ghz = memory.dram_latency.cycles / memory.dram_latency.ns
    rate = min(memory.copy_gb_per_s / clock_ghz / sms, memory.sm_bytes_per_clock)
    return round(memory.dram_latency.cycles), max(1, round(size / rate))
