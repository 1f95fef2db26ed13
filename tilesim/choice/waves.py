"""Waves: how a candidate's work falls on SMs, and what it loads from where, in closed form.

The engine plays a plan tile by tile; here a plan is a few full waves and a rest, which is all that whole tiles
in a computed order are. What comes from the L2 and what from DRAM follows as in tilesim.model.traffic: blocks
of one wave walk along K together, so each operand is sent once a wave; it is still in the L2 for a later wave if
little enough was loaded meanwhile.
"""

from dataclasses import dataclass

import numpy as np

from tilesim.choice.candidates import Candidate, result_bytes
from tilesim.devices.device import Device
from tilesim.devices.hardware import Hardware
from tilesim.model.traffic import SOFTNESS, Traffic
from tilesim.problems import DTYPE_BYTES, Problem


@dataclass(frozen=True, slots=True)
class Waves:
    """What the thread blocks of a candidate do, one wave after the other.

    `full`: waves in which every slot has a tile. `steps`: K-steps of each block in such a wave. `rest`: thread
    blocks of the last wave, 0 where none is left, and `rest_steps` their K-steps. `sharers`: thread blocks that
    sum one tile, 1 where tiles are whole. `blocks`: thread blocks that run at once, on so many `slots`. `written`: tiles that a
    slot writes. `traffic`: of a full wave and of the rest, two pieces. `dram_bytes`: of the whole product.
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
    dram_bytes: float


def waves(one: Candidate, device: Device, hardware: Hardware) -> Waves:
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
    traffic, moved = _traffic(problem, shape[5], shape[2] if shape[0] else 0, shape[4], hardware)
    return Waves(*shape, traffic, moved)


def _traffic(
    problem: Problem, blocks: int, rest: int, sharers: int, hardware: Hardware
) -> tuple[Traffic, float]:
    """(what comes from where a K-step of a full wave and of the rest, bytes that DRAM moves in all)."""
    size = DTYPE_BYTES[problem.dtype]
    a, b = (side * problem.tile_k * size for side in problem.tile[:2])
    count = np.array([blocks, rest or blocks], float)
    at_once = np.maximum(1.0, count / sharers)  # tiles: their sharers load other pieces of K
    rows, columns = _spread(problem, at_once)
    asked = count * (a + b)
    apart = count / at_once
    sent = np.minimum(asked, apart * (rows * a + columns * b))
    # How often waves load each operand, and how much of it the L2 has lost when a later wave does.
    number = problem.tiles / at_once
    again_a = np.maximum(1.0, number * rows / problem.tiles_m)
    again_b = np.maximum(1.0, number * columns / problem.tiles_n)
    steps = problem.k_steps
    wave_bytes = steps * (rows * a + columns * b)
    group_bytes = steps * (rows * a + problem.tiles_n * b)
    lost_a, lost_b = (1 / (1 + (hardware.l2_bytes / each) ** SOFTNESS) for each in (wave_bytes, group_bytes))
    share_a, share_b = (
        (1 + (again - 1) * lost) / again for again, lost in ((again_a, lost_a), (again_b, lost_b))
    )
    missed = sent / (rows * a + columns * b) * (rows * a * share_a + columns * b * share_b)
    written = problem.m * problem.n * result_bytes(problem.dtype)
    l2_miss = 1 - (1 - share_a) * (1 - share_b)
    total = problem.k_steps * problem.tiles * (missed[0] / count[0]) + written
    missed = missed + written / (problem.tiles * steps) * count
    return Traffic(asked, sent, missed, l2_miss), float(total)


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
