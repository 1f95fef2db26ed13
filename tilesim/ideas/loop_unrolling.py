"""Loop unrolling: the instructions it saves, and the loads and arithmetic it keeps in flight.

With a factor F, F values share the loop's own instructions, and a warp has F loads in flight, each of one
line; bytes in flight = latency · bandwidth (Little's law; V. Volkov, Better Performance at Lower Occupancy,
GTC 2010). F chains of dependent instructions, 4 cycles apart since Volta (CUDA C++ Programming Guide,
Multiprocessor Level), issue up to one per cycle and scheduler. Values out of range raise TilesimError.
"""

import numpy as np

from tilesim.errors import TilesimError, shown, whole
from tilesim.ideas.coalescing import LINE
from tilesim.ideas.latency_hiding import MOST_WARPS

PARTITIONS = 4
"""Schedulers per SM (CUDA C++ Programming Guide, Compute Capability 9.0)."""
RESULT = 4.0
"""Cycles between dependent instructions (CUDA C++ Programming Guide, Multiprocessor Level)."""
MOST = 2**10
"""Maximum factor or number of chains."""
MOST_SMS = 2**16

FLIGHT = np.dtype([("left", np.float64), ("come", np.float64), ("used", np.float64)])
"""When a load was issued, when its value arrived, and when the value was used."""


def instructions(factor: int, each: float, loop: float) -> float:
    """Instructions that a warp issues per value: `each` for the value, plus its share of `loop` per
    iteration."""
    return _number("instructions", each) + _number("instructions", loop) / _factor(factor)


def in_flight(factor: int, warps: int, sms: int) -> int:
    """Bytes in flight if each of `warps` warps on each SM has `factor` loads outstanding."""
    warps = whole("the number of warps", warps, 1, MOST_WARPS, TilesimError)
    return LINE * _factor(factor) * warps * whole("the number of SMs", sms, 1, MOST_SMS, TilesimError)


def rate(flying: float, latency_ns: float, peak_gb_per_s: float) -> float:
    """The most GB/s with `flying` bytes in flight: Little's law, up to the memory's peak."""
    latency = _number("the latency", latency_ns, above=True)
    return min(_number("the bytes in flight", flying) / latency, _number("the peak", peak_gb_per_s))


def rate_of_bursts(flying: float, latency_ns: float, peak_gb_per_s: float) -> float:
    """GB/s if `flying` bytes are requested in one burst, which takes the latency plus the transfer time, and
    the next burst follows; `rate` takes the longer of the two."""
    flying = _number("the bytes in flight", flying, above=True)
    latency = _number("the latency", latency_ns, above=True)
    peak = _number("the peak", peak_gb_per_s, above=True)
    return flying / (latency + flying / peak)


def cycles(chains: int, warps: int) -> float:
    """Cycles per arithmetic instruction of a scheduler with `warps` warps of `chains` independent chains."""
    warps = whole("the number of warps", warps, 1, MOST_WARPS, TilesimError)
    return max(RESULT / (_factor(chains, "the number of chains") * warps), 1.0)


def flights(loads: int, factor: int, latency: float, step: float = RESULT) -> np.ndarray:
    """The loads of one warp: FLIGHT [loads], in cycles or any other unit.

    The `factor` loads of an iteration are issued `step` apart. Each value is used, for `step`, when it has
    arrived and the previous one has been used. The next iteration begins after the last use.

    >>> flights(2, factor=1, latency=100, step=4)["used"].tolist()
    [104.0, 208.0]
    >>> flights(2, factor=2, latency=100, step=4)["used"].tolist()
    [104.0, 108.0]
    """
    loads = whole("the number of loads", loads, 1, MOST, TilesimError)
    latency, step = _number("the latency", latency), _number("the step", step)
    turn, place = np.divmod(np.arange(loads), _factor(factor))
    found = np.zeros(loads, FLIGHT)
    found["left"] = turn * (latency + factor * step) + place * step
    found["come"] = found["left"] + latency
    found["used"] = found["come"] + step
    return found


def _factor(value: int, what: str = "the factor") -> int:
    return whole(what, value, 1, MOST, TilesimError)


def _number(what: str, value: float, above: bool = False) -> float:
    """A finite number from 0, or above 0 if `above`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise TilesimError(f"{what} is {shown(value)}; it must be a number from 0")
    if above and not value:
        raise TilesimError(f"{what} is 0; it must be above 0")
    return float(value)
