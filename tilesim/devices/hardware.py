"""Hardware: what a GPU does for a K-step, as constants that all kernels share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tilesim.devices.facts import values
from tilesim.devices.presets import facts, presets
from tilesim.errors import CostsError
from tilesim.problems import Problem

TENSOR_SHARE = 0.99
"""Of the rate of tensor cores, kernels make so much use: between two K-steps their warps wait for a barrier,
and issue the next. The best of an H200 take 1,030 cycles for what takes 1,024 at least. Fitted, as
LOAD_CYCLES."""
LOAD_CYCLES = 600.0
"""Cycles that a stage's loads take beyond the latency and the bytes: to be issued, to fill the barrier, and
until the warps that wait for it go on. Fitted to the recorded runs that costs are calibrated to."""
DRAM_SHARE = 0.82
"""Of what a stream reads out of DRAM, so much comes for the tiles of two matrices, whose misses are scattered
in place and time. Fitted, as LOAD_CYCLES."""
SM_BYTES_PER_CLOCK = 108.5
"""Of tiles that one SM loads out of the L2, while no other loads: measured on an H200."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """Constants of a device, for one dtype.

    `clock_mhz`: of SMs under load. `macs_per_clock`: multiply-adds of an SM's tensor cores. `l2_latency`,
    `dram_latency`: cycles of one load. `l2_bytes_per_clock`: what the L2 sends to all SMs a cycle where each
    loads other bytes; `l2_merged_bytes_per_clock`, where all load the same. `dram_bytes_per_clock`: what DRAM
    sends to tiles. `l2_bytes`: what the L2 holds. `launch_ns`: from the end of a thread block to the first
    instruction of the next in its slot.
    """

    clock_mhz: float
    macs_per_clock: float
    l2_latency: float
    dram_latency: float
    l2_bytes_per_clock: float
    l2_merged_bytes_per_clock: float
    dram_bytes_per_clock: float
    l2_bytes: int
    launch_ns: int

    def peak_cycles(self, problem: Problem) -> float:
        """Cycles that tensor cores take for a K-step."""
        return problem.tile_m * problem.tile_n * problem.tile_k / self.macs_per_clock

    def peak_ns(self, problem: Problem) -> float:
        """ns that tensor cores take for a K-step."""
        return self.peak_cycles(problem) * 1000 / self.clock_mhz

    def k_step_cycles(self, problem: Problem, k_step: float = 0.0) -> float:
        """`k_step_ns` in cycles."""
        return k_step * self.clock_mhz / 1000 if k_step else self.peak_cycles(problem) / TENSOR_SHARE

    def k_step_ns(self, problem: Problem, k_step: float = 0.0) -> float:
        """ns that a kernel takes to multiply a K-step, alone on its SM: `k_step` of costs that say it."""
        return k_step or self.peak_ns(problem) / TENSOR_SHARE

    @classmethod
    def named(cls, name: str, dtype: str) -> "Hardware":
        """A preset's, from its facts; raises CostsError where no rate of the dtype is known."""
        return cls.of(values(facts(name)), dtype, presets()[name]["title"])

    @classmethod
    def of(cls, known: Mapping[str, Any], dtype: str, title: str) -> "Hardware":
        """From facts, see tilesim.devices.facts. The L2 runs at the clock of the SMs, DRAM at its own. Raises
        CostsError, about the device of that title, where no rate of the dtype is known."""
        clock = next(known[name] for name in ("sustained_mhz", "tensor_mhz", "max_sm_mhz") if name in known)
        peaks, macs = known["peak_tflops"], known.get("macs_per_clock", {})
        if dtype not in macs and dtype not in peaks:
            raise CostsError(
                f"the {title}'s datasheet has no {dtype} rate; give costs, or choose from {', '.join(peaks)}"
            )
        rate = macs.get(dtype) or peaks[dtype] * 1e6 / (2 * known["sms"] * known["max_sm_mhz"])
        return cls(
            clock_mhz=clock,
            macs_per_clock=rate,
            l2_latency=known["l2_latency"],
            dram_latency=known["dram_latency"],
            l2_bytes_per_clock=1000 * known["l2_apart_gb_per_s"] / known["max_sm_mhz"],
            l2_merged_bytes_per_clock=1000 * known["l2_merged_gb_per_s"] / known["max_sm_mhz"],
            dram_bytes_per_clock=1000 * DRAM_SHARE * known["dram_read_gb_per_s"] / clock,
            l2_bytes=round(known["l2_mb"] * 10**6),
            launch_ns=round(1000 * known["launch_cycles"] / known["max_sm_mhz"]),
        )
