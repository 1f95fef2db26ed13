"""What is worth compiling for large plans, by Numba, an optional package that is loaded when it is asked for."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from tilesim import clock, sound

STEPS = (
    clock.enter, clock.issue, clock.share, clock.foresee, clock.drain, clock.hand_in, clock.finish,
    clock.go_on, clock.is_cut, clock.wait_for, clock.rest, clock.replay,
)  # fmt: skip
# Columns stay their caller's: where nothing counts references and steps are inlined, to pass them costs nothing.
OPTIONS = {"_nrt": False, "forceinline": True}

LARGE = 2**17
"""Rows that Python plays in about the time in which Numba is loaded."""
LARGE_ONCE_LOADED = 2**10


class Functions(NamedTuple):
    """`clock.play` and `sound.last_done`, for columns that are arrays."""

    play: Callable[..., None]
    last_done: Callable[..., int]


def functions(rows: int) -> Functions | None:
    """The functions compiled, where that pays for so many rows; else None, as where Numba is not installed.

    The first call of each compiles it for seconds, unless an earlier process has left it in Numba's cache.
    """
    pays = rows >= LARGE or (rows >= LARGE_ONCE_LOADED and load.cache_info().currsize > 0)
    return load() if pays else None


@cache
def load() -> Functions | None:
    """The functions compiled, None where Numba is not installed."""
    try:
        from numba.extending import register_jitable
    except ImportError:
        return None
    for step in STEPS:
        register_jitable(**OPTIONS)(step)
    return Functions(_compiled(clock.play), _compiled(sound.last_done))


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    from numba import njit

    try:
        return njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # there is no folder for a cache that may be written
        return njit(**OPTIONS)(function)
