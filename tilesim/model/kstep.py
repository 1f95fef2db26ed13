"""The time of a K-step, by one formula for the engine, calibration, and upper bounds.

For a thread block that shares its SM with r - 1 others it is, in cycles, the largest of

    multiplying     r · MACs / (TENSOR_SHARE · tensor-core rate), or r · k_step of costs that have it
    waiting         (latency of a stage's loads) / stages in flight
    the L2          bytes that it sends to all SMs / its bandwidth
    DRAM            bytes that miss the L2 / its bandwidth

A stage's loads take LOAD_CYCLES, plus the latency of the L2, or of DRAM if they miss, plus their bytes
divided by the bandwidth of an SM. The L2's rate for merged loads carries all requested bytes, and bytes sent
take the rest of its own rate. tilesim.model.traffic derives bytes and misses; tilesim.devices.hardware has
the constants.
"""

import numpy as np

from tilesim.costs import Costs
from tilesim.devices.device import Device
from tilesim.devices.hardware import LOAD_CYCLES, SM_BYTES_PER_CLOCK, Hardware
from tilesim.model.traffic import Loads, Traffic, loads
from tilesim.plans import Plan
from tilesim.problems import Problem


def k_step_terms(
    seen: Traffic, problem: Problem, hardware: Hardware, multiplying: float, stages: int, residents: int
) -> np.ndarray:
    """The limits of K-steps beside 0, 1, ... other main loops: float64 cycles [terms, residents, pieces].

    The terms are `multiplying`, waiting, the L2 and DRAM; a K-step takes the largest. The loads of all stages
    but one are in flight; with `stages` 0 (unknown) nothing waits for them.
    """
    tile = problem.k_step_bytes
    further = hardware.dram_latency - hardware.l2_latency
    latency = LOAD_CYCLES + hardware.l2_latency + further * seen.l2_miss + tile / SM_BYTES_PER_CLOCK
    waiting = latency / max(1, stages - 1) if stages else np.zeros_like(latency)
    merged = 1 / hardware.l2_merged_bytes_per_clock
    l2 = seen.asked * merged + seen.sent * (1 / hardware.l2_bytes_per_clock - merged)
    dram = seen.missed / hardware.dram_bytes_per_clock
    beside = np.arange(1, residents + 1)[:, np.newaxis]
    return np.stack(np.broadcast_arrays(beside * multiplying, waiting, l2, dram))


def hardware_of(costs: Costs, problem: Problem) -> Hardware | None:
    """The hardware that takes the K-steps, None where costs say it; CostsError for an unknown dtype."""
    return Hardware.named(costs.hardware, problem.dtype) if costs.hardware else None


def load_times(
    plan: Plan, problem: Problem, device: Device, costs: Costs, hardware: Hardware | None
) -> tuple[np.ndarray, float]:
    """(the K-step of each segment in plan order beside 0, 1, ... others: float64 [ctas_per_sm, segments], the
    delay between the first and last first stage of thread blocks that begin together, which DRAM sends in
    sequence) of `plan` with `costs` on their `hardware`, ns."""
    if hardware is None:
        slowdown = [costs.slowdown(r) for r in range(1, device.ctas_per_sm + 1)]
        each = costs.k_step * np.array(slowdown)[:, np.newaxis]
        return np.broadcast_to(each, (device.ctas_per_sm, len(plan.rows))), 0.0
    loaded = loads_under(plan, problem, device, costs, hardware)
    seen = loaded.behind(hardware.l2_bytes)
    multiplying = hardware.k_step_cycles(problem, costs.k_step)
    terms = k_step_terms(seen, problem, hardware, multiplying, costs.stages, device.ctas_per_sm)
    ahead = max(0, costs.stages - 1) * seen.missed[loaded.at.argmin()]
    cycle = 1000 / hardware.clock_mhz
    k_steps = np.stack([loaded.mean(each) for each in terms.max(axis=0)])
    k_steps *= cycle
    return k_steps, float(ahead) / hardware.dram_bytes_per_clock * cycle


def k_step_ns(plan: Plan, problem: Problem, device: Device, costs: Costs) -> np.ndarray:
    """The first of `load_times`."""
    return load_times(plan, problem, device, costs, hardware_of(costs, problem))[0]


def loads_under(plan: Plan, problem: Problem, device: Device, costs: Costs, hardware: Hardware) -> Loads:
    """What `plan` loads, and when, with pauses between main loops as in `costs`."""
    gap = costs.launch + costs.prologue if plan.ctas > device.slots else costs.tile_gap
    gap += costs.mainloop_overhead + (0 if costs.overlap else costs.epilogue)
    multiplying = hardware.k_step_ns(problem, costs.k_step)
    return loads(plan, problem, device.slots, gap / (multiplying * device.ctas_per_sm))


def slowest_k_step(problem: Problem, device: Device, costs: Costs, hardware: Hardware | None) -> float:
    """An upper bound for a K-step, ns: all slots load, share nothing, and all loads miss the L2. A slot loads
    two K-steps at most, as a piece of a main loop may begin before the one before it ends."""
    if hardware is None:
        return costs.k_step * max(costs.coresidency)
    everything = np.array([2.0 * problem.k_step_bytes * device.slots])
    seen = Traffic(everything, everything, everything, np.ones(1))
    multiplying = hardware.k_step_cycles(problem, costs.k_step)
    terms = k_step_terms(seen, problem, hardware, multiplying, costs.stages, device.ctas_per_sm)
    return float(terms[:, -1].max()) * 1000 / hardware.clock_mhz
