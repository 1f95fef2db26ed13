"""`tilesim bench choice`: the time of every kernel for many shapes, to judge `choose` and to fit it."""

from dataclasses import asdict
from os import cpu_count
from typing import Any

import click

from tilesim.choice.judge import Judged, fit, judge, verdict
from tilesim.choice.measurement import read
from tilesim.cli.arguments.options import DEVICE, count_option, report_options
from tilesim.cli.arguments.parameter_types import DEVICES, INPUT, Whole
from tilesim.cli.output.figures import progress
from tilesim.cli.output.reports import machine, show
from tilesim.cli.output.tables import text
from tilesim.cli.packages import load
from tilesim.devices.device import Device

COLUMNS = (
    "product | chosen | µs {us:.2f} | fastest {best_us:.2f} | regret {regret:.1%} | top 8 {top_regret:.1%}"
    " | cuBLAS {ratio:.3f}"
)
KINDS = ("bf16:nn", "fp8:nt", "bf16:nt", "fp8:nn")


@click.command("choice", short_help="Time every kernel for many shapes, to judge what is chosen.")
@click.option(
    "--kind", "kinds", type=click.Choice(KINDS), multiple=True, help="Of operands; repeat it.  [all]"
)
@count_option("budget", "Seconds after which no other shape is begun.", 3600, most=10**6)
@click.option("--processes", type=Whole(1, 256), help="That compile kernels.  [one a core]")
@click.option(
    "--measured",
    type=INPUT,
    metavar="FILE",
    multiple=True,
    help="Measure nothing: judge `choose` by this, and with -o fit kernels' times to it; repeat it.",
)
@click.option("--device", type=DEVICES, metavar="NAME", help="On which it was measured.  [h200]")
@report_options
def command(
    kinds: tuple[str, ...], budget: int, processes: int | None, measured: tuple[str, ...],
    device: str | None, output: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Time all candidates of `tilesim choose` and cuBLAS, for 47 shapes and products drawn."""
    if measured:
        timed = [one for path in measured for one in read(path)]
        on = Device.named(device or DEVICE)
        found = judge(timed, on)
        report = fit(timed, on) if output else {"rows": [_values(one) for one in found]}
        show(report, lambda report: "\n".join(_judged(found)), output, as_json)
        return
    products = load("kernels", "tuning.products").products(kinds or KINDS)
    with progress("bench choice", len(products)) as done:
        report = load("kernels", "tuning.tuner").all_times(
            products, budget, processes or cpu_count() or 1, progress=done
        )
    show(report, _measured, output, as_json)


def _measured(report: dict[str, Any]) -> str:
    count = sum(len(row["us"]) for row in report["rows"])
    lines = [machine(report), f"{count} times of {len(report['rows'])} products"]
    for what in ("wrong", "failed"):
        if report[what]:
            lines.append(f"{what}: {len(report[what])}, the first {report[what][0]}")
    if "stopped" in report:
        lines.append(f"stopped early: {report['stopped']}")
    return "\n".join(lines)


def _judged(found: list[Judged]) -> list[str]:
    lines = text(map(_row, found), COLUMNS)
    for what, held_out in (("fitted to", False), ("held out", True)):
        some = [one for one in found if one.timed.held_out == held_out and one.ratio]
        if some:
            figures = verdict(some).items()
            lines.append(f"{what}: " + ", ".join(f"{name} {value:.4g}" for name, value in figures))
    return lines


def _row(one: Judged) -> dict[str, Any]:
    config = one.chosen.config
    tile = "x".join(map(str, config.tile))
    chosen = f"{config.name} {config.schedule} {tile}, {config.stages} stages"
    figures = {"regret": one.regret, "top_regret": one.top_regret, "ratio": one.ratio}
    return _values(one) | figures | {"product": one.timed.product, "chosen": chosen}


def _values(one: Judged) -> dict[str, Any]:
    return asdict(one.timed.product) | {
        "held_out": one.timed.held_out, "place": one.place, "us": one.us, "best_us": one.best_us,
        "top_us": one.top_us, "cublas_us": one.timed.cublas_us,
    }  # fmt: skip
