"""Tuned tables: which kernel was the fastest for which product on which GPU.

A table is a JSON object: "machine" (see measure.machine.facts), "method", and "rows". A row is a product
(m, n, k, dtype, layout), the kernel that won ("config"; in files of versions before 0.2 its fields), and what
both took: us, and cublas_us, null where cuBLAS cannot multiply such operands.
"""

from dataclasses import dataclass
from os import PathLike
from typing import Annotated, Any

from tilesim.choice.measurement import config_of, product_of
from tilesim.errors import TilesimError
from tilesim.gemm.fit import why_not
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product
from tilesim.storage.decode import between, decode
from tilesim.storage.files import read_json

from ..errors import KernelError

PRODUCT = ("m", "n", "k", "dtype", "layout")
"""What identifies a row."""

Time = Annotated[float, between(0, 10**12, above=True)]
"""µs."""


@dataclass(frozen=True, slots=True)
class _Machine:
    gpu: str


@dataclass(frozen=True, slots=True)
class _Table:
    machine: _Machine
    rows: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Times:
    us: Time
    cublas_us: Time | None


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """The table in a file; KernelError, in a sentence, where it cannot be read or is none."""
    table = read_json(path, KernelError)
    try:
        rows = decode(_Table, table, "the file", KernelError, extra=True).rows
        for number, row in enumerate(rows):
            decode(_Times, row, f"rows[{number}]", KernelError, extra=True)
            chosen(row, product_of(row))
    except KeyError as error:
        raise KernelError(f"{path} is not a table of `tilesim tune`: the field {error} is missing") from None
    except TilesimError as error:
        raise KernelError(f"{path} is not a table of `tilesim tune`: {error}") from None
    return table


def chosen(row: dict[str, Any], product: Product) -> KernelConfig:
    """A row's kernel, for a product that may be another.

    Raises KeyError for what the row lacks, and TilesimError for values that no kernel has, or that cannot
    compute the product.
    """
    config = config_of(row)
    if why := why_not(config, product):
        raise KernelError(why)
    return config


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
