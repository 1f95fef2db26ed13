"""The cases of a K-step's two halves, its load and its multiplication, alone and together."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from math import prod

import torch

from ..errors import KernelError
from ..probes.spin import shared_kb
from .cases import IN_L2, Case, Figures, divisors, flush_l2, per, sms
from .multiply import Multiplying
from .stamping import Launch, read_stamps
from .tile_loads import COLUMNS, TileLoading, TileLoads

TILES = ((64, 64), (128, 128), (128, 256))

LOADS = {"L2": 1024, "DRAM": 256}
"""Stages that a thread block loads per launch, by source."""

MULTIPLIED = [
    ("bf16", (128, 256, 64), 8, 1), ("bf16", (128, 128, 64), 8, 1), ("bf16", (128, 128, 64), 4, 1),
    ("bf16", (128, 128, 64), 8, 2), ("bf16", (128, 128, 64), 4, 2), ("bf16", (128, 256, 32), 8, 1),
    ("bf16", (256, 128, 64), 8, 1), ("bf16", (64, 256, 64), 4, 1), ("bf16", (64, 128, 64), 4, 1),
    ("bf16", (64, 128, 64), 4, 2), ("bf16", (64, 64, 64), 4, 1),
    ("fp16", (128, 256, 64), 8, 1), ("fp16", (128, 128, 64), 8, 1),
    ("fp8", (128, 256, 128), 8, 1), ("fp8", (128, 128, 128), 8, 1), ("fp8", (64, 256, 128), 4, 1),
    ("fp8", (64, 128, 128), 4, 1),
]  # fmt: skip
"""dtype, tile, warps, and thread blocks per SM."""
K_STEPS = 2048


def tile_loads(random: torch.Generator) -> Iterator[Case]:
    """Stages of operands by TMA and by cp.async, one or more in flight, on one SM or on all."""
    words = _words(random)
    spread = ((1, 1), (sms(), 1), (sms(), group()))
    most = 1024 * (shared_kb() - 1)  # some is reserved for mbarriers and for Triton itself
    for by, tile, stages, source in product(ways(), TILES, range(1, 7), LOADS):
        for blocks, together in spread:
            asked = TileLoads(by, tile, stages, blocks, LOADS[source], together)
            if source == "L2":
                asked = in_l2(asked)
            if stages * asked.stage_bytes <= most and asked.footprint <= words.nbytes:
                label = {"by": by, "source": source, "tile": list(tile), "stage_bytes": asked.stage_bytes}
                label |= {"stages": stages, "sms": blocks, "together": together}
                yield label, _loading(asked, source, words)


def multiplying(
    random: torch.Generator, cases: Iterable[tuple[str, tuple[int, int, int], int, int]] = MULTIPLIED
) -> Iterator[Case]:
    """The tensor cores' rate, by dtype, tile, warps, and thread blocks per SM."""
    for dtype, tile, warps, residents in cases if has_wgmma() else ():
        work = Multiplying(dtype, tile, warps)
        work.check(random)
        macs = prod(tile) * K_STEPS * residents

        def figures(work: Multiplying = work, macs: int = macs, residents: int = residents) -> Figures:
            seen = alone(work.start(work.operands(random), residents * sms(), K_STEPS), residents)
            return {"macs_per_clock": macs / seen.cycles, "sm_mhz": seen.sm_mhz}

        yield {"dtype": dtype, "tile": list(tile), "warps": warps, "ctas_per_sm": residents}, figures


def contention(random: torch.Generator) -> Iterator[Case]:
    """K-steps of the tensor cores while another thread block of the SM loads stages from the L2."""
    words = _words(random)
    for by, tile in product(ways() if has_wgmma() else (), TILES[1:]):
        work = Multiplying("bf16", (*tile, COLUMNS), 8)
        work.check(random)
        loading = TileLoading(in_l2(TileLoads(by, tile, 2, sms(), 1, group())), words)
        loading.check(LOADS["L2"])

        def figures(work: Multiplying = work, loading: TileLoading = loading) -> Figures:
            operands = work.operands(random)
            torch.cuda.synchronize()
            # first, because an SM cannot change its shared-memory carve-out while a kernel runs
            with torch.cuda.stream(torch.cuda.Stream()):
                longer = loading.start(6 * K_STEPS)  # so that the K-steps end first
            stamps = work.start(operands, sms(), K_STEPS)
            torch.cuda.synchronize()
            around, seen = longer.cpu().numpy(), stamps.cpu().numpy()
            if around[:, 2].max() > seen[:, 2].min() or around[:, 4].min() < seen[:, 4].max():
                raise KernelError("two kernels that should run concurrently did not")
            return per(alone(stamps, 1), K_STEPS)

        yield {"by": by, "tile": [*tile, COLUMNS]}, figures


def alone(stamps: torch.Tensor, residents: int) -> Launch:
    """A launch with exactly `residents` blocks on each SM; raises KernelError otherwise."""
    seen = read_stamps(stamps.cpu().numpy())
    if seen.residents != residents:
        raise KernelError(f"{residents} thread blocks should be on an SM, but {seen.residents} were")
    return seen


def in_l2(asked: TileLoads) -> TileLoads:
    return replace(asked, round=-(-IN_L2 // replace(asked, round=1).footprint))


def ways() -> tuple[str, ...]:
    needed = {"tma": (9, 0), "cp.async": (8, 0)}
    return tuple(by for by, least in needed.items() if torch.cuda.get_device_capability() >= least)


def has_wgmma() -> bool:
    return torch.cuda.get_device_capability()[0] == 9


def group() -> int:
    """How many thread blocks load the same stages, as in a grouped order: a divisor of the number of SMs."""
    return max(d for d in divisors(sms()) if d <= 12)


def _words(random: torch.Generator) -> torch.Tensor:
    """The matrix that stages are loaded from, of 2 GiB at most."""
    size = min(2**31, torch.cuda.get_device_properties().total_memory // 8) // 2
    words = torch.empty(size, dtype=torch.int16, device=random.device)
    return words.random_(-(2**15), 2**15 - 1, generator=random)


def _loading(asked: TileLoads, source: str, words: torch.Tensor) -> Callable[[], Figures]:
    loading, loads = TileLoading(asked, words), LOADS[source]
    loading.check(loads)

    def figures() -> Figures:
        if source == "L2":
            loading.launch(loads)
        else:
            flush_l2()
        return per(loading.launch(loads), loads)

    return figures
