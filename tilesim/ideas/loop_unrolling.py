"""Loop unrolling: the instructions it saves, and the loads and arithmetic it keeps in flight.

With a factor F, F values share the loop's own instructions, and a warp has F loads in flight, each of one
line; bytes in flight = latency · bandwidth (Little's law; V. Volkov, Better Performance at Lower Occupancy,
GTC 2010). F chains of dependent instructions, 4 cycles apart since Volta (CUDA C++ Programming Guide,
Multiprocessor Level), issue up to one per cycle and scheduler.
"""

import numpy as np

from tilesim.ideas.coalescing import LINE

PARTITIONS = 4
"""Schedulers per SM (CUDA C++ Programming Guide, Compute Capability 9.0)."""
RESULT = 4.0
"""Cycles between dependent instructions (CUDA C++ Programming Guide, Multiprocessor Level)."""
FLIGHT = np.dtype([("left", np.float64), ("come", np.float64), ("used", np.float64)])
"""When a load was issued, when its value arrived, and when the value was used."""


def instructions(factor: int, each: float, loop: float) -> float:
    """Instructions per value that a warp issues: `each`, plus its share of `loop` per iteration."""
    return each + loop / factor


def in_flight(factor: int, warps: int, sms: int) -> int:
    """Bytes in flight if each of `warps` warps on each SM has `factor` loads outstanding."""
    return LINE * factor * warps * sms


def rate(flying: float, latency_ns: float, peak_gb_per_s: float) -> float:
    """The most GB/s with `flying` bytes in flight: Little's law, up to the memory's peak."""
    return min(flying / latency_ns, peak_gb_per_s)


def rate_of_bursts(flying: float, latency_ns: float, peak_gb_per_s: float) -> float:
    """GB/s if `flying` bytes are requested in one burst, which takes the latency plus the transfer time, and
    the next burst follows; `rate` takes the longer of the two."""
    return flying / (latency_ns + flying / peak_gb_per_s)


def cycles(chains: int, warps: int) -> float:
    """Cycles per arithmetic instruction of a scheduler with `warps` warps of `chains` independent chains."""
    return max(RESULT / (chains * warps), 1.0)


def flights(loads: int, factor: int, latency: float, step: float = RESULT) -> np.ndarray:
    """The loads of one warp: FLIGHT [loads], in cycles or any other unit.

    The `factor` loads of an iteration are issued `step` apart. Each value is used, for `step`, when it has
    arrived and the previous one has been used. The next iteration begins after the last use.
    """
    turn, place = np.divmod(np.arange(loads), factor)
    found = np.zeros(loads, FLIGHT)
    found["left"] = turn * (latency + factor * step) + place * step
    found["come"] = found["left"] + latency
    found["used"] = found["come"] + step
    return found
