"""What is worth compiling for large plans. Numba is an optional package, and loaded where it pays."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

from tilesim import trace_checks
from tilesim.engine import events

STEPS: dict[Any, Any] = {
    step: step
    for step in (
        events.enter, events.lead, events.issue, events.share, events.drain, events.hand_in, events.finish,
        events.go_on, events.wait_for, events.rest,
    )
} | {events.lowest: events.lowest_in_tree, events.enqueue: events.enqueue_in_tree}  # fmt: skip
"""What is called by what is compiled, and as what."""
# A Run is dozens of arrays: to pass it on costs nothing if steps are inlined and nothing counts references.
OPTIONS: Any = {"_nrt": False, "forceinline": True}

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
        from numba.extending import overload
    except ImportError:
        return None
    for step, form in STEPS.items():
        overload(step, jit_options=OPTIONS, strict=False)(lambda *_, form=form: form)
    return Functions(_compiled(events.play), _compiled(trace_checks.last_done))


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    from numba import njit, typeof

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
