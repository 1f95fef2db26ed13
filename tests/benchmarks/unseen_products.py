"""matmul against cuBLAS on products that nobody tuned: `python tests/benchmarks/unseen_products.py`.

Sizes are drawn at random, three kinds of operands in turn, and at the end some of a fourth. `matmul` chooses
each kernel without measuring. Neither it nor cuBLAS multiplies fp8 whose B is row-major. Both get it copied
by the same kernel, which is timed; cuBLAS is timed without the copy, too. Some products are timed beside
torch.compile in its mode max-autotune. The first draw was looked at while kernels and model were made, the
second was not. The times go to unseen_products.json, from which docs/choose.md has its tables.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from math import prod
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tilesim.problems import Problem

RESULTS = Path(__file__).with_suffix(".json")
KINDS, LAST = ("bf16:nn", "bf16:nt", "fp8:nt"), "fp8:nn"
COUNT, OF_LAST, PROCESSES = 48, 6, 12
SEEDS = (20261125, 20261127)
"""Of the two draws."""
WARMUP, SAMPLES = 2, 15
PEERS, PEERS_S = 12, 60
"""How many of the second draw are timed beside max-autotune, which takes up to a minute to compile each, and
for how many seconds another is begun."""
LINE = 128
"""Bytes of a line of the L2."""

Product = tuple[int, int, int, str]
Way = Callable[[], Any]


def products(seed: int) -> list[Product]:
    """(m, n, k, kind) of a draw."""
    from tilesim_kernels.tuning.exhaustive import drawn

    every = drawn(COUNT + OF_LAST, seed, KINDS)
    return every[:COUNT] + [(m, n, k, LAST) for m, n, k, _ in every[COUNT:]]


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


def copying(a: Any, b: Any, scale: Any) -> Any:
    """cuBLAS's product of fp8 operands whose B is row-major, by way of the copy that `matmul` makes."""
    from tilesim_kernels.gemm.transpose import transposed

    return fp8_product(a, transposed(b).T, scale)


def fp8_product(a: Any, b: Any, scale: Any) -> Any:
    """torch's product of fp8 operands in bf16, each scaled by `scale`."""
    import torch

    return torch._scaled_mm(a, b, scale, scale, out_dtype=torch.bfloat16, use_fast_accum=True)


def timed(one: Product, peer: bool = False) -> dict[str, Any]:
    """Times in µs of `matmul` and cuBLAS for a product, in turns, and the error beside an fp32 product: the
    medians, and the 20 and 80 % quantiles as spread. `peer`: of max-autotune, too."""
    import torch

    from tilesim_kernels import matmul
    from tilesim_kernels.launch.cublas import cublas
    from tilesim_kernels.launch.operands import sets_beyond_l2
    from tilesim_kernels.measure.timing import Rotation, capture, sample, spread

    m, n, k, kind = one
    dtype = kind.split(":")[0]
    sets = [operands(one, seed) for seed in range(sets_beyond_l2(Problem(m, n, k, dtype=dtype)))]
    ways: dict[str, list[Way]] = {
        "matmul": [partial(matmul, *of[:2]) for of in sets],
        "cublas": [cublas(dtype, of) for of in sets],
    }
    scale = torch.ones((), device="cuda")
    if kind == LAST:
        ways["copying"] = [partial(copying, *of[:2], scale) for of in sets]
    if peer:
        torch._dynamo.reset()
        made = torch.compile(
            fp8_product if dtype == "fp8" else torch.mm, mode="max-autotune-no-cudagraphs", dynamic=False
        )
        more = (scale,) if dtype == "fp8" else ()
        ways["max_autotune"] = [partial(made, *of[:2], *more) for of in sets]
    a, b, _ = sets[0]
    right = a.float() @ b.float()
    error = float((ways["matmul"][0]().float() - right).norm() / right.norm())
    us = sample({name: Rotation(capture(way), way) for name, way in ways.items()}, WARMUP, SAMPLES)
    found = {name: spread(of) for name, of in us.items()}
    times = {f"{name}_us": of["us"] for name, of in found.items()}
    spreads = {f"{name}_spread": [of["p20"], of["p80"]] for name, of in found.items()}
    return {"m": m, "n": n, "k": k, "kind": kind, **times, **spreads, "error": error}


def whole_lines(row: dict[str, Any]) -> bool:
    """Whether the rows or columns of both operands are whole lines of the L2 long."""
    dtype, layout = row["kind"].split(":")
    dense = row["k"], row["n" if layout[1] == "n" else "k"]
    return not any(side * (1 if dtype == "fp8" else 2) % LINE for side in dense)


def ratio(row: dict[str, Any]) -> float:
    """How many times as fast as cuBLAS `matmul` is, where both copy what they need copied."""
    return row.get("copying_us", row["cublas_us"]) / row["matmul_us"]


def mean(ratios: Iterable[float]) -> float:
    """The geometric mean."""
    every = list(ratios)
    return prod(every) ** (1 / len(every))


def verdict(rows: Sequence[dict[str, Any]]) -> list[tuple[str, bool, int, float, float, int]]:
    """(kind, whole lines, products, geometric mean of `ratio`, the least, how many below 0.9)."""
    said = []
    for kind, whole in product((*KINDS, LAST), (True, False)):
        ratios = [ratio(row) for row in rows if row["kind"] == kind and whole_lines(row) == whole]
        if ratios:
            said.append((kind, whole, len(ratios), mean(ratios), min(ratios), sum(r < 0.9 for r in ratios)))
    return said


def main() -> None:
    import torch

    from tilesim_kernels.measure.machine import facts

    draws = {seed: products(seed) for seed in SEEDS}
    every = [one for draw in draws.values() for one in draw]
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        list(pool.map(compiled, [every[part::PROCESSES] for part in range(PROCESSES)]))
    rows = []
    for seed, draw in draws.items():
        for one in draw:
            rows.append({"seed": seed} | timed(one))
            torch.cuda.empty_cache()
    peers, began = [], time.monotonic()
    for one in draws[SEEDS[-1]][:PEERS]:
        if time.monotonic() - began < PEERS_S:
            peers.append(timed(one, peer=True))
            torch.cuda.empty_cache()
    RESULTS.write_text(
        json.dumps({"machine": facts(), "rows": rows, "peers": peers}, indent=1) + "\n", "utf-8"
    )
    for seed in SEEDS:
        own = [row for row in rows if row["seed"] == seed]
        for kind, whole, count, average, least, short in verdict(own):
            lines = "whole" if whole else "broken"
            said = f"{average:.3f} of cuBLAS, least {least:.3f}, {short} below 0.9"
            print(f"{seed} {kind}, {lines} lines: {count} products, {said}")
        print(f"{seed}, all: {mean(map(ratio, own)):.3f}")
    for name in ("cublas", "max_autotune"):
        print(
            f"{len(peers)} peers, {name}: {mean(row[name + '_us'] / row['matmul_us'] for row in peers):.3f}"
        )


if __name__ == "__main__":
    sys.exit(main())
