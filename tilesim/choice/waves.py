"""Waves: what a candidate's thread blocks load from where, wave by wave, in closed form.

A plan is a few full waves and a rest. As in tilesim.model.traffic, blocks of one wave walk along K together,
so each operand is sent once a wave to each GPC that loads it; it is still in the L2 for a later wave if
little enough was loaded meanwhile.
"""

from dataclasses import dataclass
from math import gcd

import numpy as np

from tilesim.choice.sharing import Grid, dependent_launch, grid, operand_bytes, sent, spread
from tilesim.devices.device import Device
from tilesim.devices.hardware import Hardware
from tilesim.gemm import LINE
from tilesim.kernel_config import KernelConfig
from tilesim.model.traffic import Traffic, lost
from tilesim.problems import DTYPE_BYTES, Problem
from tilesim.products import Product

SECTOR = 32
"""Bytes of a line that the L2 sends at least."""

OUTSIDE = 8
"""Requests as which LINE bytes of a box count that lie outside of the matrix: TMA fills them 16 at a time. On
an H200 a row of a box takes 5 ns there, and 0.6 where it is loaded. Counted where the matrix is shorter than
the tile; the kernels move other tiles inside, but those that are split unevenly."""


@dataclass(frozen=True, slots=True)
class Waves:
    """The waves of a candidate, whether it uses `dependent_launch`, the `traffic` of a full wave and of the
    rest, and how many bytes of lines a thread block requests in a K-step."""

    grid: Grid
    dependent_launch: bool
    traffic: Traffic
    requested: float


def requests(problem: Problem, layout: str) -> tuple[float, float]:
    """Requests to the L2 for LINE bytes of a row of A on average, and of B: 1 where rows are whole lines.

    What begins within a line takes another for the next one, and what begins within a SECTOR one more: seen
    on an H200 in fp8 with K an odd multiple of 16.
    """
    size = DTYPE_BYTES[problem.dtype]
    a = problem.k if layout[0] == "n" else gcd(problem.m, problem.tile_m)
    b = gcd(problem.n, problem.tile_n) if layout[1] == "n" else problem.k
    return _requests(a * size), _requests(b * size)


def _requests(step: int) -> float:
    """The same where rows begin at multiples of `step` bytes."""
    return 3 - gcd(step, LINE) / LINE - gcd(step, SECTOR) / SECTOR


def _requested(problem: Problem, loads: str, each: tuple[float, float]) -> float:
    """Bytes of lines that a thread block requests in a K-step, in a matrix shorter than its tile, too."""
    line = problem.tile_k * DTYPE_BYTES[problem.dtype]
    sides = (problem.tile_m, problem.m), (problem.tile_n, problem.n)
    inside = [min(tile, size) for tile, size in sides]
    outside = sum(tile for tile, _ in sides) - sum(inside)
    filled = OUTSIDE * outside if loads == "tma" else 0
    return line * (sum(x * y for x, y in zip(inside, each, strict=True)) + filled)


def waves(config: KernelConfig, product: Product, device: Device, hardware: Hardware) -> Waves:
    """The waves of a kernel on the SMs of a device that are free."""
    problem, sms = config.problem(product), device.sms - device.busy_sms
    laid, before = grid(config, product, device), dependent_launch(config, product, device, hardware)
    each = requests(problem, product.layout)
    traffic = _traffic(problem, laid, each, sms, before, hardware, product.result_bytes)
    return Waves(laid, before, traffic, _requested(problem, config.loads, each))


def _traffic(
    problem: Problem,
    laid: Grid,
    each: tuple[float, float],
    sms: int,
    before: bool,
    hardware: Hardware,
    result_bytes: int,
) -> Traffic:
    """What comes from where a K-step, of a full wave and of the rest."""
    a, b = operand_bytes(problem)
    count = np.array([laid.blocks, laid.rest or laid.blocks], float)
    at_once = np.maximum(1.0, count / laid.split_count)  # tiles, whose blocks load different parts of K
    rows, columns = spread(problem, at_once)
    loaded = count * (a + b)
    asked = count * (each[0] * a + each[1] * b)
    once = np.minimum(loaded, count / at_once * (rows * a + columns * b))
    # How often waves load each operand, and how much of it the L2 has lost when a later wave does.
    number = problem.tiles / at_once
    again = np.stack([number * rows / problem.tiles_m, number * columns / problem.tiles_n])
    steps = problem.k_steps
    between = np.stack([rows * a + columns * b, rows * a + problem.tiles_n * b]) * steps
    first = _from_dram(np.maximum(1.0, again), between, hardware)
    missed = once * (rows * a * first[0] + columns * b * first[1]) / (rows * a + columns * b)
    # Who is alone along K finds what another loaded, unless too much of everything was loaded in between.
    times = np.array([problem.tiles_n, problem.tiles_m], float)
    everything = steps * (problem.tiles_m * a + problem.tiles_n * b)
    alone = _from_dram(times, everything / times, hardware)
    missed += laid.apart * (count * (a * alone[0] + b * alone[1]) - missed)
    merged = sent(problem, count, laid.split_count, sms, before)
    written = problem.m * problem.n * result_bytes
    l2_miss = 1 - (1 - first[0]) * (1 - first[1])
    return Traffic(
        asked,
        merged + laid.apart * (loaded - merged),
        missed + written / (problem.tiles * steps) * count,
        l2_miss,
    )


def _from_dram(times: np.ndarray, between: np.ndarray, hardware: Hardware) -> np.ndarray:
    """The share of so many loads of an operand that DRAM serves, with so many bytes loaded between two."""
    return (1 + (times - 1) * lost(between, hardware.l2_bytes)) / times
