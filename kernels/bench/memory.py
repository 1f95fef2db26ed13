"""memory: latencies and bandwidths of shared memory, L2 and DRAM, and the tensor cores' rate."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from ..measure.machine import measuring, tick_ns
from ..measure.timing import spread
from ..microbenchmarks import cases, tile_cases
from ..microbenchmarks.cases import Case

LAUNCHES = 3
"""Of each case in a repeat."""

SECTIONS = (
    cases.latency, cases.hops, cases.bandwidth, cases.merging, cases.sharing, cases.shared_reads,
    tile_cases.tile_loads, tile_cases.multiplying, tile_cases.contention,
)  # fmt: skip

METHOD = (
    f"stamps of thread blocks, so without launching; {LAUNCHES} launches of each case in each of the repeats,"
    " which take turns; what is loaded is compared by a checksum with what was there; latency: a pointer"
    f" chase by one warp, {cases.HOPS} hops a launch through the L2 over lines in random order, anywhere or"
    " page by page of 2 MiB; hops: the clock read around each; bandwidth, merging, sharing: a block of 1024"
    f" threads on each SM, 16 bytes a thread at a time, at least {cases.STEPS} tiles of 64 KiB; tile_loads:"
    f" stages of two boxes of 64 columns in bf16, {tile_cases.LOADS['L2']} out of the L2 or"
    f" {tile_cases.LOADS['DRAM']} out of DRAM; multiplying: {tile_cases.K_STEPS} K-steps by wgmma, all SMs at"
    " once; contention: the same while another kernel's blocks on the same SMs load stages, two in flight,"
    " out of the L2"
)


@measuring
def memory(repeats: int = 5) -> dict[str, Any]:
    """This machine's memory system in JSON values: "repeats", "sms", "l2_bytes" (as the driver reports it),
    "tick_ns", and a list of rows for each of SECTIONS.

    A row says what the case is and has, each as p20, p50 and p80 over launches, its figures: cycles and ns
    (of one hop, stage or K-step), gb_per_s (10⁹ bytes), bytes_per_clock and macs_per_clock (of one SM), and
    sm_mhz. What a GPU lacks, such as TMA, has no rows.
    """
    random, here = torch.Generator("cuda").manual_seed(0), torch.cuda.get_device_properties()
    about = {"method": METHOD, "repeats": repeats, "tick_ns": tick_ns()}
    about |= {"sms": here.multi_processor_count, "l2_bytes": here.L2_cache_size}
    turns = [[measured(section(random)) for section in SECTIONS] for _ in range(repeats)]
    rows = map(merged, zip(*turns, strict=True))
    return about | {section.__name__: found for section, found in zip(SECTIONS, rows, strict=True)}


def measured(each: Iterator[Case]) -> list[tuple[dict[str, Any], list[dict[str, float]]]]:
    """What each case is, and the figures of its launches."""
    return [(label, [launch() for _ in range(LAUNCHES)]) for label, launch in each]


def merged(turns: Sequence[list[tuple[dict[str, Any], list[dict[str, float]]]]]) -> list[dict[str, Any]]:
    """A row per case from its launches of all turns, which have the same cases in the same order: the p20,
    p50 and p80 of each figure, to five digits.

    >>> merged([[({"sms": 1}, [{"ns": 1.0}])], [({"sms": 1}, [{"ns": 2.0}, {"ns": 3.0}])]])
    [{'sms': 1, 'ns': {'p50': 2.0, 'p20': 1.4, 'p80': 2.6}}]
    """
    rows = []
    for case in zip(*turns, strict=True):
        label, first = case[0]
        runs = [run for _, each in case for run in each]
        rows.append(label | {name: spread([run[name] for run in runs], "p50", None) for name in first[0]})
    return rows
