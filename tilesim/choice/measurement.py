"""Measurement: times of many kernels for many products, of `tilesim bench choice` and `tilesim tune`.

"rows" has a row for each product: m, n, k, dtype, layout, cublas_us, and either "us", a list of [kernel, µs]
whose numbers count the list "kernels", or one kernel's time, as in a tuned table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from tilesim.errors import ChoiceError
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product
from tilesim.storage.files import read_json

LISTED = ("kernel", "schedule", "loads", "overlap", "warps", "stages", "epilogue_subtiles", "tile", "order")
"""The fields of a kernel in the list "kernels" of a file that does not write it as one text."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One product: what its kernels took in µs, and cuBLAS, None where that cannot multiply it.

    `held_out`: whether nothing may be fitted to it.
    """

    product: Product
    us: Mapping[KernelConfig, float]
    cublas_us: float | None
    held_out: bool


def read(path: str | PathLike[str]) -> list[Timed]:
    """The products of a file; ChoiceError, in a sentence, where it cannot be read or is none."""
    report = read_json(path, ChoiceError)
    found = []
    try:
        kernels = [config_of(one) for one in report.get("kernels", ())]
        for row in report["rows"]:
            listed = isinstance(row["us"], list)
            us = {kernels[i]: taken for i, taken in row["us"]} if listed else {config_of(row): row["us"]}
            if not all(0 < float(taken) < float("inf") for taken in us.values()):
                raise ChoiceError("a time is not positive")
            held_out = bool(row.get("held_out", False))
            found.append(Timed(product_of(row), us, row["cublas_us"], held_out))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        why = f"the field {error} is missing" if isinstance(error, KeyError) else str(error)[:100]
        raise ChoiceError(f"{path} is not a measurement of `tilesim bench choice`: {why}") from None
    return found


def product_of(row: Mapping[str, Any]) -> Product:
    """The product of a row; raises KeyError for what it lacks, and what Product raises."""
    return Product(*(row[name] for name in ("m", "n", "k", "dtype", "layout")))


def config_of(value: Any) -> KernelConfig:
    """A kernel as files have it: one text, or its fields in the order of LISTED or by name."""
    if isinstance(value, str):
        return KernelConfig.parse(value)
    if isinstance(value, Mapping):
        return config_of(value["config"]) if "config" in value else KernelConfig.of_fields(value)
    return KernelConfig.of_fields(dict(zip(LISTED, value, strict=True)))
