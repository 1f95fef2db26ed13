"""Functions over many rows, compiled with the optional package Numba if that pays off."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

Steps = tuple[tuple[Callable[..., Any], Callable[..., Any]], ...]
"""Functions that a compiled one calls, and what each is compiled from: itself, or a variant for arrays."""

# Passing dozens of arrays costs nothing if steps are inlined and references are not counted.
OPTIONS: Any = {"_nrt": False, "forceinline": True}

LARGE = 2**17
"""Python takes as long for this many rows as Numba takes to load."""
LARGE_ONCE_LOADED = 2**10


def fast(function: Callable[..., Any], rows: int, steps: Steps = ()) -> Callable[..., Any] | None:
    """`function` compiled, for columns that are arrays, if that pays off for `rows`; else None, as without
    Numba. The first call compiles for seconds unless Numba's cache has the function."""
    pays = rows >= LARGE or (rows >= LARGE_ONCE_LOADED and load.cache_info().currsize > 0)
    return load(function, steps) if pays else None


@cache
def load(function: Callable[..., Any], steps: Steps = ()) -> Callable[..., Any] | None:
    """`function` compiled, or None if Numba is not installed."""
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
    except RuntimeError:  # no cache folder is writable
        return unkept

    def call(*columns: Any) -> Any:
        if not kept.signatures:
            types = tuple(map(typeof, columns))
            with suppress(Exception):  # a damaged or full cache raises almost anything
                try:
                    kept.compile(types)
                except Exception:
                    kept.recompile()  # empties a cache that another version of tilesim may have written
                    kept.compile(types)
        return (kept if kept.signatures else unkept)(*columns)

    return call
