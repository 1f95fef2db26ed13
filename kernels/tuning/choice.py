"""Which kernel multiplies a shape: the tuned table of the GPU says, or the model of the machine.

A row of the same sizes and dtype counts first. Else `tilesim.choice` ranks the kernels, for every GPU that
tilesim knows. For another the nearest row is taken: of the same layout before any other, and then by the
distance |log m'/m| + |log n'/n| + |log k'/k|. fp16 stands in for bf16 and the other way round.

A table is a JSON object: "machine" (see measure.machine.facts), "method", and "rows". A row is a product
(m, n, k, dtype, layout), the kernel that won ("config"; in files of versions before 0.2 its fields), us, and
cublas_us, null where cuBLAS cannot multiply such operands.
"""

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from os import PathLike
from typing import Annotated, Any

from tilesim.choice.measurement import config_of, product_of
from tilesim.devices.device import Device
from tilesim.devices.gpus import Gpu, named
from tilesim.errors import TilesimError
from tilesim.gemm.fit import why_not
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product
from tilesim.storage.decode import between, decode
from tilesim.storage.files import read_json

from ..errors import KernelError

TABLE = "TILESIM_TUNED"
"""The environment variable that names a table to use for its GPU in place of the one shipped; read once."""

ALIKE = {"fp16": "bf16", "bf16": "fp16"}

Row = Mapping[str, Any]


def choices(product: Product, gpu: Gpu | None) -> list[KernelConfig]:
    """What to try in turn for a product, each with fewer stages next; the last runs wherever Triton does.
    `gpu`: None for the interpreter. For a GPU that is not exactly a preset the first call says what it is
    taken for. Raises KernelError for a table that is none."""
    found: list[KernelConfig] = []
    if gpu is not None:
        row = nearest(rows(gpu), product)
        measured = row is not None and all(row[name] == getattr(product, name) for name in "mnk")
        if row and (measured or not gpu.preset):
            with suppress(TilesimError):  # a tile that this product cannot have
                found.append(chosen(dict(row), product))
        elif gpu.preset:
            found += modelled(product, gpu.preset, gpu.sms)
        if gpu.note and not rows(gpu):
            _warn(gpu)
    k = max(16, 64 // product.operand_bytes)  # K-steps so small that three fit anywhere
    for side, warps, stages in ((128, 8, 3), (32, 4, 1)):
        # Powers of two from 16, not above `side`, that are enough for the matrix.
        m, n = (min(side, max(16, 1 << (size - 1).bit_length())) for size in (product.m, product.n))
        found.append(KernelConfig("naive", "naive", (m, n, k), "grouped:8", warps, stages))
    return [replace(one, stages=stages) for one in found for stages in range(one.stages, 0, -1)]


@lru_cache(maxsize=1024)
def modelled(product: Product, preset: str, sms: int) -> tuple[KernelConfig, ...]:
    """The three kernels that the model ranks first, () where it has none for such a product."""
    from tilesim.choice.choose import choose  # the model is not loaded for shapes that a table knows

    try:
        ranked = choose(product, Device.named(preset, sms))
    except TilesimError:
        return ()
    return tuple(one.config for one in ranked[:3])


def nearest(rows: Sequence[Row], product: Product) -> Row | None:
    """The row for this product by the rule above, None where none has such a dtype."""

    def distance(row: Row) -> tuple[bool, float]:
        factors = [getattr(product, name) / row[name] for name in "mnk"]
        return row["layout"] != product.layout, sum(abs(math.log(factor)) for factor in factors)

    for kind in (product.dtype, ALIKE.get(product.dtype)):
        same = [row for row in rows if row["dtype"] == kind]
        if same:
            return min(same, key=distance)
    return None


@cache
def rows(gpu: Gpu) -> Sequence[Row]:
    shipped = files("tilesim").joinpath("data", "tuned")
    own = os.environ.get(TABLE)
    paths = [own] if own else []
    if shipped.is_dir():
        paths += sorted(str(path) for path in shipped.iterdir() if path.name.endswith(".json"))
    for table in map(read, paths):
        name = table["machine"]["gpu"]
        made_on = named(name)
        if name == gpu.name or (made_on and (made_on.preset, made_on.sms) == (gpu.preset, gpu.sms)):
            return table["rows"]
    return ()


@cache
def _warn(gpu: Gpu) -> None:
    kernels = "chooses its kernels for that" if gpu.preset else "takes kernels that run anywhere"
    warnings.warn(
        f"{gpu.note}, so matmul {kernels}; `tilesim tune -o FILE` makes a table of this GPU, and {TABLE}=FILE"
        " in the environment has it used",
        stacklevel=3,
    )


PRODUCT = ("m", "n", "k", "dtype", "layout")

Time = Annotated[float, between(0, 10**12, above=True)]


@dataclass(frozen=True, slots=True)
class _Machine:
    gpu: str


@dataclass(frozen=True, slots=True)
class _Times:
    us: Time
    cublas_us: Time | None


@dataclass(frozen=True, slots=True)
class _Table:
    machine: _Machine
    rows: list[_Times]


def read(path: str | PathLike[str]) -> dict[str, Any]:
    """The table in a file; KernelError, in a sentence, where it cannot be read or is none."""
    table = read_json(path, KernelError)
    try:
        decode(_Table, table, "the file", KernelError, extra=True)
        for row in table["rows"]:
            chosen(row, product_of(row))
    except KeyError as error:
        raise KernelError(f"{path} is not a table of `tilesim tune`: the field {error} is missing") from None
    except TilesimError as error:
        raise KernelError(f"{path} is not a table of `tilesim tune`: {error}") from None
    return table


def chosen(row: dict[str, Any], product: Product) -> KernelConfig:
    """A row's kernel, for a product that may be another. Raises KeyError for what the row lacks, and
    TilesimError for values that no kernel has, or that cannot compute the product."""
    config = config_of(row)
    if why := why_not(config, product):
        raise KernelError(why)
    return config


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """`new` with the rows of `old` for other products, sorted by product. KernelError for different GPUs."""
    if old["machine"]["gpu"] != new["machine"]["gpu"]:
        raise KernelError(
            f"the table was made on {old['machine']['gpu']} and this is {new['machine']['gpu']};"
            " each GPU has a table of its own"
        )
    rows = {tuple(row[name] for name in PRODUCT): row for row in (*old["rows"], *new["rows"])}
    by_kind = sorted(rows, key=lambda product: (*product[3:], *product[:3]))
    return {**new, "rows": [rows[product] for product in by_kind]}
