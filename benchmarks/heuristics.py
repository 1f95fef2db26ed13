"""tilesim's choice against nvMatmulHeuristics: `python benchmarks/heuristics.py`, without a GPU.

It needs NVIDIA's package nvidia-matmul-heuristics. Both rank kernels for the bf16 products that were timed on
an H200. Its kernels are Triton's, ours are not, so what counts is the tile: the fastest that was timed in it
stands for its choice. Products whose first tile was not timed are left out. Figures go to heuristics.json.
"""

import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import tilesim
from tilesim.choice.judge import TOP, judge
from tilesim.choice.measurement import Timed, read
from tilesim.devices.device import Device

RESULTS = Path(__file__).with_suffix(".json")
TIMES = Path(tilesim.__file__).parent / "data/choice/h200.json"
PACKAGE, PRECISION = "nvidia-matmul-heuristics", "TST"
"""bf16 operands and result, and sums in fp32."""


def suggested(timed: Sequence[Timed]) -> list[list[tuple[int, int]]]:
    """The tiles of its first TOP kernels for each product."""
    import nvMatmulHeuristics as nv

    layouts = nv.NvMatmulHeuristicsMatmulLayout
    ranking = nv.NvMatmulHeuristicsInterfaceEx(
        backend=nv.NvMatmulHeuristicsTarget.TRITON, gpu=nv.NvMatmulHeuristicsNvidiaGpu.H200_SXM
    )
    found = []
    for one in timed:
        layout = layouts.NN_ROW_MAJOR if one.layout == "nn" else layouts.NT_ROW_MAJOR
        problem = one.problem
        asked = ranking.makeNvMatmulHeuristicsProblem(problem.m, problem.n, problem.k, layout)
        kernels = [row["kernel"] for row in ranking.get(asked, TOP, precision=PRECISION)]
        found.append([(kernel.cta_tile_m, kernel.cta_tile_n) for kernel in kernels])
    return found


def regrets(one: Timed, tiles: Sequence[tuple[int, int]]) -> tuple[float, float] | None:
    """How many times as long as the fastest kernel the fastest of its first tile takes, and of all its tiles;
    None where its first was not timed."""
    us: dict[tuple[int, ...], float] = {}
    for (_, tile, _), taken in one.us.items():
        us[tile[:2]] = min(taken, us.get(tile[:2], taken))
    best = min(one.us.values())
    if tiles[0] not in us:
        return None
    return us[tiles[0]] / best, min(us[tile] for tile in tiles if tile in us) / best


def about(name: str, both: Sequence[tuple[float, float]]) -> dict[str, Any]:
    of_first, of_top = zip(*both, strict=True)
    return {
        "name": name, "products": len(both),
        "first_mean": geometric_mean(of_first), "first_median": median(of_first),
        "first_most": max(of_first), "top_mean": geometric_mean(of_top), "top_most": max(of_top),
    }  # fmt: skip


def main() -> None:
    judged = [one for one in judge(read(TIMES), Device.named("h200")) if one.timed.problem.dtype == "bf16"]
    theirs = [
        regrets(one.timed, tiles)
        for one, tiles in zip(judged, suggested([one.timed for one in judged]), strict=True)
    ]
    both = [(one, other) for one, other in zip(judged, theirs, strict=True) if other]
    rows = []
    for name, some in (
        ("held out", [(one, other) for one, other in both if one.timed.held_out]),
        ("all", both),
    ):
        rows += [
            about(f"nvMatmulHeuristics, {name}", [other for _, other in some]),
            about(f"tilesim, {name}", [(1 + one.regret, 1 + one.top_regret) for one, _ in some]),
        ]
    report = {"version": version(PACKAGE), "products": len(judged), "compared": len(both), "rows": rows}
    print(json.dumps(report, indent=1))
    RESULTS.write_text(json.dumps(report, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
