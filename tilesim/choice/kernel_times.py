"""What kernels take beside the machine: a few times for each, fitted to the shipped measurement."""

import json
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

from tilesim.gemm.warp_specialized import WGMMA_M
from tilesim.kernel_config import SPLITTING, KernelConfig
from tilesim.products import Product
from tilesim.text import base_name


@dataclass(frozen=True, slots=True)
class KernelTimes:
    """`once`: ns of a launch, its first loads and its end. `tile_gap`: ns from one tile to the next. `write`:
    how much of the writing of C main loops wait for, 1 for all. `multiplying`: a K-step's cycles, of those at
    the tensor cores' peak. `waiting`: how long a stage's loads take, of what tilesim.model.kstep says."""

    once: float = 3500.0
    tile_gap: float = 600.0
    write: float = 1.0
    multiplying: float = 1.0
    waiting: float = 1.0


FAMILY = ("kernel", "few_rows", "split")
"""Configurations that share the times of launches and tiles: of one kernel, in tiles with fewer rows than a
wgmma or not, which are split or not."""
TILING = (*FAMILY, "tile", "warps", "dtype", "layout")
"""Configurations that share the times of K-steps: of one family in one tile, dtype and layout."""


def family(config: KernelConfig) -> tuple[Any, ...]:
    few = config.kernel == "warp-specialized" and config.tile[0] < WGMMA_M
    return config.kernel, few, base_name(config.schedule) in SPLITTING


def tiling(config: KernelConfig, product: Product) -> tuple[Any, ...]:
    tile = "x".join(map(str, config.tile))
    return *family(config), tile, config.warps, product.dtype, product.layout


@cache
def shipped() -> dict[tuple[Any, ...], dict[str, float]]:
    """Fields of KernelTimes, of families and, where they are their own, of tilings."""
    report = json.loads(files("tilesim").joinpath("data/choice/times.json").read_text("utf-8"))
    names = [field.name for field in fields(KernelTimes)]
    return {
        tuple(row[name] for name in key): {name: row[name] for name in names if name in row}
        for key, rows in ((FAMILY, report["families"]), (TILING, report["tilings"]))
        for row in rows
    }


def times_of(config: KernelConfig, product: Product) -> KernelTimes:
    """The times of a configuration, those of its family where its tiling was not measured."""
    known = shipped()
    return KernelTimes(**known.get(family(config), {}) | known.get(tiling(config, product), {}))
