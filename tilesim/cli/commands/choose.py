"""`tilesim choose`: the fastest kernels for a shape, as predicted by the model, and what limits them."""

import json
from dataclasses import replace
from typing import Any

import click

from tilesim.choice.choose import choose
from tilesim.choice.estimate import Estimate
from tilesim.cli.arguments.options import DEVICE, PROBLEM, device_options, json_option, usage
from tilesim.cli.arguments.parameter_types import DTYPES
from tilesim.devices.device import Device
from tilesim.errors import ChoiceError
from tilesim.problems import DTYPE_BYTES
from tilesim.variants import PLANNED, Variant

HEAD = (
    f"{'kernel':30} {'tile':12} {'order':10} {'warps':>5} {'stages':>6} {'waves':>7} {'µs':>10}  limited by"
)
LAYOUTS = ("nn", "nt", "tn", "tt")


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
        problem = replace(PROBLEM, m=m, n=n, k=k, dtype=dtype)
        if options["ctas_per_sm"] is not None:
            raise ChoiceError(
                "how many thread blocks fit on an SM depends on each kernel; leave out --ctas-per-sm"
            )
        named = {name: value for name, value in options.items() if value is not None}
        device = Device.chosen(named, Device.named(DEVICE))
    ranked = choose(problem, device, layout)
    if as_json:
        what = {"m": m, "n": n, "k": k, "dtype": dtype, "layout": layout, "device": device.name}
        click.echo(
            json.dumps(what | {"candidates": len(ranked), "ranking": [_values(one) for one in ranked[:top]]})
        )
        return
    size = f"{m}x{n}x{k} {dtype} {layout}"
    lines = [f"{size} on {device.title}: {len(ranked)} kernels by the model", ""]
    lines.append(HEAD)
    click.echo("\n".join([*lines, *map(_line, ranked[:top])]))


def _values(one: Estimate) -> dict[str, Any]:
    """An estimate as JSON values."""
    variant, problem = one.candidate.variant, one.candidate.problem
    fields = {name: getattr(variant, name) for name in Variant.__dataclass_fields__}
    return fields | {
        "tile": list(problem.tile), "order": problem.order, "residents": one.candidate.residents,
        "waves": round(one.waves, 3), "us": round(one.ns / 1000, 3), "limit": one.limit,
        "parts_ns": {name: round(ns) for name, ns in one.parts.items()},
    }  # fmt: skip


def _line(one: Estimate) -> str:
    """An estimate as a line: the kernel, its time, and the parts that take at least 1 % of it."""
    variant, problem = one.candidate.variant, one.candidate.problem
    name = variant.name if variant.schedule in variant.name else f"{variant.name} {variant.schedule}"
    name = f"planned {variant.schedule}" if variant.kernel == PLANNED else name
    if variant.kernel in ("skinny", "ping-pong"):
        name = variant.kernel
    tile = "x".join(map(str, problem.tile))
    parts = ", ".join(f"{part} {ns / one.ns:.0%}" for part, ns in one.parts.items() if ns >= one.ns / 100)
    head = f"{name:30} {tile:12} {problem.order:10} {variant.warps:5} {variant.stages:6} {one.waves:7.2f}"
    return f"{head} {one.ns / 1000:10.2f}  {one.limit} ({parts})"
