"""A bench of `tilesim bench`, as data: its help, its options, and how its report is shown."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import click

from tilesim.cli.arguments.options import FIGURES_FILE, F, json_option, output_option
from tilesim.cli.output.figures import wrote
from tilesim.cli.output.tables import Cell, Columns, Row, filled, text
from tilesim.cli.packages import load
from tilesim.storage import files

Report = Mapping[str, Any]

SIZE = {"size": "{m}x{n}x{k}"}
TYPED_SIZE = {"size": "{m}x{n}x{k} {dtype}"}
TIMES = {"µs": "{us:.2f}", "p20": "{p20:.2f}", "p80": "{p80:.2f}"}
"""The median, the 20th and the 80th percentile."""
MOVED = {
    "L2 hits": "{l2_hit_rate:.1%}",
    "L2 MB": "{l2_bytes:.0f/1e6}",
    "DRAM MB": "{dram_read_bytes:.0f/1e6}",
}
"""The hit rate of what the SMs read at the L2, how much that is, and what is read out of DRAM."""
ERROR = {"error": "{relative_error:.1e}"}
WITH_HOST = {"with host": "{host_us:.2f}"}
MEDIANS: dict[str, Cell] = {
    "median of each repeat, ns": lambda row: f"{min(row['medians_ns']):.1f} to {max(row['medians_ns']):.1f}"
}
CLOCKS = "clock {sm_mhz} MHz, global timer steps by {tick_ns} ns"


def quantiles(field: str, form: str, head: str = "") -> dict[str, str]:
    """Columns of the median of a field, by a head, and of its 20th and 80th percentile."""
    made = {name: f"{{{field}[{name}]:{form}}}" for name in ("p50", "p20", "p80")}
    return {head or field: made.pop("p50")} | made


class Table(NamedTuple):
    """Columns, and the rows to show: the name of the report's list, or what finds them in a report."""

    columns: Columns
    rows: str | Callable[[Report], Iterable[Row]] = "rows"

    def lines(self, report: Report) -> list[str]:
        """The table, after an empty line."""
        rows = report[self.rows] if isinstance(self.rows, str) else self.rows(report)
        return ["", *text(rows, self.columns)]


Part = str | Table | Callable[[Report], Iterable[str]]
"""What is shown of a report: a sentence with fields of the report, a table, or lines."""


class Bench(click.Command):
    """`tilesim bench NAME`: runs the function of that name in kernels/bench/NAME.py, and shows its report.

    `about`: for the list of benches. `help`: for its own page. `options`: whose values the function takes;
    those named `sizes` as positional arguments. An option that was not given leaves the function's default.
    """

    def __init__(
        self, name: str, about: str, help: str, parts: Sequence[Part], options: Sequence[click.Option] = ()
    ) -> None:
        super().__init__(name, params=[*options], short_help=about, help=help, callback=self._measure)
        self.parts = parts
        output_option(FIGURES_FILE, OUTPUT_HELP)(self)
        json_option(self)

    def _measure(self, output: str | None, as_json: bool, sizes: Iterable[Any] = (), **options: Any) -> None:
        name = str(self.name).replace("-", "_")
        given = {option: value for option, value in options.items() if value != ()}
        show(getattr(load("kernels", f"bench.{name}"), name)(*sizes, **given), self.text, output, as_json)

    def text(self, report: Report) -> str:
        """What it was measured on, then each part."""
        return "\n".join([machine(report), *(line for part in self.parts for line in _lines(part, report))])


def _lines(part: Part, report: Report) -> Iterable[str]:
    if isinstance(part, str):
        return [filled(part, report)]
    return part.lines(report) if isinstance(part, Table) else part(report)


def product_times(report: Report) -> list[str]:
    """A line per size and kernel; with the host's work where that was timed."""
    columns = TYPED_SIZE | {"kernel": "{kernel}"} | TIMES | {"TFLOP/s": "{tflops:.1f}", "MHz": "{sm_mhz}"}
    host = WITH_HOST if any("host_us" in row for row in report["rows"]) else {}
    return Table(columns | ERROR | host).lines(report)


OUTPUT_HELP = "Write the figures here (.json)."


def report_options(command: F) -> F:
    """`-o FILE` and `--json`, passed on as `output` and `as_json`."""
    return output_option(FIGURES_FILE, OUTPUT_HELP)(json_option(command))


def count_option(name: str, about: str, default: int, least: int = 1, most: int = 1000) -> click.Option:
    """`--NAME COUNT`, with its default in the help."""
    kind = click.IntRange(least, most)
    return click.Option([f"--{name}"], type=kind, default=default, help=f"{about}  [{default}]")


def samples_option(each: str, default: int) -> click.Option:
    """`--samples COUNT`, of each kernel, step or whatever is timed."""
    return count_option("samples", f"Samples per {each}.", default, most=100_000)


def show(report: Report, table: Callable[[Any], str], output: str | None, as_json: bool) -> None:
    """Write `report` to `output`, if there is one, and print it as JSON or as `table` has it."""
    written = json.dumps(report, indent=1)
    if output:
        files.write(output, lambda file: file.write(written.encode() + b"\n"))
        wrote(output)
    click.echo(written if as_json else table(report))


def machine(report: Report) -> str:
    """What it was measured on, in a line."""
    return ", ".join(f"{name} {value}" for name, value in report["machine"].items())
