"""The one renderer of tables, for the command line and for the documentation.

Rows are JSON objects. Columns are one string, such as "size | kernel | L2 MB {bytes:.0f/1e6}": of each column
the head, and a format string over a row's fields. After a number's format may stand what it is divided by.
The word alone is one of COLUMNS, or both head and field. "ns {ns[*]:.1f}" is the median and two percentiles.
A field that a row lacks was not counted, and its cell says so; a field that is null leaves its cell empty.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import Formatter
from typing import Any

Row = Mapping[str, Any]

COLUMNS = {
    "size": "size {m}x{n}x{k}",
    "typed size": "size {m}x{n}x{k} {dtype}",
    "times": "µs {us:.2f} | p20 {p20:.2f} | p80 {p80:.2f}",
    "with host": "with host {host_us:.2f}",
    "TFLOP/s": "TFLOP/s {tflops:.1f}",
    "MHz": "MHz {sm_mhz}",
    "error": "error {relative_error:.1e}",
    "traffic": "L2 hits {l2_hit_rate:.1%} | L2 MB {l2_bytes:.0f/1e6} | DRAM MB {dram_read_bytes:.0f/1e6}",
}
"""What several tables have; traffic: what the SMs read at the L2, its hits, and what is read out of DRAM."""

NOT_COUNTED = "not counted"
FIGURE = re.compile(rf"[-+(]?\d[-+\d.,e to()%?/]*( µs| MB| \(model\))?|{NOT_COUNTED}")
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
    """A template with the fields of a row; NOT_COUNTED where the row lacks one.

    >>> filled("{bytes:.1f/1e6} MB of {tile}{note}", {"bytes": 2e6, "tile": [8, 4], "note": None})
    '2.0 MB of 8x4'
    """
    try:
        return _Format().vformat(template, (), row)
    except KeyError:
        return NOT_COUNTED


def text(rows: Iterable[Row], columns: str) -> list[str]:
    """Lines for the command line: the heads, then each row; figures to the right, words to the left.

    >>> text([{"name": "copy", "us": 9.5}, {"name": "sum", "us": 12.25}], "{name} | µs {us:.2f}")
    ['         µs', 'copy   9.50', 'sum   12.25']
    """
    head, made = _cells(rows, columns)
    widths = [max(map(len, column)) for column in zip(head, *made, strict=True)]
    sides = [">" if right else "<" for right in _figures(made, len(widths))]
    return ["  ".join(map("{:{}{}}".format, line, sides, widths)).rstrip() for line in (head, *made)]


def markdown(rows: Iterable[Row], columns: str) -> str:
    return markdown_of(*_cells(rows, columns))


def markdown_of(head: Sequence[str], made: Sequence[Sequence[str]]) -> str:
    """A table in Markdown of cells that were made already.

    >>> print(markdown_of(("kernel", "µs"), [("naive", "34.80")]))
    | kernel | µs |
    | --- | ---: |
    | naive | 34.80 |
    """
    rule = ["---:" if right else "---" for right in _figures(made, len(head))]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *made))


def _cells(rows: Iterable[Row], columns: str) -> tuple[list[str], list[list[str]]]:
    pairs = [column.partition("{") for column in _expanded(columns)]
    made = [[filled(brace + rest, row) for _, brace, rest in pairs] for row in rows]
    return [head.rstrip() for head, _, _ in pairs], made


def _expanded(columns: str) -> Iterator[str]:
    """Each column with its head and its format.

    >>> list(_expanded("kernel | MHz | ns {ns[*]:.0f}"))
    ['kernel {kernel}', 'MHz {sm_mhz}', 'ns {ns[p50]:.0f}', 'p20 {ns[p20]:.0f}', 'p80 {ns[p80]:.0f}']
    """
    for column in columns.split(" | "):
        if column in COLUMNS:
            yield from COLUMNS[column].split(" | ")
        elif "[*]" in column:
            cell = column[column.index("{") :]
            yield column.replace("[*]", "[p50]")
            yield from (f"{name} {cell.replace('[*]', f'[{name}]')}" for name in ("p20", "p80"))
        else:
            yield column if "{" in column else f"{column} {{{column}}}"


def _figures(made: Sequence[Sequence[str]], count: int) -> list[bool]:
    """Which of `count` columns hold figures alone."""
    return [all(FIGURE.fullmatch(line[i]) or not line[i] for line in made) for i in range(count)]
