"""JSON from strangers: what any tool would read alike, or one sentence that says what is wrong with it.

Python's own parser takes more than JSON is: NaN, numbers beyond a double, a key given twice, a thousand
levels of nesting, on which whoever walks the values runs out of stack.
"""

import json
from collections.abc import Callable
from math import isfinite
from typing import Any

from tilesim.errors import TilesimError, shown

DEEPEST = 32
"""Levels of objects and lists in one another; nothing that tilesim reads has more than 6."""
LARGEST = 10**300
"""Numbers lie within plus and minus this, so that each is finite as a double."""


def parse(
    text: str | bytes,
    error: type[TilesimError],
    parse_float: Callable[[str], Any] | None = None,
) -> Any:
    """The values in `text`; `parse_float` makes a number out of one with a fraction, else it is a float.

    Raises `error` where it is no JSON, holds a number that no double holds, or an object has a key twice. How
    deep the values are nested is left to `nesting_fault`, which costs a walk through all of them.
    """
    try:
        return json.loads(
            text,
            parse_constant=_constant,
            parse_int=_integer,
            parse_float=parse_float or _real,
            object_pairs_hook=_once,
        )
    except json.JSONDecodeError as fault:
        raise error(f"this is not JSON: {fault.msg} in line {fault.lineno}") from None
    except UnicodeDecodeError as fault:
        raise error(f"this is not JSON: byte {fault.start} is no text") from None
    except (ValueError, ArithmeticError) as fault:
        raise error(f"this is not JSON that can be read: {fault}") from None
    except RecursionError:
        raise error(f"this is nested too deeply; at most {DEEPEST} levels are allowed") from None


def nesting_fault(values: object) -> str:
    """What is wrong with how deep `values` are nested, or "" where nothing is.

    >>> nesting_fault({"a": [1, {"b": 2}]})
    ''
    """
    level, depth = [values], 0
    while level:
        inner: list[object] = []
        for value in level:
            if isinstance(value, dict):
                inner += value.values()
            elif isinstance(value, list | tuple):
                inner += value
        level, depth = [value for value in inner if isinstance(value, dict | list | tuple)], depth + 1
        if depth > DEEPEST:
            return f"this is nested too deeply; at most {DEEPEST} levels are allowed"
    return ""


def _constant(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _integer(word: str) -> int:
    if len(word) > 300 or not -LARGEST <= (number := int(word)) <= LARGEST:
        raise ValueError(f"{shown(word)} is too large a number")
    return number


def _real(word: str) -> float:
    number = float(word)
    if not isfinite(number):
        raise ValueError(f"{shown(word)} is too large a number")
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {shown(twice)} is there twice in one object")
    return values
