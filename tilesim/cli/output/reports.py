"""A bench of `tilesim bench`, as data: its help, its options, and how its report is shown."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import click

from tilesim.choice.measurement import config_of, product_of
from tilesim.cli.arguments.options import figures_option, json_option
from tilesim.cli.output.figures import save_text
from tilesim.cli.output.tables import Row, filled, text
from tilesim.cli.packages import load
from tilesim.kernel_config import TABLE

Report = Mapping[str, Any]


class Table(NamedTuple):
    """Columns, and the rows to show: the name of the report's list, or what finds them in a report."""

    columns: str
    rows: str | Callable[[Report], Iterable[Row]] = "rows"

    def lines(self, report: Report) -> list[str]:
        rows = report[self.rows] if isinstance(self.rows, str) else self.rows(report)
        return ["", *text(rows, self.columns)]


def derived(made: Callable[[Row], Row], rows: str = "rows") -> Callable[[Report], list[Row]]:
    return lambda report: [{**row, **made(row)} for row in report[rows]]


Part = str | Table | Callable[[Report], Iterable[str]]
"""What is shown of a report: a sentence with fields of the report, a table, or lines."""


class Bench(click.Command):
    """`tilesim bench NAME`: runs the function of that name in kernels/bench/NAME.py, and shows its report.
    The first line of its help is its line in the list of all benches."""

    def __init__(
        self, name: str, help: str, *parts: Part, options: Sequence[Callable[[Any], Any]] = ()
    ) -> None:
        super().__init__(name, short_help=help.partition("\n")[0], help=help, callback=self._measure)
        self.parts = parts
        for option in (*options, figures_option, json_option):
            option(self)

    def _measure(self, output: str | None, as_json: bool, sizes: Iterable[Any] = (), **options: Any) -> None:
        name = str(self.name).replace("-", "_")
        given = {option: value for option, value in options.items() if value != ()}
        show(getattr(load("kernels", f"bench.{name}"), name)(*sizes, **given), self.text, output, as_json)

    def text(self, report: Report) -> str:
        lines = [machine(report)]
        for part in self.parts:
            if isinstance(part, str):
                lines.append(filled(part, report))
            else:
                lines += part.lines(report) if isinstance(part, Table) else part(report)
        return "\n".join(lines)


def product_times(report: Report) -> list[str]:
    host = " | with host" if any("host_us" in row for row in report["rows"]) else ""
    return Table("typed size | kernel | times | TFLOP/s | MHz | error" + host).lines(report)


def tuned_kernels(table: Report) -> str:
    """The machine, then a line per product: the fastest kernel, and its speed relative to cuBLAS."""
    rows = []
    for row in table["rows"]:
        config, other = config_of(row), row["cublas_us"]
        name = f"{TABLE}:{config.schedule}" if config.kernel == TABLE else config.name
        more = {"product": product_of(row), "name": name, "ratio": other and other / row["us"]}
        rows.append({**row, **config.as_json(), **more})
    columns = "size {product} | kernel {name} | tile | order | warps | stages"
    figures = "µs {us:.2f} | cuBLAS {cublas_us:.2f} | ratio {ratio:.3f}"
    return "\n".join([machine(table), *text(rows, f"{columns} | {figures}")])


def show(report: Report, table: Callable[[Any], str], output: str | None, as_json: bool) -> None:
    """Write `report` to `output`, if there is one, and print it as JSON or as `table` has it."""
    written = json.dumps(report, indent=1)
    if output:
        save_text(output, written + "\n")
    click.echo(written if as_json else table(report))


def machine(report: Report) -> str:
    return ", ".join(f"{name} {value}" for name, value in report["machine"].items())
