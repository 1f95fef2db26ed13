"""How long tensor cores pause between two tiles: `python benchmarks/between_tiles.py`, on an NVIDIA H200.

8192 x 8192 x 512 in bf16 by the kernels of the film ping-pong. Blocks write down when they begin and end to
multiply a tile, and the two kernels in Gluon also when the tile is with the copy unit (TMA). The kernel that
overlaps waits between two tiles for the hand-over alone, so its pause is how long that takes eight warps that
also load. Medians over all tiles but a block's first, and over launches, go to tilesim/data/between_tiles.

The kernels are launched once more with a C of one row, beyond which the copy unit drops what it should write:
so they show what the write costs the next tile's multiplication. Those of the film race are measured at its
sizes, 4096 x 4096 x 512, too.
"""

import json
from pathlib import Path

import numpy as np

from tilesim.devices.device import Device
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

RESULTS = Path(__file__).parents[1] / "tilesim/data/between_tiles/h200.json"
PING_PONG, RACE = {"m": 8192, "n": 8192, "k": 512}, {"m": 4096, "n": 4096, "k": 512}
LAUNCHES, SETS, WARM = 51, 5, 20
METHOD = (
    "kernels write stamps; launches follow one another, each with other operands; a value is the median over "
    "launches of the medians over all tiles but each block's first, in ns"
)
WHOLE, HALF = (128, 256, 64), (128, 128, 64)
KERNELS = {
    "persistent-tma": KernelConfig("persistent", "persistent", WHOLE, "grouped:8"),
    "persistent-tma-overlap": KernelConfig("persistent", "persistent", WHOLE, "grouped:8", overlap=True),
    "warp-specialized": KernelConfig("warp-specialized", "persistent", WHOLE, "grouped:8", overlap=True),
    "ping-pong": KernelConfig("ping-pong", "persistent", HALF, "grouped:8", stages=4, overlap=True),
}


def medians(stamps: np.ndarray, blocks: int) -> dict[str, int]:
    """Of stamps [tiles in their order, WORDS]: ns from a block's main loop to its next one's begin, for which
    it multiplies and hands over, and from one main loop's end to the next one's begin, below 0 where two
    groups of warps follow one another without a break; and for how many cycles it multiplies."""
    each = [stamps[block::blocks] for block in range(blocks)]
    start, drain, handed, begun, ended = ([rows[:, word] for rows in each] for word in (2, 4, 6, 3, 5))
    found = {
        "period": [np.diff(s) for s in start],
        "multiply": [(d - s)[1:] for s, d in zip(start, drain, strict=True)],
        "hand_over": [(h - d)[1:] for h, d in zip(handed, drain, strict=True)],
        "pause": [s[1:] - d[:-1] for s, d in zip(start, drain, strict=True)],
        "multiply_cycles": [(e - b)[1:] for b, e in zip(begun, ended, strict=True)],
    }
    return {name: round(float(np.median(np.concatenate(ns)))) for name, ns in found.items()}


def measured(name: str, sizes: dict[str, int], written: bool) -> dict[str, object]:
    """A row: medians over launches that follow one another, each with other operands than the one before."""
    import torch

    from tilesim_kernels.gemm.jobs import job
    from tilesim_kernels.gemm.stamps import WORDS
    from tilesim_kernels.launch.operands import matrices

    config, product, device = KERNELS[name], Product(**sizes), Device.named("h200")
    work = job(config, product, device)
    stamps = torch.zeros(SETS, len(work.rows), WORDS, dtype=torch.int64, device="cuda")
    rows = product.m if written else 1
    operands = (matrices(product, "cuda", n) for n in range(SETS))
    launches = [work.launcher((a, b, c[:rows]), stamps[n]) for n, (a, b, c) in enumerate(operands)]
    seen = []
    for launch in range(WARM + LAUNCHES):
        stamps[launch % SETS].zero_()
        launches[launch % SETS]()
        if launch >= WARM:
            seen.append(medians(stamps[launch % SETS].cpu().numpy(), device.sms))
    ns = {what: round(float(np.median([one[what] for one in seen]))) for what in seen[0]}
    cycles = ns.pop("multiply_cycles")
    row = sizes | {"kernel": name, "written": written, "tile": config.tile, "stages": config.stages}
    row |= {"launches": LAUNCHES, "ns": ns}
    if name.startswith("persistent"):
        del ns["hand_over"]  # Their third stamp says when the tile was written.
        row["multiply_cycles"] = cycles  # Kernels in Gluon read no clock of their SM.
    return row


def main() -> None:
    from tilesim_kernels.measure.machine import facts

    both = (True, False)
    rows = [measured(name, PING_PONG, written) for written in both for name in KERNELS]
    rows += [measured(name, RACE, written) for written in both for name in KERNELS if "persistent" in name]
    results = {"machine": facts(), "method": METHOD, "rows": rows}
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
