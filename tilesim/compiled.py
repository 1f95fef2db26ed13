"""The clock as machine code: tilesim.clock compiled by Numba, an optional package, when it is asked for."""

from collections.abc import Callable
from functools import cache

from tilesim import clock

STEPS = (
    clock.enter, clock.issue, clock.share, clock.foresee, clock.drain, clock.hand_in, clock.finish,
    clock.go_on, clock.is_cut, clock.wait_for, clock.rest, clock.replay,
)  # fmt: skip
# Columns are the caller's: without reference counts, and inlined, passing all of them on costs nothing.
OPTIONS = {"_nrt": False, "forceinline": True}


@cache
def play() -> Callable[[clock.Run], None]:
    """`clock.play` for a Run whose columns are arrays; the one in Python where Numba is not installed.

    The first call of what is returned compiles it for some seconds, unless the last has left its result in
    Numba's cache folder.
    """
    try:
        from numba import njit
        from numba.extending import register_jitable
    except ImportError:
        return clock.play
    for step in STEPS:
        register_jitable(**OPTIONS)(step)
    try:
        return njit(cache=True, **OPTIONS)(clock.play)
    except RuntimeError:  # there is no folder that may be written
        return njit(**OPTIONS)(clock.play)
