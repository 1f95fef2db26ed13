"""Functions of many rows, compiled where that pays. Numba is an optional package, and loaded where it pays.

Whoever has such a function says what it is and what it calls: `fast(function, rows, steps)`.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

Steps = tuple[tuple[Callable[..., Any], Callable[..., Any]], ...]
"""Functions that a compiled one calls, and as what each is compiled: itself, or a form for arrays."""

# What is passed on may be dozens of arrays: that costs nothing if steps are inlined and nothing counts
# references.
OPTIONS: Any = {"_nrt": False, "forceinline": True}

LARGE = 2**17
"""Rows that Python plays in about the time in which Numba is loaded."""
LARGE_ONCE_LOADED = 2**10


def fast(function: Callable[..., Any], rows: int, steps: Steps = ()) -> Callable[..., Any] | None:
    """`function`, of columns that are arrays, compiled where that pays for so many rows.

    Else None, as where Numba is not installed. The first call compiles it for seconds, unless an earlier
    process has left it in Numba's cache.
    """
    pays = rows >= LARGE or (rows >= LARGE_ONCE_LOADED and load.cache_info().currsize > 0)
    return load(function, steps) if pays else None


@cache
def load(function: Callable[..., Any], steps: Steps = ()) -> Callable[..., Any] | None:
    """`function` compiled, None where Numba is not installed."""
    try:
        from numba import njit, typeof
        from numba.extending import overload
    except ImportError:
        return None
    for step, form in steps:
        overload(step, jit_options=OPTIONS, strict=False)(lambda *_, form=form: form)
    unkept = njit(**OPTIONS)(function)
    try:
        kept = njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # there is no folder for a cache that may be written
        return unkept

    def call(*columns: Any) -> Any:
        if not kept.signatures:
            types = tuple(map(typeof, columns))
            with suppress(Exception):  # a cache that is damaged or full raises nearly anything
                try:
                    kept.compile(types)
                except Exception:
                    kept.recompile()  # empties the cache: perhaps another version of tilesim has left it
                    kept.compile(types)
        return (kept if kept.signatures else unkept)(*columns)

    return call
