"""Warps, stages and subtiles of a problem, as the benches still ask for them."""

from tilesim.problems import Problem
from tilesim.products import Product

from . import pipeline as of_tiles


def pipeline(
    problem: Problem,
    ctas_per_sm: int = 1,
    warps: int | None = None,
    stages: int | None = None,
    epilogue_subtiles: int | None = None,
) -> tuple[int, int, int]:
    """(warps, stages, epilogue_subtiles): see launch.pipeline."""
    product = Product.of(problem)
    return of_tiles.pipeline(product, problem.tile, ctas_per_sm, warps, stages, epilogue_subtiles)
