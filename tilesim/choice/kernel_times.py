"""What kernels take beside the machine: a few times for each, fitted to the shipped measurement of all of
them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from tilesim.choice.candidates import Candidate

SPLIT = " split"
"""Ends the names of families that split tiles."""


@dataclass(frozen=True, slots=True)
class KernelTimes:
    """`once`: ns of a launch, its first loads and its end. `tile`: ns from one tile to the next. `write`: how
    much of the writing of C its main loops wait for, 1 for all. `multiplying`: a K-step's cycles on tensor
    cores, of those at their peak. `waiting`: how long a stage's loads take, of what tilesim.model.kstep says.
    """

    once: float = 3500.0
    tile: float = 600.0
    write: float = 1.0
    multiplying: float = 1.0
    waiting: float = 1.0


def family(one: Candidate) -> str:
    """Candidates that share the times of launches and tiles: a kernel, and whether it splits tiles.

    >>> from tilesim import Problem
    >>> from tilesim.variants import Variant
    >>> family(Candidate(Variant("stream-k", kernel="specialised"), Problem(64, 64, 64), 1))
    'specialised split'
    """
    variant = one.variant
    name = variant.schedule if variant.kernel == "own" else variant.kernel
    short = " of few rows" if name == "specialised" and one.problem.tile_m < 64 else ""
    return name + short + SPLIT * variant.schedule.startswith(("stream-k", "split-k"))


def tile_of(one: Candidate, layout: str) -> str:
    """Candidates that share the times of K-steps: the same kernel in the same tile, dtype and layout.

    >>> from tilesim import Problem
    >>> from tilesim.variants import Variant
    >>> tile_of(Candidate(Variant("persistent", warps=8), Problem(64, 64, 64), 1), "nt")
    'persistent 128x256x64 8 warps bf16 nt'
    """
    name = family(one)
    tile = "x".join(map(str, one.problem.tile))
    return f"{name} {tile} {one.variant.warps} warps {one.problem.dtype} {layout}"


@cache
def shipped() -> Mapping[str, Any]:
    """The file of the times, {} where there is none."""
    path = files("tilesim").joinpath("data/choice/times.json")
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def times_of(one: Candidate, layout: str, known: Mapping[str, Any] | None = None) -> KernelTimes:
    """The times of a candidate, those of its family where its tile was not measured."""
    known = shipped() if known is None else known
    named = known.get("families", {}).get(family(one), {}) | known.get("tiles", {}).get(
        tile_of(one, layout), {}
    )
    return KernelTimes(**named)
