"""turnaround: how long a thread block's place on an SM stays empty between it and its successor.

An SM gives a slot to a new block as soon as one leaves, so the i-th block to come after the first wave
follows the i-th to leave. Where several leave at once it is not known which follows which, and the gaps'
sum is all the same.
"""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch

from ..measure.machine import measuring, tick_ns
from ..measure.timing import in_turns
from ..probes.spin import blocks, gaps, launch, residents, shared_kb, sm_mhz, stamp_buffer

THREADS = (32, 64, 128, 256, 512, 1024)
SHARED_KB = (0, 48, 100, 120, 200)
CYCLES = 8_000
"""That a block spins: 4 µs."""
SPINS = {"equal": 0, "staggered": CYCLES}
"""Cycles that every block spins, and up to how many more: all slots empty at once, or one by one."""

ROUNDS = 8

RESERVED_KB = 1
"""Shared memory that CUDA takes for itself in every block, since sm_80."""

METHOD = (
    f"blocks that only spin, {ROUNDS} per slot; gap: cycles of the SM from a block's end to its successor's"
    f" begin; equal: all blocks spin {CYCLES} cycles; staggered: {CYCLES} to twice as many, evenly spread; ns"
    " by the SM clock as the same launches show it against %globaltimer; figures over all repeats together"
)


@measuring
def turnaround(repeats: int = 5) -> dict[str, Any]:
    """The CTA turnaround of this machine's GPU: "tick_ns", "sm_mhz", "launch_ns" and "rows".

    A row per threads, shared memory and spin: threads, shared_kb, spin, residents (as stamped), gaps (their
    number), cycles and ns (each with min, p20, p50, p80), medians_ns (of each repeat), and the mean by
    %clock64 (mean_ns) and by %globaltimer (timer_ns).
    """
    most = shared_kb()
    sweep = [(each, kb, spin) for kb, each, spin in product(SHARED_KB, THREADS, SPINS) if kb <= most]
    warm = partial(launch, stamp_buffer(1, 1, 1)[0], 20_000_000)
    work = [partial(spun, threads, kb, SPINS[spin]) for threads, kb, spin in sweep]
    _, *seen = in_turns([warm, *work], repeats)
    mhz = sm_mhz([run for runs in seen for run in runs])
    rows = [
        {"threads": threads, "shared_kb": kb, "spin": spin} | figures(runs, mhz)
        for (threads, kb, spin), runs in zip(sweep, seen, strict=True)
    ]
    known = {"tick_ns": tick_ns(), "sm_mhz": round(mhz), "launch_ns": launch_ns(rows)}
    return {"method": METHOD} | known | {"rows": rows}


def spun(threads: int, kb: int, extra: int) -> np.ndarray:
    """The stamps of one launch with ROUNDS blocks for each slot: BLOCK [blocks]."""
    here = torch.cuda.get_device_properties()
    residents = here.max_threads_per_multi_processor // threads
    if kb:
        residents = min(residents, (shared_kb() + RESERVED_KB) // (kb + RESERVED_KB))
    stamps = stamp_buffer(1, ROUNDS * residents * here.multi_processor_count, threads // 32)
    launch(stamps[0], CYCLES, extra, kb)
    return blocks(stamps)[0]


def figures(runs: list[np.ndarray], mhz: float) -> dict[str, Any]:
    held = [residents(run) for run in runs]
    each = [gaps(run, slots) for run, slots in zip(runs, held, strict=True)]
    by_timer = [gaps(run, slots, "begin_ns", "end_ns") for run, slots in zip(runs, held, strict=True)]
    cycles, ns = np.concatenate(each), 1000 / mhz
    quantiles = dict(zip(("min", "p20", "p50", "p80"), np.quantile(cycles, (0, 0.2, 0.5, 0.8)), strict=True))
    return {
        "residents": max(held),
        "gaps": len(cycles),
        "cycles": {name: round(float(value)) for name, value in quantiles.items()},
        "ns": {name: round(float(value) * ns, 1) for name, value in quantiles.items()},
        "medians_ns": [round(float(np.median(run)) * ns, 1) for run in each],
        "mean_ns": round(float(cycles.mean()) * ns, 1),
        "timer_ns": round(float(np.concatenate(by_timer).mean()), 1),
    }


def launch_ns(rows: list[dict[str, Any]]) -> int:
    """What a product's launch takes: the median for blocks of 128 threads or more, one or two an SM."""
    alike = [row for row in rows if row["threads"] >= 128 and row["residents"] <= 2]
    return round(float(np.median([row["ns"]["p50"] for row in alike if row["spin"] == "staggered"])))
