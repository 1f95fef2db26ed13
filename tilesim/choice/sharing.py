"""Sharing: what a candidate's thread blocks load from where, and how a kernel is launched for it.

A plan is a few full waves and a rest. As in tilesim.model.traffic, blocks of one wave walk along K together,
so each operand is sent once a wave to each GPC that loads it; it is still in the L2 for a later wave if
little enough was loaded meanwhile.

The hardware merges what SMs of one GPC ask for at a time, and sends it again to another GPC:

    in order    a launch that waits for its predecessor's end gets a GPC's SMs one after the other: neighbours
                in the grid lie together.
    dependent   a launch that begins while its predecessor ends (programmatic dependent launch) gets SMs as
                they fall free, so that each GPC loads nearly all tiles. It saves LAUNCH_NS.
"""

from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

import numpy as np

from tilesim.devices.device import Device
from tilesim.devices.hardware import Hardware
from tilesim.gemm import LINE, kernel_of
from tilesim.gemm.fit import residents
from tilesim.kernel_config import KernelConfig
from tilesim.model.traffic import Traffic, lost
from tilesim.problems import DTYPE_BYTES, Problem
from tilesim.products import Product
from tilesim.schedules.stream_k import shares
from tilesim.text import name_and_numbers

GPC_SMS = 16.5
"""SMs of a GPC: an H200 has 132 in 8 of them."""
LAUNCH_NS = 1100.0
"""What a launch in order takes longer than a dependent one. On an H200 487 kernels that share nothing were
timed both ways; medians are 1.0 µs for whole tiles in one wave, 1.3 in more, 1.2 and 0.8 split."""
SECTOR = 32
"""Bytes of a line that the L2 sends at least."""
OUTSIDE = 8
"""Requests as which LINE bytes of a box count that lie outside of the matrix: TMA fills them 16 at a time. On
an H200 a row of a box takes 5 ns there, and 0.6 where it is loaded. Counted where the matrix is shorter than
the tile; the kernels move other tiles inside, but those that are split unevenly."""


class Grid(NamedTuple):
    """What the thread blocks of a candidate do, one wave after the other.

    `full`: waves in which every slot has a tile. `steps`: K-steps of each block in such a wave. `rest`:
    thread blocks of the last wave, or 0, and `rest_steps` their K-steps. `split_count`: thread blocks that
    sum one tile. `blocks`: thread blocks that run at once, on so many `slots`. `written`: tiles that a slot
    writes. `apart`: the share of K-steps in which each thread block is somewhere else along K.
    """

    full: float
    steps: float
    rest: int
    rest_steps: float
    split_count: int
    blocks: int
    slots: int
    written: float
    apart: float


def grid(config: KernelConfig, product: Product, device: Device) -> Grid:
    """How the work of a kernel falls on the SMs of a device that are free."""
    problem = config.problem(product)
    slots = (device.sms - device.busy_sms) * residents(config, product, device)
    name, parts = name_and_numbers(config.schedule)
    tiles, steps = problem.tiles, problem.k_steps
    if name in ("stream-k", "stream-k-hybrid"):
        shared, blocks = shares(config.schedule, problem, slots)
        split_count = max(2, -(-blocks // tiles)) if tiles % blocks else 1
        apart = shared / tiles if tiles % blocks and blocks % tiles else 0.0
        each = tiles * steps / blocks
        return Grid(1.0, each, 0, 0.0, split_count, blocks, slots, max(1.0, tiles / blocks), apart)
    split = parts[0] if name == "split-k" else 1
    full, rest = divmod(tiles * split, slots)
    each = -(-steps // split)
    blocks = min(tiles * split, slots)
    return Grid(float(full), each, rest, each, split, blocks, slots, full + (rest > 0), 0.0)


def spread(problem: Problem, tiles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of tiles among so many that follow each other in the order: float64, their shape."""
    name, _, height = problem.order.partition(":")
    group = min(problem.tiles_m, int(height) if name == "grouped" else 1)
    columns = np.minimum(problem.tiles_n, np.ceil(tiles / group))
    rows = np.minimum(problem.tiles_m, np.maximum(np.minimum(group, tiles), np.ceil(tiles / problem.tiles_n)))
    return rows, columns


def operand_bytes(problem: Problem) -> tuple[int, int]:
    """Bytes of a K-step of a tile's rows of A, and of its columns of B."""
    line = problem.tile_k * DTYPE_BYTES[problem.dtype]
    return problem.tile_m * line, problem.tile_n * line


def sent(problem: Problem, blocks: np.ndarray, split_count: int, sms: int, dependent: bool) -> np.ndarray:
    """Bytes that the L2 sends a K-step to `blocks` in step, once to a GPC: float64, their shape."""
    gpcs = max(1.0, sms / GPC_SMS)
    each = np.maximum(1.0, blocks / gpcs)  # thread blocks of a GPC
    tiles = np.maximum(1.0, blocks / split_count)
    a, b = operand_bytes(problem)
    if dependent:
        drawn = each / split_count
        rows, columns = spread(problem, tiles)
        own = split_count * (a * _different(rows, drawn) + b * _different(columns, drawn))
    else:
        in_step = np.minimum(each, tiles)  # neighbours at the same place along K
        rows, columns = spread(problem, in_step)
        own = each / in_step * (rows * a + columns * b)
    return np.minimum(blocks * (a + b), blocks / each * own)


def _different(kinds: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """How many different ones there are on average among so many that are drawn from so many kinds."""
    return np.minimum(drawn, kinds * (1 - (1 - 1 / kinds) ** drawn))


def l2_cycles(asked: np.ndarray, sent: np.ndarray, hardware: Hardware) -> np.ndarray:
    """Cycles that so many bytes a K-step take: all that is asked for goes through the SMs' ports, at the rate
    of merged loads, and what is sent at the L2's own; `tilesim bench memory` shows both as plateaus."""
    own, merged = hardware.l2_bytes_per_clock, hardware.l2_merged_bytes_per_clock
    return np.maximum(asked / merged, sent / own)


def dependent_launch(config: KernelConfig, product: Product, device: Device, hardware: Hardware) -> bool:
    """Whether a kernel is launched while its predecessor ends: sharing more is not worth LAUNCH_NS."""
    if not kernel_of(config).warp_specialized:
        return False
    laid, problem = grid(config, product, device), config.problem(product)
    sms = device.sms - device.busy_sms
    counts = np.array([laid.blocks, laid.rest or laid.blocks], float)
    steps = np.array([laid.full * laid.steps, laid.rest_steps * (laid.rest > 0)])
    asked = counts * sum(operand_bytes(problem))
    multiplying = hardware.k_step_cycles(problem)
    anywhere, in_order = (
        np.maximum(l2_cycles(asked, sent(problem, counts, laid.split_count, sms, way), hardware), multiplying)
        for way in (True, False)
    )
    lost = float(((anywhere - in_order) * steps).sum()) * (1 - laid.apart)
    return lost * 1000 / hardware.clock_mhz <= LAUNCH_NS


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


def waves(config: KernelConfig, product: Product, device: Device, hardware: Hardware) -> Waves:
    """The waves of a kernel on the SMs of a device that are free."""
    problem, sms = config.problem(product), device.sms - device.busy_sms
    laid, before = grid(config, product, device), dependent_launch(config, product, device, hardware)
    each = requests(problem, product.layout)
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
    written = problem.m * problem.n * product.result_bytes
    missed += written / (problem.tiles * steps) * count
    l2_miss = 1 - (1 - first[0]) * (1 - first[1])
    traffic = Traffic(asked, merged + laid.apart * (loaded - merged), missed, l2_miss)
    # A thread block requests lines of what lies inside of the matrix, and TMA fills the rest.
    in_m, in_n = min(problem.tile_m, problem.m), min(problem.tile_n, problem.n)
    filled = problem.tile_m - in_m + problem.tile_n - in_n if config.loads == "tma" else 0
    line = problem.tile_k * DTYPE_BYTES[problem.dtype]
    requested = line * (in_m * each[0] + in_n * each[1] + OUTSIDE * filled)
    return Waves(laid, before, traffic, requested)


def _from_dram(times: np.ndarray, between: np.ndarray, hardware: Hardware) -> np.ndarray:
    """The share of so many loads of an operand that DRAM serves, with so many bytes loaded between two."""
    return (1 + (times - 1) * lost(between, hardware.l2_bytes)) / times
