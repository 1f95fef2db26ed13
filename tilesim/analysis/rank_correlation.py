"""The similarity of two rankings."""

from math import sqrt

import numpy as np


def kendall_tau(one: np.ndarray, other: np.ndarray) -> float:
    """Kendall's tau-b of two rankings with ties, in O(n log² n): 1 for the same order, -1 for the reverse.

    M. Kendall, The treatment of ties in ranking problems (1945). It is 1 if all are tied in both, and 0 if in
    one.

    >>> kendall_tau(np.array([1, 2, 3, 4]), np.array([1, 3, 2, 4]))  # 1 pair of 6 is swapped
    0.6666666666666666
    >>> kendall_tau(np.array([1, 1, 2]), np.array([1, 2, 2])), kendall_tau(np.zeros(3), np.arange(3))
    (0.5, 0.0)
    """
    by_one = np.lexsort((other, one))
    ranks = np.unique(other, return_inverse=True)[1]
    pairs = len(one) * (len(one) - 1) // 2
    tied, other_tied = _ties(one), _ties(other)
    both = _ties(np.stack([one, other]))
    if tied == pairs or other_tied == pairs:
        return float(tied == other_tied)
    swapped = _inversions(ranks[by_one])
    return (pairs - tied - other_tied + both - 2 * swapped) / sqrt((pairs - tied) * (pairs - other_tied))


def _ties(values: np.ndarray) -> int:
    """Pairs of equal values, or columns."""
    counts = np.unique(values, axis=-1, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _inversions(ranks: np.ndarray) -> int:
    """Pairs whose first rank is larger, counted at the highest bit in which the two ranks differ."""
    count, order = 0, ranks
    for bit in reversed(range(int(ranks.max()).bit_length())):
        order = order[np.argsort(order >> (bit + 1), kind="stable")]
        group, ones = order >> (bit + 1), (order >> bit) & 1
        before = np.cumsum(ones) - ones
        first = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        in_group = before - np.repeat(before[first], np.diff(np.append(first, len(order))))
        count += int(in_group[ones == 0].sum())
    return count
