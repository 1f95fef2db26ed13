"""Chunks of rows that fit a processor's cache, so that a million rows need no columns of a million."""

from collections.abc import Iterator

ROWS = 2**13
"""Rows per chunk: 640 KiB of spans."""


def chunks(rows: int, size: int = ROWS) -> Iterator[slice]:
    """Slices of at most `size` rows that cover range(rows) in order.

    >>> list(chunks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for begin in range(0, rows, size):
        yield slice(begin, min(begin + size, rows))
