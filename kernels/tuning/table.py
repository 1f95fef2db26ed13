"""Tuned tables: which kernel was the fastest for which shape on which GPU.

A table is a JSON object: "machine" (see measure.machine.facts), "method", and "rows". A row says a product
(m, n, k, dtype, layout), the kernel that won (tile, order, and the fields of a Variant), and what both took:
us, and cublas_us, null where cuBLAS cannot multiply such operands.
"""

from dataclasses import fields
from os import PathLike
from typing import Any

from tilesim.errors import TilesimError, shown
from tilesim.problems import Problem
from tilesim.storage.files import read_json
from tilesim.variants import Variant

from ..errors import KernelError
from ..launch.layouts import LAYOUTS
from ..launch.variants import check, checked_variant

PRODUCT = ("m", "n", "k", "dtype", "layout")
"""What identifies a row."""

KERNEL = tuple(field.name for field in fields(Variant))

MAX_US = 10**12


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """The table in a file; KernelError, in a sentence, where it cannot be read or is none."""
    table = read_json(path, KernelError)
    try:
        _check(table)
    except KeyError as error:
        raise KernelError(f"{path} is no table of `tilesim tune`, which lacks {error}") from None
    except TilesimError as error:
        raise KernelError(f"{path} is no table of `tilesim tune`: {error}") from None
    return table


def _check(table: Any) -> None:
    """Raise KeyError or TilesimError unless JSON values are a table."""
    machine, rows = _object("the file", table)["machine"], table["rows"]
    gpu = _object("machine", machine)["gpu"]
    if not isinstance(gpu, str):
        raise KernelError(f"gpu is {shown(gpu)}; it must be a text")
    if not isinstance(rows, list):
        raise KernelError(f"rows is {shown(rows)}; it must be a list")
    for number, row in enumerate(rows, 1):
        _check_row(_object(f"row {number}", row))


def _check_row(row: dict[str, Any]) -> None:
    chosen(row, row["m"], row["n"], row["k"])
    if row["layout"] not in LAYOUTS:
        raise KernelError(f"the layout is {shown(row['layout'])}; it must be one of {', '.join(LAYOUTS)}")
    for name in ("us", "cublas_us"):
        us = row[name]
        known = isinstance(us, int | float) and not isinstance(us, bool) and 0 < us < MAX_US
        if not known and not (us is None and name == "cublas_us"):
            raise KernelError(f"{name} is {shown(us)}; it must be a time in µs")


def _object(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise KernelError(f"{name} is {shown(value)}; it must be an object")
    return value


def chosen(row: dict[str, Any], m: int, n: int, k: int) -> tuple[Variant, Problem]:
    """A row's kernel, and the product of these sizes in that kernel's tiles and order.

    Raises KeyError for what the row lacks; for values that no kernel has, what `checked_variant`, `check` and
    Problem raise.
    """
    if not isinstance(row["order"], str):
        raise KernelError(f"the order is {shown(row['order'])}; it must be a text")
    problem = Problem(m, n, k, row["tile"], row["dtype"], row["order"])
    check(problem)
    return checked_variant(**{name: row[name] for name in KERNEL}), problem


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
