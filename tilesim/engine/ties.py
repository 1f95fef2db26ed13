"""Ties: rows of a run that share their issue, which it logs slot by slot as the hardware fills them."""

from itertools import pairwise
from typing import Any

import numpy as np

ROWS = 2**11
"""About how many are sorted at a time: 160 KiB."""


def settle(spans: np.ndarray, first: np.ndarray, end: np.ndarray) -> None:
    """Sort rows of one issue by (start, sm, slot), in place: of each instant, those from `first` to `end`."""
    whole = spans.view(f"V{spans.itemsize}")  # NumPy copies rows of fields field by field
    chunks = np.flatnonzero(np.diff(np.cumsum(end - first) // ROWS, prepend=-1))
    for begin, stop in pairwise([*chunks, len(first)]):
        many = (end - first)[begin:stop]
        number = np.repeat(np.arange(len(many)), many)
        rows: Any = slice(first[begin], end[stop - 1])
        if rows.stop - rows.start > len(number):  # there are rows of other instants between
            rows = np.arange(len(number)) + (end[begin:stop] - np.cumsum(many))[number]
        found = whole[rows]
        whole[rows] = found.take(_order(found.view(spans.dtype), number))


def _order(spans: np.ndarray, number: np.ndarray) -> np.ndarray:
    """What sorts `spans` by (`number` of the instant, start, sm, slot): int64, shape [spans].

    NumPy sorts narrow keys and equal ones fastest, so it is by the lag after the issue.
    """
    lag = spans["start"] - spans["issue"]
    return np.lexsort([_narrow(key) for key in (spans["slot"], spans["sm"], lag, number)])


def _narrow(numbers: np.ndarray) -> np.ndarray:
    """The same `numbers`, which are at least 0, in as few bits as hold them."""
    return numbers.astype(np.min_scalar_type(numbers.max()))
