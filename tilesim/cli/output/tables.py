"""The one renderer of tables, for the command line and for the documentation.

Rows are JSON objects. Columns say, for each head, how a cell is made from a row: by a format string over
the row's fields, such as "{m}x{n}x{k}" or "{cycles[p50]:.1f}", or by a function of the row. After a number's
format may stand what the number is divided by, as in "{bytes:.1f/1e6}". A field that the row lacks was not
counted, and its cell says so; a field that is null leaves its cell empty.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from string import Formatter
from typing import Any

Row = Mapping[str, Any]
Cell = str | Callable[[Row], str]
Columns = Mapping[str, Cell]

NOT_COUNTED = "not counted"
FIGURE = re.compile(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]\d+)?( ?%|/\d+)?( \(model\))?|" + NOT_COUNTED)
"""What stands to the right in its column, with nothing else in it."""


class _Format(Formatter):
    """Divides a number by what stands behind a slash in its format, joins lists as in 128x256x64."""

    def format_field(self, value: Any, format_spec: str) -> str:
        form, _, divisor = format_spec.partition("/")
        if value is None:
            return ""
        if isinstance(value, list):
            return "x".join(map(str, value))
        return format(value / float(divisor) if divisor else value, form)


def filled(template: str, row: Row) -> str:
    """A template with the fields of a row.

    >>> filled("{bytes:.1f/1e6} MB of {tile}{note}", {"bytes": 2e6, "tile": [8, 4], "note": None})
    '2.0 MB of 8x4'
    """
    return _Format().vformat(template, (), row)


def cells(rows: Iterable[Row], columns: Columns) -> list[list[str]]:
    """A list of cells for each row."""
    return [[_cell(cell, row) for cell in columns.values()] for row in rows]


def text(rows: Iterable[Row], columns: Columns) -> list[str]:
    """Lines for the command line: the heads, then each row; figures to the right, words to the left.

    >>> text([{"name": "copy", "us": 9.5}, {"name": "sum", "us": 12.25}], {"": "{name}", "µs": "{us:.2f}"})
    ['         µs', 'copy   9.50', 'sum   12.25']
    """
    made = cells(rows, columns)
    table = [list(columns), *made]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    sides = [">" if right else "<" for right in _figures(made, len(widths))]
    return ["  ".join(map("{:{}{}}".format, line, sides, widths)).rstrip() for line in table]


def markdown(rows: Iterable[Row], columns: Columns) -> str:
    """The same for a page of the documentation."""
    return markdown_of(list(columns), cells(rows, columns))


def markdown_of(head: Sequence[str], made: Iterable[Sequence[str]]) -> str:
    """A table in Markdown of cells that were made already.

    >>> print(markdown_of(("kernel", "µs"), [("naive", "34.80")]))
    | kernel | µs |
    | --- | ---: |
    | naive | 34.80 |
    """
    lines = list(made)
    rule = ["---:" if right else "---" for right in _figures(lines, len(head))]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *lines))


def _cell(cell: Cell, row: Row) -> str:
    try:
        return filled(cell, row) if isinstance(cell, str) else cell(row)
    except KeyError:
        return NOT_COUNTED


def _figures(made: Sequence[Sequence[str]], count: int) -> list[bool]:
    """Which of `count` columns hold figures alone."""
    return [all(FIGURE.fullmatch(line[i]) or not line[i] for line in made) for i in range(count)]
