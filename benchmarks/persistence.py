"""What a persistent kernel saves at each K: `python benchmarks/persistence.py`, on an NVIDIA GPU.

4096 x 4096 x K in bf16 by three kernels of the same tiles: a thread block for each tile, blocks that stay,
and blocks that stay and write a tile under the next one's main loop. Each is recorded; its makespan, from the
first launch to the last write, is the median of all recorded launches, with their 20 and 80 % quantiles.
cuBLAS has no stamps, so its time is the kernel's, by replay of a CUDA graph. The figures go to
persistence.json, from which docs/ideas/persistence.md has its table.
"""

import json
from pathlib import Path
from typing import Any

from tilesim.problems import Problem

RESULTS = Path(__file__).with_suffix(".json")
KS = (256, 512, 1024, 2048, 4096, 8192)
KERNELS = {"naive": ("naive", True), "stays": ("persistent", False), "overlaps": ("persistent", True)}
"""Schedule, and whether the kernel overlaps."""
REPEATS = 51


def measured(k: int) -> dict[str, Any]:
    """A row: spreads of makespans, ns, and of cuBLAS's kernel time, µs."""
    from tilesim_kernels.bench.bench import compare
    from tilesim_kernels.launch.cublas import cublas
    from tilesim_kernels.measure.record import record

    problem = Problem(4096, 4096, k, order="grouped:8")
    row: dict[str, Any] = {"k": k}
    for name, (schedule, overlap) in KERNELS.items():
        row[name] = record(schedule, problem, overlap=overlap, repeats=REPEATS).meta["makespan_ns"]
    (library,) = compare(problem, {"cublas": cublas})
    return row | {"cublas": {name: library[name] for name in ("us", "p20", "p80") if name in library}}


def rows(results: dict[str, Any]) -> list[tuple[str, ...]]:
    """K, and the medians, µs, of each kernel and of cuBLAS, as a page shows them."""
    every = ([*(row[name]["p50"] / 1000 for name in KERNELS), row["cublas"]["us"]] for row in results["rows"])
    return [
        (str(row["k"]), *(f"{us:.1f}" for us in times))
        for row, times in zip(results["rows"], every, strict=True)
    ]


def main() -> None:
    from tilesim_kernels.measure.machine import facts

    results = {"machine": facts(), "repeats": REPEATS, "rows": [measured(k) for k in KS]}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for row in (("K", *KERNELS, "cuBLAS, µs"), *rows(results)):
        print("".join(f"{value:>12}" for value in row))


if __name__ == "__main__":
    main()
