"""What a K-step takes: one formula for the engine, for calibration, and for the longest run that there can
be.

    k_step · stretch · (1 + exposed_dram · l2_miss + unshared_l2 · unshared)
           · (1 - unloaded_latency · idle + sole_exposed_dram · l2_miss, of a main loop alone on its SM)

`stretch` is (1 + x²)^(1/2), where x is what all slots together ask of DRAM in a K-step over what DRAM
delivers in one. tilesim.model.traffic reads x, `l2_miss`, `unshared`, `idle` and who is alone off the plan;
the other names are fields of Costs.
"""

from math import inf, isnan

import numpy as np

from tilesim.costs import Costs
from tilesim.devices import Device
from tilesim.model.traffic import Traffic, loads, sole_residents
from tilesim.plans import Plan
from tilesim.problems import DTYPE_BYTES, Problem

SHARPNESS = 2
"""The exponent in `stretch`: of those tried on an H200, 2 fits best."""


def stretch(demand: np.ndarray, delivered: float) -> np.ndarray:
    """How many times as long K-steps take that ask DRAM for `demand` bytes, of which it delivers `delivered`.

    >>> stretch(np.array([0.0, 1.0, 3.0]), delivered=1.0).round(3).tolist()
    [1.0, 1.414, 3.162]
    """
    with np.errstate(over="ignore", divide="ignore"):
        return (1 + (demand / np.float64(delivered)) ** SHARPNESS) ** (1 / SHARPNESS)


def k_step_terms(seen: Traffic, delivered: float) -> np.ndarray:
    """K-steps beside other main loops, over k_step, as a sum: float64 [3, pieces].

    (1, exposed_dram, unshared_l2) @ terms is how many times k_step they take. `delivered`: bytes from DRAM
    while one such K-step lasts, infinite where it is no limit.

    >>> demand, l2_miss, unshared = np.array([[0.0, 3.0], [0.0, 0.5], [0.2, 0.1]])
    >>> k_step_terms(Traffic(demand, l2_miss, unshared), delivered=4.0).tolist()
    [[1.0, 1.25], [0.0, 0.625], [0.2, 0.125]]
    """
    longer = stretch(seen.demand, delivered)
    return np.stack([longer, longer * seen.l2_miss, longer * seen.unshared])


def sole_resident_factor(
    idle: np.ndarray, l2_miss: np.ndarray, unloaded_latency: float, sole_exposed_dram: float
) -> np.ndarray:
    """How many times as long K-steps take of a main loop that is alone on an SM of several slots.

    float64, of one shape. `idle`: the share of the device's slots that are idle meanwhile. `l2_miss`: as of
    Traffic.

    >>> sole_resident_factor(np.array([0.5]), np.array([0.25]), 0.2, 0.8).round(3).tolist()
    [1.1]
    """
    return 1 - unloaded_latency * idle + sole_exposed_dram * l2_miss


def k_step_stretch(plan: Plan, problem: Problem, device: Device, costs: Costs) -> np.ndarray:
    """How many times k_step the K-steps of each segment take, alone on their SM: float64 [segments], plan
    order."""
    can_be_alone = device.ctas_per_sm > 1 and (costs.unloaded_latency or costs.sole_exposed_dram)
    if not costs.bandwidth and not costs.unshared_l2 and not can_be_alone:
        return np.broadcast_to(1.0, len(plan.rows))
    gap = costs.launch + costs.prologue if plan.ctas > device.slots else costs.handover
    gap += costs.ramp + (costs.staging if costs.overlap else costs.epilogue)
    loaded = loads(plan, problem, device.slots, gap / _full_k_step(device, costs))
    seen = loaded.behind(costs.cache if costs.bandwidth else 0)
    longer = _weights(costs) @ k_step_terms(seen, _delivered(device, costs))
    if can_be_alone:
        alone, idle = sole_residents(plan, loaded, device)
        factor = sole_resident_factor(idle, seen.l2_miss, costs.unloaded_latency, costs.sole_exposed_dram)
        longer *= np.where(alone, factor, 1.0)
    return loaded.mean(longer)


def slowest_k_step(problem: Problem, device: Device, costs: Costs) -> float:
    """ns of a K-step alone on its SM that no plan exceeds: all slots load, share nothing, and find DRAM
    alone.

    A slot may begin a second piece of a main loop while the first one's time lasts (see
    tilesim.model.traffic), so it asks for two K-steps' operands at most. Infinite where that is beyond a
    double.
    """
    operands = (problem.tile_m + problem.tile_n) * problem.tile_k * DTYPE_BYTES[problem.dtype]
    everything = Traffic(np.array([2.0 * operands * device.slots]), np.ones(1), np.ones(1))
    terms = k_step_terms(everything, _delivered(device, costs))
    alone = sole_resident_factor(np.zeros(1), everything.l2_miss, 0.0, costs.sole_exposed_dram)
    with np.errstate(over="ignore", invalid="ignore"):
        slowest = float((costs.k_step * (_weights(costs) @ terms) * alone)[0])
    return inf if isnan(slowest) else slowest  # infinite terms of no weight


def _full_k_step(device: Device, costs: Costs) -> float:
    """ns of a K-step while all slots of its SM are in their main loops."""
    return costs.k_step * costs.slowdown(device.ctas_per_sm)


def _delivered(device: Device, costs: Costs) -> float:
    """Bytes that DRAM delivers while such a K-step lasts."""
    return costs.bandwidth * _full_k_step(device, costs) if costs.bandwidth else inf


def _weights(costs: Costs) -> np.ndarray:
    return np.array([1.0, costs.exposed_dram, costs.unshared_l2])
