"""What is measured of the memory itself: cases by section, each with what it is and a launch of it."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

import torch

from .chase import LINE, ORDERS, PAGE, UNROLLED, WIDTH, Chain, chase_shared, read_shared
from .chase import WARPS as SHARED_WARPS
from .stamping import Launch
from .stream import KINDS, TILE_BYTES, Stream, Streamed

Figures = dict[str, float]
Case = tuple[dict[str, Any], Callable[[], Figures]]
"""What it is, and what launches it once and returns the figures of that launch."""

MB = 2**20
FOOTPRINTS = tuple(
    int(mb * MB)
    for mb in (0.0625, 0.125, 0.25, 0.5, 1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64,
               72, 80, 96, 128, 192, 256, 512, 1024, 2048, 4096)
)  # fmt: skip
L1_FOOTPRINT = 16 * 1024
HOPS = 4096

TIMED = ((16 * MB, "this SM"), (16 * MB, "all SMs"), (44 * MB, "this SM"), (2048 * MB, "none"))
"""Footprints, and who has brought them into the L2."""
SHARES = (0.05, 0.2, 0.5, 0.8, 0.95)

STEPS = 512
ROUNDS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 64, 128, 256, 512)
"""Tiles of 64 KiB for each SM in a footprint: on 132 SMs, of 8.25 MiB to 4.1 GiB."""
IN_L2, BEYOND_L2 = 16 * MB, 512 * MB
"""Footprints that the L2 holds, and of which it holds little."""


def latency(random: torch.Generator) -> Iterator[Case]:
    """A pointer chase through shared memory, the L1, and footprints of global memory."""
    yield {"space": "shared memory", "footprint": 4096}, lambda: per(chase_shared(HOPS), HOPS)
    chain = warm_chain(L1_FOOTPRINT, ORDERS[0], random, cached=True)
    yield {"space": "L1", "footprint": L1_FOOTPRINT}, lambda: per(chain.follow(HOPS, cached=True), HOPS)
    for order, footprint in product(ORDERS, FOOTPRINTS):
        if fits(8 * footprint) and (order == "anywhere" or footprint > PAGE):
            chain = warm_chain(footprint, order, random)
            label = {"space": "global memory", "footprint": footprint, "order": order}
            yield label, lambda chain=chain: per(chain.follow(HOPS), HOPS)


def hops(random: torch.Generator) -> Iterator[Case]:
    """How single hops differ: where in the L2 a line is, who brought it there, pages of DRAM."""
    for footprint, brought_by in TIMED:
        if not fits(8 * footprint):
            continue
        chain = warm_chain(footprint, ORDERS[1], random)

        def figures(chain: Chain = chain, by_all: bool = brought_by == "all SMs") -> Figures:
            if by_all:
                flush_l2()
                chain.memory.sum()
            took = chain.time_hops(HOPS).float()
            cycles = took.quantile(torch.tensor(SHARES, device=took.device)).tolist()
            return {f"cycles_p{100 * share:.0f}": value for share, value in zip(SHARES, cycles, strict=True)}

        yield {"space": "global memory", "footprint": footprint, "brought_by": brought_by}, figures


def bandwidth(random: torch.Generator) -> Iterator[Case]:
    """All SMs read, write or copy, each block tiles of its own, by footprint."""
    for kind, rounds in product(KINDS, ROUNDS):
        yield from streamed(Stream(kind, sms(), STEPS, rounds), {"kind": kind}, random)


def merging(random: torch.Generator) -> Iterator[Case]:
    """All SMs read, in groups that read the same tiles at the same time, out of the L2 and out of DRAM."""
    sources = (("L2", IN_L2), ("DRAM", BEYOND_L2))
    for (source, footprint), neighbours, together in product(sources, (True, False), divisors(sms())):
        rounds = -(-footprint // (sms() // together * TILE_BYTES))
        asked = Stream("read", sms(), max(STEPS, rounds), rounds, together, neighbours)
        label = {"source": source, "together": together, "neighbours": neighbours}
        yield from streamed(asked, label, random)


def sharing(random: torch.Generator) -> Iterator[Case]:
    """One SM reads out of the L2, then more and more of them."""
    counts = [2**i for i in range(sms().bit_length()) if 2**i < sms()]
    for blocks in sorted({*counts, sms() // 4, sms() // 2, sms()}):
        asked = Stream("read", blocks, STEPS, IN_L2 // TILE_BYTES // blocks)
        yield from streamed(asked, {"sms": blocks}, random)


def shared_reads(random: torch.Generator) -> Iterator[Case]:
    """All threads of all SMs read shared memory, 16 bytes at a time."""
    moved = 32 * SHARED_WARPS * WIDTH * HOPS

    def figures() -> Figures:
        seen = read_shared(sms(), HOPS)
        return {"bytes_per_clock": moved / seen.cycles, "sm_mhz": seen.sm_mhz}

    yield {"kind": "read"}, figures


def streamed(asked: Stream, label: dict[str, Any], random: torch.Generator) -> Iterator[Case]:
    if not fits(4 * asked.footprint):
        return
    memory = Streamed(asked, random)
    memory.launch()
    memory.check()

    def figures() -> Figures:
        memory.launch()  # what of the footprint stays in the L2 is in it then
        seen = memory.launch()
        per_clock = asked.moved / asked.blocks / seen.cycles
        return {"gb_per_s": asked.moved / seen.ns, "bytes_per_clock": per_clock, "sm_mhz": seen.sm_mhz}

    yield label | {"footprint": asked.footprint}, figures


def warm_chain(footprint: int, order: str, random: torch.Generator, cached: bool = False) -> Chain:
    """A chain, followed once where the L2 could hold much of it, else as far as TLBs need to settle."""
    chain = Chain(footprint // LINE, order, random)
    if footprint <= 4 * torch.cuda.get_device_properties().L2_cache_size:
        chain.follow(len(chain.visits) // UNROLLED * UNROLLED, cached)
    else:
        flush_l2()
        chain.follow(16 * HOPS)
    return chain


@cache
def _other_memory() -> torch.Tensor:
    return torch.zeros(torch.cuda.get_device_properties().L2_cache_size, device="cuda")


def flush_l2() -> None:
    """Read other memory, four times the L2, so that nothing of what comes next is in it."""
    _other_memory().sum()


def per(seen: Launch, count: int) -> Figures:
    return {"cycles": seen.cycles / count, "ns": seen.ns / count, "sm_mhz": seen.sm_mhz}


def fits(size: int) -> bool:
    return size <= torch.cuda.get_device_properties().total_memory


def sms() -> int:
    return torch.cuda.get_device_properties().multi_processor_count


def divisors(number: int) -> list[int]:
    return [d for d in range(1, number + 1) if number % d == 0]
