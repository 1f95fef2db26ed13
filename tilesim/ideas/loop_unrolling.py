"""Loop unrolling: the instructions that it saves, and the work that it lets run at the same time.

A loop that is unrolled by a factor F does the work of F turns in one. That wins three things, of which the
first is the least:

- Instructions. A turn ends with those of the loop itself: the next address, the test, the branch. Unrolled,
  F values share them.
- Loads in flight. A warp stops where it needs what has not come. Where F loads leave before the first value
  is needed, F are under way. By Little's law (J. D. C. Little, A Proof for the Queuing Formula L = λW,
  Operations Research 9, 1961), bytes in flight = latency x bandwidth; what is in flight limits the rate until
  memory does. Warps are the other way to have loads in flight, so the more there are, the less unrolling wins
  (V. Volkov, Better Performance at Lower Occupancy, GTC 2010).
- Independent chains. An instruction that needs the result of the one before waits for it: 4 cycles since
  Volta (CUDA C++ Programming Guide, Multiprocessor Level). F chains that are interleaved fill each other's
  waits, until a scheduler issues one instruction a cycle.

A line is what one load of a warp brings: 128 bytes, 4 for each of its lanes. Little's law is a limit, as its
latency is that of a load alone: `rate`. Loads that leave in one burst also stand in line for the memory that
brings them: `rate_of_bursts`.
"""

from math import ceil

import numpy as np

from tilesim.errors import TilesimError, shown, whole

LINE = 128
"""Bytes of a warp's load."""
PARTITIONS = 4
"""Schedulers of an SM (CUDA C++ Programming Guide, Compute Capability 9.0)."""
RESULT = 4.0
"""Cycles from an instruction to one that needs its result (CUDA C++ Programming Guide, Multiprocessor
Level)."""
MOST_WARPS = 64
"""Of an SM (CUDA C++ Programming Guide, Technical Specifications per Compute Capability)."""
MOST = 2**10
"""Of a factor, or of chains."""
MOST_SMS = 2**16

FLIGHT = np.dtype([("left", np.float64), ("come", np.float64), ("used", np.float64)])
"""A load: when it left, when its value came, and when that was used."""


def instructions(factor: int, each: float, loop: float) -> float:
    """Instructions that a warp issues for a value: `each` for the value, and its part of `loop` a turn.

    Raises TilesimError for a factor out of range, or a negative number of instructions.

    A load and an addition, and six for the loop:

    >>> [instructions(factor, each=2, loop=6) for factor in (1, 2, 4, 8, 16)]
    [8.0, 5.0, 3.5, 2.75, 2.375]
    """
    return _number("instructions", each) + _number("instructions", loop) / _factor(factor)


def in_flight(factor: int, warps: int, sms: int) -> int:
    """Bytes under way where each of `warps` on each SM has `factor` loads out.

    >>> in_flight(factor=8, warps=8, sms=132)
    1081344
    """
    warps = whole("the number of warps", warps, 1, MOST_WARPS, TilesimError)
    return LINE * _factor(factor) * warps * whole("the number of SMs", sms, 1, MOST_SMS, TilesimError)


def rate(flying: float, latency_ns: float, peak_gb_per_s: float) -> float:
    """GB/s at most, with so many bytes in flight: what Little's law allows, up to what the memory has.

    Raises TilesimError for a figure below 0, or no latency.

    >>> rate(140_000, latency_ns=350, peak_gb_per_s=4600), rate(2_000_000, 350, 4600)
    (400.0, 4600.0)
    """
    latency = _number("the latency", latency_ns, above=True)
    return min(_number("the bytes in flight", flying) / latency, _number("the peak", peak_gb_per_s))


def rate_of_bursts(flying: float, latency_ns: float, peak_gb_per_s: float) -> float:
    """GB/s where so many bytes leave in one burst, and the next burst once all of them have come.

    Such a turn takes a latency, and then the time in which memory brings the bytes. `rate` has the longer of
    the two only, as if loads left evenly.

    Raises TilesimError for no bytes in flight, no latency or no peak.

    >>> rate_of_bursts(1_610_000, latency_ns=350, peak_gb_per_s=4600), rate(1_610_000, 350, 4600)
    (2300.0, 4600.0)
    """
    flying = _number("the bytes in flight", flying, above=True)
    latency, peak = (
        _number("the latency", latency_ns, above=True),
        _number("the peak", peak_gb_per_s, above=True),
    )
    return flying / (latency + flying / peak)


def enough(warps: int, sms: int, latency_ns: float, peak_gb_per_s: float) -> int:
    """The least factor with which so many warps on each SM have enough in flight for the whole bandwidth.

    >>> enough(warps=8, sms=132, latency_ns=350, peak_gb_per_s=4600)
    12
    """
    latency, peak = _number("the latency", latency_ns, above=True), _number("the peak", peak_gb_per_s)
    return max(1, ceil(latency * peak / in_flight(1, warps, sms)))


def cycles(chains: int, warps: int) -> float:
    """Cycles of a scheduler from one arithmetic instruction to the next, with `warps` of so many `chains`.

    One that depends on the one before waits RESULT cycles; others fill them, until one is issued a cycle.
    Four warps on each scheduler, 16 on an SM, need no second chain, as the Programming Guide has it:

    >>> [cycles(chains, 1) for chains in (1, 2, 4, 8)], cycles(1, warps=4)
    ([4.0, 2.0, 1.0, 1.0], 1.0)
    """
    warps = whole("the number of warps", warps, 1, MOST_WARPS, TilesimError)
    return max(RESULT / (_factor(chains, "the number of chains") * warps), 1.0)


def flights(loads: int, factor: int, latency: float, step: float = RESULT) -> np.ndarray:
    """The loads of one warp, FLIGHT [loads], in cycles or any other unit.

    The `factor` loads of a turn leave `step` apart; each value is used as soon as it has come, and then takes
    `step`, as does the value before it. The next turn begins when the last of a turn is used.

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
    """A finite number from 0, or above it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise TilesimError(f"{what} is {shown(value)}; it must be a number from 0")
    if above and not value:
        raise TilesimError(f"{what} is 0; it must be above 0")
    return float(value)
