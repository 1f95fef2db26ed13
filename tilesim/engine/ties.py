"""Ties: rows issued at the same time, which the engine logs in the order the hardware fills slots."""

from itertools import pairwise
from typing import Any

import numpy as np

ROWS = 2**12
"""Rows sorted at a time, approximately: 320 KiB."""


def settle(spans: np.ndarray, first: np.ndarray, end: np.ndarray) -> None:
    """Sort rows with equal issue by (start, sm, slot), in place; those of an instant are `first` to `end`."""
    whole = spans.view(f"V{spans.itemsize}")  # NumPy copies rows of fields field by field
    sizes = end - first
    chunks = np.flatnonzero(np.diff(np.cumsum(sizes) // ROWS, prepend=-1))
    for begin, stop in pairwise([*chunks, len(sizes)]):
        many = sizes[begin:stop]
        rows: Any = slice(first[begin], end[stop - 1])
        if rows.stop - rows.start > many.sum():  # rows of other instants lie between
            rows = np.arange(many.sum()) + np.repeat(end[begin:stop] - np.cumsum(many), many)
        found = whole[rows]
        whole[rows] = found.take(_order(found.view(spans.dtype), many))


def _order(spans: np.ndarray, many: np.ndarray) -> np.ndarray:
    """The permutation that sorts `spans` by (instant, start, sm, slot), `many` per instant: int64 [spans]."""
    keys = spans["slot"], spans["sm"], spans["start"] - spans["issue"]
    if (many == many[0]).all():
        alike = [key.reshape(len(many), -1) for key in keys]
        if all((key == key[0]).all() for key in alike):  # as under ideal costs: sort one instant for all
            order = np.lexsort([key[0] for key in alike])
            return (np.arange(len(many))[:, np.newaxis] * many[0] + order).ravel()
    # NumPy sorts narrow keys and equal ones fastest.
    number = np.repeat(np.arange(len(many)), many)
    return np.lexsort([key.astype(np.min_scalar_type(key.max())) for key in (*keys, number)])
