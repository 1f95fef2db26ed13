"""Rows of the benchmarks' table."""

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any


def row(what: str, figures: list[float], unit: str, goal: str = "") -> dict[str, Any]:
    """One line: the median of `figures`, a round each, the least and the most of them."""
    return {
        "what": what, "figure": median(figures), "low": min(figures), "high": max(figures), "unit": unit,
        "goal": goal,
    }  # fmt: skip


def text(rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows as a table.

    >>> print(text([row("speed", [1.0, 2.0, 12.0], "times", "at least 2")]))
    speed                                              2.00 (    1.00 to    12.00) times            at least 2
    """
    return "\n".join(
        f"{line['what']:46} {line['figure']:8.2f} ({line['low']:8.2f} to {line['high']:8.2f}) "
        f"{line['unit']:16} {line['goal']}".rstrip()
        for line in rows
    )


def markdown(rows: Iterable[Mapping[str, Any]]) -> str:
    """The rows as a page shows them.

    >>> print(markdown([row("speed", [1.0, 2.0, 12.0], "times", "at least 2")]))
    | speed | 2.00 times | 1.00 to 12.0 | at least 2 |
    """
    return "\n".join(
        f"| {line['what']} | {_figure(line['figure'])} {line['unit']}".rstrip()
        + f" | {_figure(line['low'])} to {_figure(line['high'])} | {line['goal']} |"
        for line in rows
    )


def _figure(value: float) -> str:
    """Three digits, or as many as it has before the point.

    >>> [_figure(value) for value in (0.987654, 1.5, 67.89, 592.44)]
    ['0.99', '1.50', '67.9', '592']
    """
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"
