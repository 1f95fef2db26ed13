"""choose: the kernels for a product, the fastest first, by what each takes and which limit holds.

    time = once + waves · (K-steps · step + tile + write) + fix-up

`step` is as tilesim.model.kstep has it, and `write` the tile of C over what an SM sends. Where several thread
blocks sum one tile, all but one store their sums in fp32, and the last loads and adds them one after the
other: bytes over what an SM gets, and a latency of DRAM for each hand-over.
"""

from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np

from tilesim.choice.candidates import candidates
from tilesim.choice.kernel_times import KernelTimes, times_of
from tilesim.choice.sharing import LAUNCH_NS, Waves, l2_cycles, waves
from tilesim.devices.device import Device
from tilesim.devices.facts import REFERENCE
from tilesim.devices.hardware import DRAM_SHARE, SM_BYTES_PER_CLOCK, Hardware
from tilesim.errors import ChoiceError
from tilesim.gemm import kernel_of
from tilesim.gemm.fit import residents
from tilesim.kernel_config import KernelConfig
from tilesim.model.kstep import k_step_terms
from tilesim.products import Product

LIMITS = ("tensor cores", "latency", "L2", "DRAM")
"""The terms of a K-step, in the order of tilesim.model.kstep."""
SHARED = ("L2", "DRAM")
"""Those that all SMs share: where one of them holds, more SMs at work would win nothing."""
STREAMED = 0.97
"""Of what a stream reads out of DRAM, so much comes where one row of whole tiles reads B once, end to end.
Fitted, as tilesim.devices.hardware.DRAM_SHARE is for tiles in several rows."""
FP32 = 4
ALIKE = 1e-3
"""Estimates that differ by less are alike: measured times repeat no better."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The ns of a kernel, and the parts of which they are the sum.

    `parts`: "once", "K-steps", "tiles", what the last wave's K-steps take for slots that have none, "idle
    SMs", and "fix-up". `limit`: the part or, of K-steps, the term that takes the most. `waves`: of tiles or
    of their parts. `sms`: how many have work. `residents`: thread blocks that an SM runs at once.
    """

    config: KernelConfig
    ns: float
    parts: dict[str, float]
    limit: str
    waves: float
    sms: int
    residents: int


def choose(product: Product, device: Device, loads: str = "") -> list[Estimate]:
    """What the candidates take, the fastest first; of those that take as long, who has more SMs at work.

    `loads`: see `candidates`. Where a warp-specialized kernel can run, no other is ranked: of 143 times of
    three products in fp8 on an H200 none was faster. Raises ChoiceError where no kernel can compute the
    product, CostsError where the device has no rate of its dtype.
    """
    hardware = Hardware.named(device.name or REFERENCE, product.dtype)
    every = list(candidates(product, device, loads))
    best = [one for one in every if kernel_of(one).warp_specialized]
    found = [estimate(one, product, device, hardware) for one in best or every]
    if not found:
        raise ChoiceError(f"no kernel here computes {product} on {device.title}")
    return sorted(found, key=_rank)


def _rank(one: Estimate) -> tuple:
    config = one.config
    names = config.name, config.schedule, config.tile, config.order
    return round(log(one.ns) / ALIKE), -one.sms, -config.stages, *names, config.warps


class Laid(NamedTuple):
    """A kernel for a product on a device. `terms`: cycles of each limit of a K-step in a full wave and in the
    rest, float64 [LIMITS, 2]. `residents`: thread blocks that an SM runs at once."""

    config: KernelConfig
    product: Product
    waves: Waves
    terms: np.ndarray
    hardware: Hardware
    residents: int


def estimate(config: KernelConfig, product: Product, device: Device, hardware: Hardware) -> Estimate:
    """What a kernel takes on a device, whose hardware has the constants for the dtype."""
    one, known = laid(config, product, device, hardware), times_of(config, product)
    parts, grid = parts_of(one, known), one.waves.grid
    largest = max(parts, key=lambda part: parts[part])
    if largest == "K-steps":
        largest = LIMITS[int(_scaled(one, known)[:, 0 if grid.full else 1].argmax())]
    count = grid.full + grid.rest / grid.slots
    sms = min(grid.blocks, grid.slots // one.residents)
    return Estimate(config, sum(parts.values()), parts, largest, count, sms, one.residents)


def laid(config: KernelConfig, product: Product, device: Device, hardware: Hardware) -> Laid:
    """A kernel's waves and K-steps on a device, whose hardware has the constants for the dtype."""
    found, fit = waves(config, product, device, hardware), residents(config, product, device)
    problem, grid, sms = config.problem(product), found.grid, device.sms - device.busy_sms
    beside = k_step_terms(found.traffic, problem, hardware, hardware.peak_cycles(problem), config.stages, fit)
    alone = np.arange(1, fit + 1)[:, np.newaxis] * (found.requested / SM_BYTES_PER_CLOCK)
    if problem.tiles_m == 1 and grid.split_count == 1:
        beside[LIMITS.index("DRAM")] *= DRAM_SHARE / STREAMED
    l2 = l2_cycles(found.traffic.asked, found.traffic.sent, hardware)
    beside[LIMITS.index("L2")] = np.maximum(l2, alone)
    others = [-(-max(1, blocks) // sms) - 1 for blocks in (grid.blocks, grid.rest)]
    terms = np.stack([beside[:, others[0], 0], beside[:, others[1], 1]], axis=1)
    return Laid(config, product, found, terms, hardware, fit)


def _scaled(one: Laid, known: KernelTimes) -> np.ndarray:
    return one.terms * np.array([known.multiplying, known.waiting, 1.0, 1.0])[:, np.newaxis]


def parts_of(one: Laid, known: KernelTimes) -> dict[str, float]:
    """The parts of the time of a kernel, ns; see Estimate."""
    config, hardware, grid = one.config, one.hardware, one.waves.grid
    cycle = 1000 / hardware.clock_mhz
    scaled = _scaled(one, known)
    full, rest = scaled.max(axis=0) * cycle
    send = config.tile[0] * config.tile[1] * cycle / SM_BYTES_PER_CLOCK
    beside = (known.tile_gap + known.write * send * one.product.result_bytes) / one.residents
    fixup = 0.0
    if grid.split_count > 1:
        late = hardware.dram_latency * cycle
        fixup = grid.split_count * send * FP32 + (grid.split_count - 1) * late
    last = grid.rest > 0
    waits = kernel_of(config).warp_specialized and not one.waves.dependent_launch
    ends = float(last * grid.rest_steps * rest)
    sms = grid.slots // one.residents
    shared = LIMITS[int(scaled[:, 1].argmax())] in SHARED
    busy = 1.0 if shared else grid.rest / (sms * max(1, -(-grid.rest // sms)))
    return {
        "once": known.once + (LAUNCH_NS if waits else 0.0),
        "K-steps": float(grid.full * grid.steps * full) + ends * busy,
        "tiles": float((grid.written if grid.split_count > 1 else grid.full + last) * beside),
        "idle SMs": ends * (1 - busy),
        "fix-up": fixup,
    }
