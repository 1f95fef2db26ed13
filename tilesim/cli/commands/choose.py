"""`tilesim choose`: the fastest kernels for a shape, as predicted by the model, and what limits them."""

import json
from dataclasses import asdict
from typing import Any

import click

from tilesim.choice.choose import Estimate, choose
from tilesim.cli.arguments import options as shared
from tilesim.cli.output.tables import text
from tilesim.products import LAYOUTS, Product

SIZES = ("m", "n", "k", "dtype")
COLUMNS = (
    "kernel {name} | tile | order | warps | stages | waves {waves:.2f} | µs {us:.2f} | limited by {limited}"
)


@click.command(short_help="Rank kernels for a shape by predicted time.")
@shared.work_options(names=(*SIZES, "device", "sms", "busy_sms"))
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    default=LAYOUTS[0],
    help="Layouts of A and B: row-major (n) or column-major (t).  [nn]",
)
@shared.count_option("top", "Number of kernels to show.", 8, most=10_000)
@shared.json_option
def command(layout: str, top: int, as_json: bool, **options: Any) -> None:
    """Rank the kernels that can compute a product, fastest first, with their times and what limits them.

    The times are predicted by the model, and nothing is measured; `tilesim tune --top 8` measures the best.
    """
    with shared.usage():
        sizes = {name: getattr(shared.PROBLEM, name) for name in SIZES} | shared.given(options, SIZES)
        product = Product(**sizes, layout=layout)
        device = shared.device_from(options)
    ranked = choose(product, device)
    if as_json:
        what = asdict(product) | {"device": device.name, "candidates": len(ranked)}
        click.echo(json.dumps(what | {"ranking": [_values(one) for one in ranked[:top]]}))
        return
    head = f"{product} on {device.title}: {len(ranked)} kernels by the model"
    click.echo("\n".join([head, "", *text(map(_row, ranked[:top]), COLUMNS)]))


def _values(one: Estimate) -> dict[str, Any]:
    return one.config.as_json() | {
        "residents": one.residents,
        "waves": round(one.waves, 3), "us": round(one.ns / 1000, 3), "limit": one.limit,
        "parts_ns": {name: round(ns) for name, ns in one.parts.items()},
    }  # fmt: skip


def _row(one: Estimate) -> dict[str, Any]:
    config = one.config
    name = config.name if config.schedule in config.name else f"{config.name} {config.schedule}"
    parts = ", ".join(f"{part} {ns / one.ns:.0%}" for part, ns in one.parts.items() if ns >= one.ns / 100)
    figures = {"waves": one.waves, "us": one.ns / 1000, "limited": f"{one.limit} ({parts})"}
    return config.as_json() | figures | {"name": name}
