"""matmul against cuBLAS on products that nobody tuned: `python benchmarks/unseen_products.py`.

With the word "layers", the linear layers of `tilesim bench choice` are timed in their place, on any GPU.

Sizes are drawn at random, three kinds of operands in turn, and at the end some of a fourth. `matmul` chooses
each kernel without measuring. Neither it nor cuBLAS multiplies fp8 whose B is row-major. Both get it copied
by the same kernel, which is timed; cuBLAS is timed without the copy, too. Where `matmul` falls short, the
kernels that rank first are timed as well, and the one that cuBLAS launches is named. Some products are timed
beside torch.compile in its mode max-autotune. The first two draws were looked at while kernels and model were
made, the third was not. The times go to unseen_products.json, from which docs/choose.md has its tables.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from tilesim.choice.judge import TOP
from tilesim.products import Product

RESULTS = Path(__file__).with_suffix(".json")
KINDS, LAST = ("bf16:nn", "bf16:nt", "fp8:nt"), "fp8:nn"
COUNT, OF_LAST, PROCESSES = 48, 6, 12
SEEDS = (20261125, 20261127, 20261201)
"""Of the draws."""
WARMUP, SAMPLES = 2, 15
SHORT = 0.9
"""Of cuBLAS. Below it those that rank first are timed."""
PEERS, PEERS_S = 12, 60
"""How many of the last draw are timed beside max-autotune, which takes up to a minute to compile each, and
for how many seconds another is begun."""
LINE = 128
"""Bytes of a line of the L2."""

Drawn = tuple[int, int, int, str]
Way = Callable[[], Any]


def products(seed: int) -> list[Drawn]:
    """(m, n, k, kind) of a draw."""
    from tilesim_kernels.tuning.products import drawn

    every = drawn(COUNT + OF_LAST, seed, KINDS)
    return every[:COUNT] + [(m, n, k, LAST) for m, n, k, _ in every[COUNT:]]


def operands(one: Drawn, seed: int = 0) -> Any:
    """A, B and a result on the GPU."""
    from tilesim_kernels.launch.operands import matrices

    return matrices(product_of(one), "cuda", seed)


def product_of(one: Drawn) -> Product:
    """A product by its sizes and kind."""
    m, n, k, kind = one
    return Product(m, n, k, *kind.split(":"))


def compiled(some: Sequence[Drawn]) -> None:
    """Multiply each once, so that Triton has its kernel in its cache."""
    import torch

    from tilesim_kernels import matmul

    for one in some:
        matmul(*operands(one)[:2])
        torch.cuda.empty_cache()


def first_kernels(one: Drawn) -> list[Any]:
    """Jobs of the kernels that the model ranks first for a product."""
    from tilesim.choice.choose import choose
    from tilesim.devices.device import Device
    from tilesim_kernels.gemm.jobs import job
    from tilesim_kernels.measure.machine import device

    product = Product(*one[:3], one[3].split(":")[0], layout_of(one[3]))
    ranked = choose(product, Device.named("h200"))
    return [job(each.config, product, device(1), concurrent=True) for each in ranked[:TOP]]


def layout_of(kind: str) -> str:
    """The layout in which kernels get the operands of a kind; of fp8, B is copied to be column-major."""
    return "nt" if kind.startswith("fp8") else kind.split(":")[1]


def along_k(one: Drawn, seed: int = 0) -> Any:
    """Operands of a product in the layout that kernels get, and a result."""
    return operands((*one[:3], f"{one[3].split(':')[0]}:{layout_of(one[3])}"), seed)


def launch_first(some: Sequence[Drawn]) -> None:
    """Launch the kernels that rank first once each, so that Triton has them in its cache."""
    import torch

    for one in some:
        for work in first_kernels(one):
            work.launcher(along_k(one))()
        torch.cuda.synchronize()


def reason(one: Drawn) -> dict[str, Any]:
    """The time in µs of the fastest of the kernels that rank first, of cuBLAS with B copied beforehand, and
    the names of what that launches."""
    import torch

    from tilesim_kernels.launch.cublas import cublas
    from tilesim_kernels.launch.operands import sets_beyond_l2
    from tilesim_kernels.measure.timing import Rotation, capture, sample, spread
    from tilesim_kernels.tuning.tuner import launches_for

    m, n, k, kind = one
    dtype = kind.split(":")[0]
    sets = [along_k(one, seed) for seed in range(sets_beyond_l2(Product(m, n, k, dtype)))]
    ways: dict[str, list[Way]] = {"cublas": [cublas(dtype, of) for of in sets]}
    for number, work in enumerate(first_kernels(one)):
        ways[str(number)] = launches_for(work, sets)
    us = sample({name: Rotation(capture(way), way) for name, way in ways.items()}, WARMUP, SAMPLES)
    times = {name: spread(of)["us"] for name, of in us.items()}
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        ways["cublas"][0]()
        torch.cuda.synchronize()
    names = [event.key for event in profile.key_averages() if "Memset" not in event.key]
    cublas_us = times.pop("cublas")
    return {"first_us": min(times.values()), "first_cublas_us": cublas_us, "cublas_kernels": names}


def cublas_kernel(names: Sequence[str]) -> str:
    """What the name of cuBLAS's kernel says: its tile, its cluster, and whether it splits tiles along K.

    cuBLAS computes the transposed product, so our rows are its columns, which the name has second.

    >>> cublas_kernel(["nvjet_sm90_tst_128x144_64x6_1x2_h_bz_splitK_TNT", "splitKreduce_kernel"])
    '144 × 128, cluster 2 × 1, split-K'
    """
    found = re.search(r"nvjet_.*?_(\d+)x(\d+)_\d+x\d+_(\d+)x(\d+)_(\w+)", " ".join(names))
    if not found:
        return names[0] if names else ""
    n, m, columns, rows, rest = found.groups()
    return f"{m} × {n}, cluster {rows} × {columns}" + ", split-K" * ("splitK" in rest)


def copying(a: Any, b: Any, scale: Any) -> Any:
    """cuBLAS's product of fp8 operands whose B is row-major, by way of the copy that `matmul` makes."""
    from tilesim_kernels.matmul import transposed

    return fp8_product(a, transposed(b).T, scale)


def fp8_product(a: Any, b: Any, scale: Any) -> Any:
    """torch's product of fp8 operands in bf16, each scaled by `scale`."""
    import torch

    return torch._scaled_mm(a, b, scale, scale, out_dtype=torch.bfloat16, use_fast_accum=True)


def timed(one: Drawn, peer: bool = False) -> dict[str, Any]:
    """Times in µs of `matmul` and cuBLAS for a product, in turns, and the error beside an fp32 product: the
    medians, and the 20 and 80 % quantiles as spread. `peer`: of max-autotune, too."""
    import torch

    from tilesim_kernels import matmul
    from tilesim_kernels.launch.cublas import cublas
    from tilesim_kernels.launch.operands import sets_beyond_l2
    from tilesim_kernels.measure.timing import Rotation, capture, sample, spread

    m, n, k, kind = one
    dtype = kind.split(":")[0]
    sets = [operands(one, seed) for seed in range(sets_beyond_l2(Product(m, n, k, dtype)))]
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
    """Whether the rows or columns of both operands, as kernels get them, are whole lines of the L2 long."""
    dtype, layout = row["kind"].split(":")[0], layout_of(row["kind"])
    dense = row["k"], row["n" if layout[1] == "n" else "k"]
    return not any(side * (1 if dtype == "fp8" else 2) % LINE for side in dense)


def ratio(row: dict[str, Any]) -> float:
    """How many times as fast as cuBLAS `matmul` is, where both copy what they need copied."""
    return row.get("copying_us", row["cublas_us"]) / row["matmul_us"]


def verdict(rows: Sequence[dict[str, Any]]) -> list[tuple[str, bool, int, float, float, int]]:
    """(kind, whole lines, products, geometric mean of `ratio`, the least, how many below SHORT)."""
    said = []
    for kind, whole in product((*KINDS, LAST), (True, False)):
        ratios = [ratio(row) for row in rows if row["kind"] == kind and whole_lines(row) == whole]
        if ratios:
            below = sum(r < SHORT for r in ratios)
            said.append((kind, whole, len(ratios), geometric_mean(ratios), min(ratios), below))
    return said


def layers() -> list[Drawn]:
    """The linear layers of `tilesim bench choice`, of two kinds."""
    from tilesim_kernels.tuning.products import SHAPES

    return [(*shape, kind) for kind in ("bf16:nn", "fp8:nt") for shape in SHAPES]


def time_layers() -> None:
    """Print how fast `matmul` is on them beside cuBLAS, and what it takes this GPU for."""
    import torch

    from tilesim_kernels.measure import machine

    every = layers()
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        list(pool.map(compiled, [every[part::PROCESSES] for part in range(PROCESSES)]))
    rows = []
    for one in every:
        rows.append(timed(one))
        torch.cuda.empty_cache()
    print(machine.gpu(), machine.facts())
    for kind in dict.fromkeys(row["kind"] for row in rows):
        ratios = {(row["m"], row["n"], row["k"]): ratio(row) for row in rows if row["kind"] == kind}
        few = ", ".join(
            f"{'x'.join(map(str, size))} {ratios[size]:.3f}"
            for size in sorted(ratios, key=ratios.__getitem__)[:3]
        )
        print(f"{kind}: {len(ratios)} products, {geometric_mean(ratios.values()):.3f} of cuBLAS; least {few}")


def main() -> None:
    if sys.argv[1:] == ["layers"]:
        return time_layers()
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
    short = [row for row in rows if ratio(row) < SHORT]
    fallen = [(row["m"], row["n"], row["k"], row["kind"]) for row in short]
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        list(pool.map(launch_first, [fallen[part::PROCESSES] for part in range(PROCESSES)]))
    for row, one in zip(short, fallen, strict=True):
        row |= reason(one)
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
        for kind, whole, count, average, least, below in verdict(own):
            lines = "whole" if whole else "broken"
            said = f"{average:.3f} of cuBLAS, least {least:.3f}, {below} below {SHORT}"
            print(f"{seed} {kind}, {lines} lines: {count} products, {said}")
        print(f"{seed}, all: {geometric_mean(map(ratio, own)):.3f}")
    for name in ("cublas", "max_autotune"):
        longer = geometric_mean(row[name + "_us"] / row["matmul_us"] for row in peers)
        print(f"{len(peers)} peers, {name}: {longer:.3f}")


if __name__ == "__main__":
    sys.exit(main())
