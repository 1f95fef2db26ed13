"""Waves: what a candidate's thread blocks load from where, wave by wave, in closed form.

The engine plays a plan tile by tile; here a plan is a few full waves and a rest, which is all that whole
tiles in a computed order are. What comes from the L2 and what from DRAM follows as in tilesim.model.traffic:
blocks of one wave walk along K together, so each operand is sent once a wave to each GPC that loads it; it is
still in the L2 for a later wave if little enough was loaded meanwhile.
"""

from dataclasses import dataclass
from math import gcd

import numpy as np

from tilesim.choice.candidates import Candidate, result_bytes
from tilesim.choice.kernels import LINE
from tilesim.choice.sharing import Grid, early, grid, operand_bytes, sent, spread
from tilesim.devices.device import Device
from tilesim.devices.hardware import Hardware
from tilesim.model.traffic import Traffic, lost
from tilesim.problems import DTYPE_BYTES, Problem


@dataclass(frozen=True, slots=True)
class Waves:
    """The waves of a candidate, whether it is launched `early`, and the `traffic` of a full wave and of the
    rest, two pieces."""

    grid: Grid
    early: bool
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
    """The waves of a candidate on the SMs of a device that are free."""
    laid, sms = grid(one, device), device.sms - device.busy_sms
    before = early(one, laid, device, hardware)
    return Waves(laid, before, _traffic(one.problem, laid, layout, sms, before, hardware))


def _traffic(
    problem: Problem, laid: Grid, layout: str, sms: int, before: bool, hardware: Hardware
) -> Traffic:
    """What comes from where a K-step, of a full wave and of the rest."""
    a, b = operand_bytes(problem)
    touched = lines_touched(problem, layout)
    count = np.array([laid.blocks, laid.rest or laid.blocks], float)
    at_once = np.maximum(1.0, count / laid.sharers)  # tiles, whose sharers load other pieces of K
    rows, columns = spread(problem, at_once)
    loaded = count * (a + b)
    asked = count * (touched[0] * a + touched[1] * b)
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
    merged = sent(problem, count, laid.sharers, sms, before)
    written = problem.m * problem.n * result_bytes(problem.dtype)
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
