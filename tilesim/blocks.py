"""Rows in blocks that fit a processor's cache: many passes over a million rows fetch them once."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

ROWS = 2**13
"""Rows of a block: of spans, 640 KiB."""


def blocks(rows: int, size: int = ROWS) -> Iterator[slice]:
    """Slices of at most `size` rows that cover range(rows) in turn.

    >>> list(blocks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for begin in range(0, rows, size):
        yield slice(begin, min(begin + size, rows))


class Rule(NamedTuple):
    """What no row may be: `broken` gives a bool for each row of a block, `sentence` describes a row."""

    broken: Callable[[np.ndarray], np.ndarray]
    sentence: Callable[[int], str]


def fault(rows: np.ndarray, rules: Sequence[Rule]) -> str:
    """The sentence of the first of `rules` that a row breaks, about the first such row; "" where none is.

    >>> rows = np.array([3, 5, -1, -2])
    >>> fault(rows, [Rule(lambda x: x > 9, str), Rule(lambda x: x < 0, lambda row: f"row {row} is negative")])
    'row 2 is negative'
    """
    first: dict[int, int] = {}
    for block in blocks(len(rows)):
        for number, rule in enumerate(rules):
            if number not in first:
                broken = rule.broken(rows[block])
                if broken.any():
                    first[number] = block.start + int(broken.argmax())
    return rules[min(first)].sentence(first[min(first)]) if first else ""
