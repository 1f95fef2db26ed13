"""loop_unrolling: a sum with 1 to 16 loads a turn of its loop, and 1 to 16 chains of multiply-adds."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import torch

from ..ideas.loop_unrolling import FACTORS, LANES, LOADS, TURN, Summing, chain
from ..measure.machine import measuring
from ..measure.timing import in_turns, spread
from ..microbenchmarks.stamping import Launch
from .counters import INSTRUCTIONS, profiled

WARPS = (1, 4, 8, 16, 32)
ROUNDS = (1, 8, 128)
"""Sizes of a sum: as many values as so many turns of the largest warps and factor take."""
CHAIN_WARPS = (4, 8, 16, 32)
"""So that 1, 2, 4 and 8 warps are on each of an SM's four partitions."""
CHAIN_TURNS = 256

METHOD = (
    "sums of fp32, one thread block on each SM, each thread with `factor` loads of 4 bytes a turn of its"
    " loop: together (all are under way before the first is added) or one by one (each is predicated on the"
    " value before); gb_per_s: bytes of the values by the time from the first block's begin to the last"
    " one's end, stamped in the kernel, so that no launch is in it; chains: one thread block, {each}"
    " multiply-adds a thread in `factor` chains of dependent ones; cycles: of an SM, from begin to end;"
    " each launch's sums must be exact; {launches} launches of each in turn, after one that is not timed;"
    " medians with p20 and p80; issued: instructions that warps executed in one launch, by Nsight Compute,"
    " 0 where it reads no counters"
)


@measuring
def loop_unrolling(launches: int = 10) -> dict[str, Any]:
    """Time each factor in JSON values: "machine", "method", "sms", "rows" (of sums) and "chains".

    A row has factor, loads ("together" or "one by one"), warps (on each SM), n (values); gb_per_s (the
    median), p20 and p80; sm_mhz, and issued. A row of chains has factor, warps, and cycles (the median), p20,
    p80 of one multiply-add of each thread.
    """
    sizes = [rounds * unit() for rounds in ROUNDS]
    summing = Summing(sizes[-1], torch.Generator("cuda").manual_seed(0))
    sums = list(product(sizes, WARPS, LOADS, FACTORS))
    chains = list(product(CHAIN_WARPS, FACTORS))
    work = [_sum(summing, *case) for case in sums] + [_chain(*case) for case in chains]
    seen = in_turns(work, launches)
    first = [case for case in sums if case[0] == sizes[0]]
    counts = profiled("loop_unrolling", first, len(first), INSTRUCTIONS, "^unrolled$")
    issued = {case: count["issued"] for case, count in zip(first, counts or (), strict=False)}
    rows = [
        {"factor": factor, "loads": loads, "warps": warps, "n": n}
        | spread([4 * n / run.ns for run in runs], "gb_per_s", None)
        | {"sm_mhz": round(float(np.median([run.sm_mhz for run in runs])), 1)}
        | {"issued": issued.get((n, warps, loads, factor), 0)}
        for (n, warps, loads, factor), runs in zip(sums, seen[: len(sums)], strict=True)
    ]
    each = TURN * CHAIN_TURNS
    of_chains = [
        {"factor": factor, "warps": warps} | spread([run.cycles / each for run in runs], "cycles", None)
        for (warps, factor), runs in zip(chains, seen[len(sums) :], strict=True)
    ]
    method = METHOD.format(each=each, launches=launches)
    return {"method": method, "sms": summing.sms, "rows": rows, "chains": of_chains}


def unit() -> int:
    """Values that all SMs take in a turn, with as many warps and as large a factor as are timed."""
    sms = torch.cuda.get_device_properties().multi_processor_count
    return sms * LANES * max(WARPS) * max(FACTORS)


def _sum(summing: Summing, n: int, warps: int, loads: str, factor: int) -> Callable[[], Launch]:
    return lambda: summing.launch(n, factor, loads, warps)


def _chain(warps: int, factor: int) -> Callable[[], Launch]:
    return lambda: chain(factor, warps, CHAIN_TURNS)


def once(cases: Sequence[Any]) -> list[Callable[[], Launch]]:
    """The launch of each sum."""
    summing = Summing(max(n for n, *_ in cases), torch.Generator("cuda").manual_seed(0))
    return [_sum(summing, *case) for case in cases]
