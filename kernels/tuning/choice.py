"""Which kernel multiplies a shape: the tuned table of the GPU says, or the model of the machine.

A row of the same sizes and dtype counts first. Else `tilesim.choice` ranks the kernels, for every GPU that
tilesim knows. For another the nearest row is taken: of the same layout before any other, and then by the
distance |log m'/m| + |log n'/n| + |log k'/k|, since what a size asks of a kernel changes by factors. fp16
stands in for bf16 and the other way round: they are as wide and as fast.
"""

import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from tilesim.devices.device import Device
from tilesim.devices.gpus import Gpu, named
from tilesim.errors import TilesimError
from tilesim.problems import DTYPE_BYTES, Problem
from tilesim.variants import Variant

from .table import chosen, read

TABLE = "TILESIM_TUNED"
"""The environment variable that names a table of `tilesim tune`, for its GPU in place of the one shipped. It
is read once."""

ALIKE = {"fp16": "bf16", "bf16": "fp16"}

MODELLED = 3
"""How many kernels that the model ranks first are tried, should one not run."""

LINE = 64
"""Bytes of a K-step that a kernel takes where nothing was measured: so small that three fit anywhere."""

Row = Mapping[str, Any]
Choice = tuple[Variant, Problem]


def choices(m: int, n: int, k: int, dtype: str, layout: str, gpu: Gpu | None) -> list[Choice]:
    """What to try in turn for A [m, k] · B [k, n]; the last runs wherever Triton does.

    `layout`: see launch.layouts. `gpu`: see tilesim.devices.gpus; None for the interpreter. For a GPU that is
    not exactly a preset the first call says what it is taken for. What does not fit into an SM's shared
    memory may with fewer stages, which follow.

    Raises KernelError for a table that is none.
    """
    found: list[Choice] = []
    if gpu is not None:
        row = nearest(rows(gpu), m, n, k, dtype, layout)
        measured = row is not None and (row["m"], row["n"], row["k"]) == (m, n, k)
        if row and (measured or not gpu.preset):
            with suppress(TilesimError):  # a tile that this product cannot have
                found.append(chosen({**row, "dtype": dtype}, m, n, k))
        elif gpu.preset:
            found += modelled(m, n, k, dtype, layout, gpu.preset, gpu.sms)
        if gpu.note and not rows(gpu):
            _warn(gpu)
    found += _anywhere(Problem(m, n, k, dtype=dtype))
    return [(fewer, problem) for variant, problem in found for fewer in _with_fewer_stages(variant)]


@lru_cache(maxsize=1024)
def modelled(m: int, n: int, k: int, dtype: str, layout: str, preset: str, sms: int) -> tuple[Choice, ...]:
    """The kernels that the model ranks first, () where it has none for such a product."""
    from tilesim.choice.choose import choose  # the model is not loaded for shapes that a table knows

    try:
        ranked = choose(Problem(m, n, k, dtype=dtype), Device.named(preset, sms), layout)
    except TilesimError:
        return ()
    return tuple((one.candidate.variant, one.candidate.problem) for one in ranked[:MODELLED])


def nearest(rows: Sequence[Row], m: int, n: int, k: int, dtype: str, layout: str) -> Row | None:
    """The row for this product by the rule above, None where none has such a dtype."""

    def distance(row: Row) -> tuple[bool, float]:
        sizes = zip((m, n, k), (row["m"], row["n"], row["k"]), strict=True)
        return row["layout"] != layout, sum(abs(math.log(own / other)) for own, other in sizes)

    for kind in (dtype, ALIKE.get(dtype)):
        same = [row for row in rows if row["dtype"] == kind]
        if same:
            return min(same, key=distance)
    return None


@cache
def rows(gpu: Gpu) -> Sequence[Row]:
    """The rows of the table of this GPU, none where there is no table."""
    shipped = files("tilesim").joinpath("data", "tuned")
    own = os.environ.get(TABLE)
    paths = [own] if own else []
    if shipped.is_dir():
        paths += sorted(str(path) for path in shipped.iterdir() if path.name.endswith(".json"))
    tables = (read(path) for path in paths)
    return next((table["rows"] for table in tables if _is(table["machine"]["gpu"], gpu)), ())


def _is(name: str, gpu: Gpu) -> bool:
    """Whether a table that was made on the GPU of that name is of this one."""
    made_on = named(name)
    return name == gpu.name or (
        made_on is not None and (made_on.preset, made_on.sms) == (gpu.preset, gpu.sms)
    )


@cache
def _warn(gpu: Gpu) -> None:
    kernels = "chooses its kernels for that" if gpu.preset else "takes kernels that run anywhere"
    warnings.warn(
        f"{gpu.note}, so matmul {kernels}; `tilesim tune -o FILE` makes a table of this GPU, and {TABLE}=FILE"
        " in the environment has it used",
        stacklevel=3,
    )


def _anywhere(problem: Problem) -> Iterator[Choice]:
    """Kernels that ask for no table, the last of them for next to no shared memory."""
    k = LINE // DTYPE_BYTES[problem.dtype]
    for side, warps, stages in ((128, 8, 3), (32, 4, 1)):
        tile = (_within(side, problem.m), _within(side, problem.n), max(16, k))
        yield (
            Variant("naive", "tma", False, warps, stages),
            Problem(problem.m, problem.n, problem.k, tile, problem.dtype, "grouped:8"),
        )


def _within(side: int, size: int) -> int:
    """The side of a tile for a matrix of this size: a power of two from 16, not above `side`."""
    return min(side, max(16, 1 << (size - 1).bit_length()))


def _with_fewer_stages(variant: Variant) -> Iterator[Variant]:
    for stages in range(variant.stages, 0, -1):
        yield replace(variant, stages=stages)
