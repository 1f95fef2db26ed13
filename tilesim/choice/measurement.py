"""Measurement: times of many kernels for many products, as `tilesim bench choice` and `tilesim tune` write
them.

A file has "machine" and "rows", a row for each product: m, n, k, dtype, layout, cublas_us, and either "us", a
list of [kernel, µs] whose numbers count the list "kernels", or one kernel, as in a tuned table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any

from tilesim.choice.candidates import Candidate
from tilesim.errors import ChoiceError, TilesimError
from tilesim.problems import Problem
from tilesim.storage.files import read_json
from tilesim.variants import Variant

KERNEL = ("kernel", "schedule", "loads", "overlap", "warps", "stages", "epilogue_subtiles")
"""The fields of a Variant, in the order of the list "kernels"; a tile and an order follow."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One product: what its kernels took in µs, and cuBLAS, None where that cannot multiply it.

    `held_out`: whether nothing may be fitted to it.
    """

    problem: Problem
    layout: str
    us: Mapping[tuple[Variant, tuple[int, ...], str], float]
    cublas_us: float | None
    held_out: bool

    def of(self, one: Candidate) -> float | None:
        """The µs of a candidate, None where it was not timed."""
        return self.us.get((one.variant, one.problem.tile, one.problem.order))


def read(path: str | PathLike[str]) -> list[Timed]:
    """The products of a file; ChoiceError, in a sentence, where it cannot be read or is none."""
    report = read_json(path, ChoiceError)
    try:
        return list(_products(report))
    except KeyError as error:
        raise ChoiceError(
            f"{path} is no measurement of `tilesim bench choice`, which lacks {error}"
        ) from None
    except (TypeError, ValueError, AttributeError, IndexError, TilesimError) as error:
        raise ChoiceError(f"{path} is no measurement of `tilesim bench choice`: {str(error)[:100]}") from None


def _products(report: Mapping[str, Any]) -> Iterator[Timed]:
    for row in report["rows"]:
        problem = Problem(row["m"], row["n"], row["k"], dtype=row["dtype"])
        if "us" in row and isinstance(row["us"], list):
            us = {_kernel(report["kernels"][number]): float(taken) for number, taken in row["us"]}
        else:
            variant = Variant(**{field.name: row[field.name] for field in fields(Variant)})
            us = {(variant, tuple(row["tile"]), row["order"]): float(row["us"])}
        if not all(0 < taken < float("inf") for taken in us.values()):
            raise ChoiceError("a time is not positive")
        yield Timed(problem, row["layout"], us, row["cublas_us"], bool(row.get("held_out", False)))


def _kernel(values: list[Any]) -> tuple[Variant, tuple[int, ...], str]:
    *variant, tile, order = values
    return Variant(**dict(zip(KERNEL, variant, strict=True))), tuple(tile), order
