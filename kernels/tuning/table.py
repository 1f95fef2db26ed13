"""Tuned tables: which kernel was the fastest for which shape on which GPU.

A table is a JSON object: "machine" (see measure.machine.facts), "method", and "rows". A row says a product (m, n, k,
dtype, layout), the kernel that won (tile, order, and the fields of a Variant), and what both took: us, and
cublas_us, null where cuBLAS cannot multiply such operands.
"""

import json
import math
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

from tilesim.errors import TilesimError, shown
from tilesim.problems import Problem

from ..errors import KernelError
from ..launch.layouts import LAYOUTS
from ..launch.variants import Variant, check, variant

PRODUCT = ("m", "n", "k", "dtype", "layout")
"""What identifies a row."""

KERNEL = tuple(field.name for field in fields(Variant))


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """The table in a file; KernelError, in a sentence, where there is none."""
    try:
        table = json.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise KernelError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise KernelError(f"{path} is no JSON ({error})") from None
    try:
        gpu, rows = table["machine"]["gpu"], table["rows"]
        if not isinstance(gpu, str) or not isinstance(rows, list):
            raise TypeError
        for row in rows:
            _check(row)
    except (TypeError, KeyError, IndexError, AttributeError) as error:
        missing = f", which lacks {error}" if isinstance(error, KeyError) else ""
        raise KernelError(f"{path} is no table of `tilesim tune`{missing}") from None
    except TilesimError as error:
        raise KernelError(f"{path} is no table of `tilesim tune`: {error}") from None
    return table


def _check(row: dict[str, Any]) -> None:
    chosen(row, row["m"], row["n"], row["k"])
    if row["layout"] not in LAYOUTS:
        raise KernelError(f"the layout is {shown(row['layout'])}; it must be one of {', '.join(LAYOUTS)}")
    for name, us in (("us", row["us"]), ("cublas_us", row["cublas_us"])):
        known = isinstance(us, int | float) and not isinstance(us, bool) and math.isfinite(us) and us > 0
        if not known and not (us is None and name == "cublas_us"):
            raise KernelError(f"{name} is {shown(us)}; it must be a time in µs")


def chosen(row: dict[str, Any], m: int, n: int, k: int) -> tuple[Variant, Problem]:
    """A row's kernel, and the product of these sizes as that kernel cuts it.

    Raises what `variant`, `check` and Problem raise for values that no kernel has.
    """
    problem = Problem(m, n, k, tuple(row["tile"]), row["dtype"], row["order"])
    check(problem)
    return variant(**{name: row[name] for name in KERNEL if name in row}), problem


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """`new` with the rows of `old` for the products that it does not have, sorted by product.

    Raises KernelError where they were made on different GPUs.
    """
    if old["machine"]["gpu"] != new["machine"]["gpu"]:
        raise KernelError(
            f"the table was made on {old['machine']['gpu']} and this is {new['machine']['gpu']};"
            " each GPU has a table of its own"
        )
    rows = {tuple(row[name] for name in PRODUCT): row for row in (*old["rows"], *new["rows"])}
    by_kind = sorted(rows, key=lambda product: (*product[3:], *product[:3]))
    return {**new, "rows": [rows[product] for product in by_kind]}
