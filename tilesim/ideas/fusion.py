"""Fusion: the bytes and time of a chain of elementwise functions, run as several kernels or as one.

Each kernel of x = f1(x), x = f2(x), ... reads all of x and writes it back, so one kernel for n functions
moves 1/n of the bytes (J. Filipovič et al., Optimizing CUDA code by kernel fusion, 2015). A kernel takes

    launch + max(DRAM bytes / DRAM rate, L2 bytes / L2 rate, FLOP / peak)

which is the roofline (S. Williams, A. Waterman, D. Patterson, 2009) plus a launch. If input and output fit
into the L2 together, only the first kernel reads from DRAM. `most_registers` is after V. Volkov,
Understanding Latency Hiding on GPUs, 2016. Times are in µs, rates in GB/s (10⁹ bytes per second, reads and
writes together) and TFLOP/s.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

WIDTH = 4
"""Bytes per fp32 element."""


class Memory(NamedTuple):
    """DRAM rate, L2 rate, L2 size in bytes, peak arithmetic rate and launch time of a device."""

    gb_per_s: float
    l2_gb_per_s: float
    l2_bytes: int
    tflops: float
    launch_us: float


class Chain(NamedTuple):
    """`functions` of one FLOP each on `elements` of `width` bytes, run as `kernels` in sequence."""

    elements: int
    functions: int
    kernels: int
    width: int = WIDTH

    @property
    def tensor(self) -> int:
        """Bytes in x."""
        return self.elements * self.width

    @property
    def moved(self) -> int:
        """Bytes that the kernels load and store."""
        return 2 * self.tensor * self.kernels

    @property
    def flops(self) -> int:
        return self.elements * self.functions

    @property
    def intensity(self) -> float:
        """FLOP per byte loaded or stored."""
        return self.flops / self.moved

    def fits(self, memory: Memory) -> bool:
        """Whether the input and the output of one kernel fit into the L2 together."""
        return 2 * self.tensor <= memory.l2_bytes

    def dram_bytes(self, memory: Memory) -> int:
        """Bytes to and from DRAM until the last kernel ends, with x not in the L2 at the start."""
        return self.tensor if self.fits(memory) else self.moved


def time_us(chain: Chain, memory: Memory) -> float:
    first, others = (chain.tensor, 0) if chain.fits(memory) else (2 * chain.tensor, 2 * chain.tensor)
    arithmetic = chain.flops / chain.kernels / memory.tflops / 1e6
    through_l2 = 2 * chain.tensor / memory.l2_gb_per_s / 1e3
    each = [max(moved / memory.gb_per_s / 1e3, through_l2, arithmetic) for moved in (first, others)]
    return chain.kernels * memory.launch_us + each[0] + (chain.kernels - 1) * each[1]


def ridge(memory: Memory, width: int = WIDTH) -> float:
    """The number of functions from which one kernel is limited by arithmetic rather than bytes."""
    return 2 * width * 1000 * memory.tflops / memory.gb_per_s


def most_registers(gb_per_s: float, latency_ns: float, sms: int, loaded: int, registers: int = 65536) -> int:
    """The most registers per thread that leave enough threads resident to hide DRAM latency: together they
    need gb_per_s · latency_ns bytes in flight, `loaded` each. `registers`: per SM, from compute capability
    5.0 on."""
    return int(registers * loaded * sms / (gb_per_s * latency_ns))


def fitted(rows: Sequence[Mapping[str, Any]], l2_gb_per_s: float, l2_bytes: int, tflops: float) -> Memory:
    """The launch time and DRAM rate of a `tilesim bench fusion` report: the slope over kernels at the
    smallest size, and one function at the largest."""
    us = {(row["elements"], row["functions"], row["kernel"]): row["us"] for row in rows}
    sizes = sorted({elements for elements, _, _ in us})
    short, *_, long = sorted(n for elements, n, kernel in us if (elements, kernel) == (sizes[0], "eager"))
    launch = (us[sizes[0], long, "eager"] - us[sizes[0], short, "eager"]) / (long - short)
    copy = us[sizes[-1], 1, "fused"] - launch
    return Memory(Chain(sizes[-1], 1, 1).moved / copy / 1e3, l2_gb_per_s, l2_bytes, tflops, launch)
