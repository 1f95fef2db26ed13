"""matmul against cuBLAS on products that nobody tuned: `python tests/benchmarks/unseen_products.py`.

Sizes are drawn at random between those of a token and of a large batch, and of small and large layers, as
multiples of 16, 64 or 128; three kinds of operands in turn, and at the end some of a fourth. `matmul` chooses
each kernel without measuring, and what it copies is timed; cuBLAS gets fp8 as it needs it. The medians go to
unseen_products.json, from which docs/choose.md has its table.
"""

import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from math import prod
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

from tilesim.problems import Problem

RESULTS = Path(__file__).with_suffix(".json")
KINDS, LAST = ("bf16:nn", "bf16:nt", "fp8:nt"), "fp8:nn"
COUNT, OF_LAST, SEED, PROCESSES = 48, 6, 20261122, 12
MOST_WORK, MOST_WEIGHTS = 1.2e12, 3e8
"""M · N · K and N · K, so that a product takes milliseconds at most."""
WARMUP, SAMPLES = 2, 9
LINE = 128
"""Bytes of a line of the L2."""

Product = tuple[int, int, int, str]


def products() -> list[Product]:
    """(m, n, k, kind) of all."""
    random, found = Random(SEED), []
    while len(found) < COUNT + OF_LAST:
        m, n, k = 2 ** random.uniform(4, 14), *(2 ** random.uniform(9, 14.8) for _ in range(2))
        step = random.choice((16, 64, 128))
        size = max(16, int(m) // 16 * 16), *(max(512, int(side) // step * step) for side in (n, k))
        if prod(size) < MOST_WORK and size[1] * size[2] < MOST_WEIGHTS:
            kind = KINDS[len(found) % len(KINDS)] if len(found) < COUNT else LAST
            found.append((*size, kind))
    return found


def operands(one: Product, seed: int = 0) -> Any:
    """A, B and a result on the GPU."""
    from tilesim_kernels.launch.operands import matrices

    m, n, k, kind = one
    dtype, layout = kind.split(":")
    return matrices(Problem(m, n, k, dtype=dtype), "cuda", seed, layout)


def compiled(some: Sequence[Product]) -> None:
    """Multiply each once, so that Triton has its kernel in its cache."""
    import torch

    from tilesim_kernels import matmul

    for one in some:
        matmul(*operands(one)[:2])
        torch.cuda.empty_cache()


def timed(one: Product) -> dict[str, Any]:
    """Median µs of `matmul` and of cuBLAS for a product, in turns, and the error beside an fp32 product."""

    from tilesim_kernels import matmul
    from tilesim_kernels.launch.cublas import cublas
    from tilesim_kernels.launch.operands import sets_beyond_l2
    from tilesim_kernels.measure.timing import Rotation, capture, sample, spread

    m, n, k, kind = one
    dtype = kind.split(":")[0]
    sets = [operands(one, seed) for seed in range(sets_beyond_l2(Problem(m, n, k, dtype=dtype)))]
    ways = {
        "matmul": [partial(matmul, *of[:2]) for of in sets],
        "cublas": [cublas(dtype, of) for of in sets],
    }
    a, b, _ = sets[0]
    right = a.float() @ b.float()
    error = float((ways["matmul"][0]().float() - right).norm() / right.norm())
    us = sample({name: Rotation(capture(way), way) for name, way in ways.items()}, WARMUP, SAMPLES)
    found = {f"{name}_us": spread(of)["us"] for name, of in us.items()}
    return {"m": m, "n": n, "k": k, "kind": kind, **found, "error": error}


def whole_lines(row: dict[str, Any]) -> bool:
    """Whether the rows or columns of both operands are whole lines of the L2 long."""
    dtype, layout = row["kind"].split(":")
    dense = row["k"], row["n" if layout[1] == "n" else "k"]
    return not any(side * (1 if dtype == "fp8" else 2) % LINE for side in dense)


def verdict(rows: Sequence[dict[str, Any]]) -> list[tuple[str, bool, int, float, float, int]]:
    """(kind, whole lines, products, geometric mean of cuBLAS's time over matmul's, the least, below 0.9)."""
    said = []
    for kind, whole in product((*KINDS, LAST), (True, False)):
        some = [row for row in rows if row["kind"] == kind and whole_lines(row) == whole]
        ratios = [row["cublas_us"] / row["matmul_us"] for row in some]
        if ratios:
            mean = prod(ratios) ** (1 / len(ratios))
            said.append((kind, whole, len(ratios), mean, min(ratios), sum(one < 0.9 for one in ratios)))
    return said


def main() -> None:
    import torch

    from tilesim_kernels.measure.machine import facts

    every = products()
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        list(pool.map(compiled, [every[part::PROCESSES] for part in range(PROCESSES)]))
    rows = []
    for one in every:
        rows.append(timed(one))
        torch.cuda.empty_cache()
    RESULTS.write_text(json.dumps({"machine": facts(), "rows": rows}, indent=1) + "\n", "utf-8")
    for kind, whole, count, mean, least, short in verdict(rows):
        lines = "whole" if whole else "broken"
        said = f"{mean:.3f} of cuBLAS, least {least:.3f}, {short} below 0.9"
        print(f"{kind}, {lines} lines: {count} products, {said}")


if __name__ == "__main__":
    main()
