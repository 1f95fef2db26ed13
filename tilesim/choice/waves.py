"""Waves: how a candidate's work falls on SMs, and what it loads from where, in closed form.

The engine plays a plan tile by tile; here a plan is a few full waves and a rest, which is all that whole
tiles in a computed order are. What comes from the L2 and what from DRAM follows as in tilesim.model.traffic:
blocks of one wave walk along K together, so each operand is sent once a wave; it is still in the L2 for a
later wave if little enough was loaded meanwhile.
"""

from dataclasses import dataclass
from math import gcd

import numpy as np

from tilesim.choice.candidates import Candidate, result_bytes
from tilesim.choice.kernels import LINE
from tilesim.devices.device import Device
from tilesim.devices.hardware import Hardware
from tilesim.model.traffic import Traffic, lost
from tilesim.problems import DTYPE_BYTES, Problem


@dataclass(frozen=True, slots=True)
class Waves:
    """What the thread blocks of a candidate do, one wave after the other.

    `full`: waves in which every slot has a tile. `steps`: K-steps of each block in such a wave. `rest`:
    thread blocks of the last wave, 0 where none is left, and `rest_steps` their K-steps. `sharers`: thread
    blocks that sum one tile, 1 where tiles are whole. `blocks`: thread blocks that run at once, on so many
    `slots`. `written`: tiles that a slot writes. `traffic`: of a full wave and of the rest, two pieces.
    """

    full: float
    steps: float
    rest: int
    rest_steps: float
    sharers: int
    blocks: int
    slots: int
    written: float
    traffic: Traffic


def lines_touched(problem: Problem, layout: str) -> tuple[float, float]:
    """Lines of the L2 that LINE bytes of a row of A touch on average, and of B: 1 where rows are whole lines.

    What begins within a line ends in the next one, and the L2 is asked for both. It sends the same bytes.

    >>> lines_touched(Problem(512, 512, 96, dtype="bf16"), "nn")
    (1.5, 1.0)
    """
    lengths = problem.k if layout[0] == "n" else problem.m, problem.n if layout[1] == "n" else problem.k
    a, b = (2 - gcd(length * DTYPE_BYTES[problem.dtype], LINE) / LINE for length in lengths)
    return a, b


def waves(one: Candidate, device: Device, hardware: Hardware, layout: str) -> Waves:
    """How the work of a candidate falls on the SMs of a device that are free."""
    problem, free = one.problem, device.sms - device.busy_sms
    slots = free * one.residents
    name, _, parts = one.variant.schedule.partition(":")
    tiles, steps = problem.tiles, problem.k_steps
    if name in ("stream-k", "stream-k-hybrid"):
        blocks = min(slots, int(parts) if parts else slots, tiles * steps)
        sharers = max(2, -(-blocks // tiles)) if tiles % blocks else 1
        each = tiles * steps / blocks
        shape = (1.0, each, 0, 0.0, sharers, blocks, slots, max(1.0, tiles / blocks))
    else:
        split = int(parts) if name == "split-k" else 1
        full, rest = divmod(tiles * split, slots)
        each = -(-steps // split)
        shape = (float(full), each, rest, each, split, min(tiles * split, slots), slots, full + (rest > 0))
    rest = shape[2] if shape[0] else 0
    touched = lines_touched(problem, layout)
    traffic = _traffic(problem, shape[5], rest, shape[4], _scattered(one, shape[5]), touched, hardware)
    return Waves(*shape, traffic)


def _scattered(one: Candidate, blocks: int) -> float:
    """The share of K-steps in which each thread block is somewhere else along K, so that none loads together.

    So it is in tiles that stream-k shares unevenly; of stream-k-hybrid these are a wave's and the rest.
    """
    name, tiles = one.variant.schedule.partition(":")[0], one.problem.tiles
    if name == "stream-k":
        return float(blocks % tiles > 0)
    if name == "stream-k-hybrid" and tiles % blocks:
        return min(1.0, (blocks + tiles % blocks) / tiles)
    return 0.0


def _traffic(
    problem: Problem,
    blocks: int,
    rest: int,
    sharers: int,
    scattered: float,
    touched: tuple[float, float],
    hardware: Hardware,
) -> Traffic:
    """What comes from where a K-step, of a full wave and of the rest."""
    size = DTYPE_BYTES[problem.dtype]
    a, b = (side * problem.tile_k * size for side in problem.tile[:2])
    count = np.array([blocks, rest or blocks], float)
    at_once = np.maximum(1.0, count / sharers)  # tiles, whose sharers load other pieces of K
    rows, columns = _spread(problem, at_once)
    loaded = count * (a + b)
    asked = count * (touched[0] * a + touched[1] * b)
    merged = np.minimum(loaded, count / at_once * (rows * a + columns * b))
    # How often waves load each operand, and how much of it the L2 has lost when a later wave does.
    number = problem.tiles / at_once
    again = np.stack([number * rows / problem.tiles_m, number * columns / problem.tiles_n])
    steps = problem.k_steps
    between = np.stack([rows * a + columns * b, rows * a + problem.tiles_n * b]) * steps
    first = _from_dram(np.maximum(1.0, again), between, hardware)
    missed = merged * (rows * a * first[0] + columns * b * first[1]) / (rows * a + columns * b)
    # Who is alone along K finds what another loaded, unless too much of everything was loaded in between.
    times = np.array([problem.tiles_n, problem.tiles_m], float)
    everything = steps * (problem.tiles_m * a + problem.tiles_n * b)
    alone = _from_dram(times, everything / times, hardware)
    missed += scattered * (count * (a * alone[0] + b * alone[1]) - missed)
    sent = merged + scattered * (loaded - merged)
    written = problem.m * problem.n * result_bytes(problem.dtype)
    l2_miss = 1 - (1 - first[0]) * (1 - first[1])
    return Traffic(asked, sent, missed + written / (problem.tiles * steps) * count, l2_miss)


def _from_dram(times: np.ndarray, between: np.ndarray, hardware: Hardware) -> np.ndarray:
    """The share of so many loads of an operand that DRAM serves, with so many bytes loaded between two."""
    return (1 + (times - 1) * lost(between, hardware.l2_bytes)) / times


def _spread(problem: Problem, tiles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of tiles among so many that follow each other in the order: float64, their shape.

    >>> wide = Problem(1024, 4096, 64, (128, 128, 64), order="grouped:4")
    >>> [side.tolist() for side in _spread(wide, np.array([64.0]))]
    [[4.0], [16.0]]
    """
    name, _, height = problem.order.partition(":")
    group = min(problem.tiles_m, int(height) if name == "grouped" else 1)
    columns = np.minimum(problem.tiles_n, np.ceil(tiles / group))
    rows = np.minimum(problem.tiles_m, np.maximum(np.minimum(group, tiles), np.ceil(tiles / problem.tiles_n)))
    return rows, columns
