"""`tilesim choose`: the fastest kernels for a shape, as predicted by the model, and what limits them."""

import json
from dataclasses import asdict
from typing import Any

import click

from tilesim.choice.choose import choose
from tilesim.choice.estimate import Estimate
from tilesim.cli.arguments.options import DEVICE, PROBLEM, device_options, json_option, usage
from tilesim.cli.arguments.parameter_types import DTYPES
from tilesim.devices.device import Device
from tilesim.errors import ChoiceError
from tilesim.problems import DTYPE_BYTES
from tilesim.products import LAYOUTS, Product

HEAD = (
    f"{'kernel':30} {'tile':12} {'order':10} {'warps':>5} {'stages':>6} {'waves':>7} {'µs':>10}  limited by"
)


@click.command(short_help="Rank kernels for a shape by predicted time.")
@click.option("--m", type=int, default=PROBLEM.m, help=f"Rows of A and C.  [{PROBLEM.m}]")
@click.option("--n", type=int, default=PROBLEM.n, help=f"Columns of B and C.  [{PROBLEM.n}]")
@click.option("--k", type=int, default=PROBLEM.k, help=f"Columns of A, rows of B.  [{PROBLEM.k}]")
@click.option(
    "--dtype",
    type=DTYPES,
    default=PROBLEM.dtype,
    metavar="NAME",
    help=f"Data type of A and B: {', '.join(DTYPE_BYTES)}.  [{PROBLEM.dtype}]",
)
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    default=LAYOUTS[0],
    help="Layouts of A and B: row-major (n) or column-major (t).  [nn]",
)
@device_options()
@click.option("--top", type=click.IntRange(1, 10_000), default=8, help="Number of kernels to show.  [8]")
@json_option
def command(m: int, n: int, k: int, dtype: str, layout: str, top: int, as_json: bool, **options: Any) -> None:
    """Rank the kernels that can compute a product, fastest first, with their times and what limits them.

    The times are predicted by the model, and nothing is measured; `tilesim tune --top 8` measures the best.
    """
    with usage():
        product = Product(m, n, k, dtype, layout)
        if options["ctas_per_sm"] is not None:
            raise ChoiceError(
                "how many thread blocks fit on an SM depends on each kernel; leave out --ctas-per-sm"
            )
        named = {name: value for name, value in options.items() if value is not None}
        device = Device.chosen(named, Device.named(DEVICE))
    ranked = choose(product, device)
    if as_json:
        what = asdict(product) | {"device": device.name}
        click.echo(
            json.dumps(what | {"candidates": len(ranked), "ranking": [_values(one) for one in ranked[:top]]})
        )
        return
    lines = [f"{product} on {device.title}: {len(ranked)} kernels by the model", ""]
    lines.append(HEAD)
    click.echo("\n".join([*lines, *map(_line, ranked[:top])]))


def _values(one: Estimate) -> dict[str, Any]:
    """An estimate as JSON values."""
    return one.config.as_json() | {
        "residents": one.residents,
        "waves": round(one.waves, 3), "us": round(one.ns / 1000, 3), "limit": one.limit,
        "parts_ns": {name: round(ns) for name, ns in one.parts.items()},
    }  # fmt: skip


def _line(one: Estimate) -> str:
    """An estimate as a line: the kernel, its time, and the parts that take a hundredth of it or more."""
    config = one.config
    name = config.name if config.schedule in config.name else f"{config.name} {config.schedule}"
    tile = "x".join(map(str, config.tile))
    parts = ", ".join(f"{part} {ns / one.ns:.0%}" for part, ns in one.parts.items() if ns >= one.ns / 100)
    head = f"{name:30} {tile:12} {config.order:10} {config.warps:5} {config.stages:6} {one.waves:7.2f}"
    return f"{head} {one.ns / 1000:10.2f}  {one.limit} ({parts})"
