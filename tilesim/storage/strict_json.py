"""JSON from unknown sources: what any tool would read alike, or one sentence that says what is wrong with it.

Python's own parser also takes NaN, numbers beyond a double, a key given twice, and any depth of nesting.
"""

import json
from collections.abc import Callable
from typing import Any

from tilesim.errors import TilesimError, shown

DEEPEST = 32
"""Levels of objects and lists in one another; nothing that tilesim reads has more than 6."""
LARGEST = 10**300
"""Numbers lie within plus and minus this, so that each is finite as a double."""


def decoder(parse_float: Callable[[str], Any] | None = None) -> json.JSONDecoder:
    """Decodes strictly: raises ValueError for NaN, or a key given twice.

    `parse_float` makes a number out of one with a fraction, else it is a float.
    """
    return json.JSONDecoder(parse_constant=_constant, parse_float=parse_float, object_pairs_hook=_once)


def parse(
    text: str | bytes, error: type[TilesimError], parse_float: Callable[[str], Any] | None = None
) -> Any:
    """The values in `text`, UTF-8 where it is bytes; raises `error` where it is no such JSON.

    How deep values are nested and how large numbers are is left to `fault`, a walk through all of them.
    """
    try:
        return decoder(parse_float).decode(text.decode() if isinstance(text, bytes) else text)
    except json.JSONDecodeError as problem:
        raise error(f"this is not JSON: {problem.msg} in line {problem.lineno}") from None
    except UnicodeDecodeError as problem:
        raise error(f"this is not JSON: byte {problem.start} is no text") from None
    except (ValueError, ArithmeticError) as problem:
        raise error(f"this is not JSON that can be read: {problem}") from None
    except RecursionError:
        raise error(f"this is nested too deeply; at most {DEEPEST} levels are allowed") from None


def fault(values: object) -> str:
    """What is wrong with parsed `values`, where their nesting is too deep or a number too large, or "".

    >>> fault({"a": [1, {"b": 2}]}), fault([10**400])
    ('', 'a number in it is too large for a double')
    """
    level, depth = [values], 0
    while level:
        holders = [value for value in level if isinstance(value, dict | list | tuple)]
        if holders and depth == DEEPEST:
            return f"this is nested too deeply; at most {DEEPEST} levels are allowed"
        if any(isinstance(value, int | float) and not abs(value) <= LARGEST for value in level):
            return "a number in it is too large for a double"
        level = [v for held in holders for v in (held.values() if isinstance(held, dict) else held)]
        depth += 1
    return ""


def _constant(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {shown(twice)} is there twice in one object")
    return values
