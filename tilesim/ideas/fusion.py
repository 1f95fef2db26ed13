"""Fusion: what a chain of elementwise functions moves and takes, as one kernel each and as one for all.

x = f1(x), x = f2(x), ...: a kernel leaves nothing in the registers for the next one. So each reads every
element of x from memory and writes it back, 8 bytes for a FLOP, and the arithmetic, which is next to nothing,
waits. One kernel for all functions reads x once, keeps each element in a register from the first function to
the last, and writes it once. A chain of n functions then moves an n-th of the bytes (J.
Filipovič et al., Optimizing CUDA code by kernel fusion, 2015; H. He, Making Deep Learning Go Brrrr From First
Principles, 2022). A kernel takes

    launch + max(DRAM bytes / DRAM's rate, L2 bytes / L2's rate, FLOP / peak)

which is the roofline (S. Williams, A. Waterman, D. Patterson, 2009) with a launch before it. Two tensors of a
chain are in use at a time. Where both fit into the L2, only the first kernel reads from DRAM, and what the
last writes is still in the L2 when it ends.

Fusing stops paying at three limits. Launches and bytes of a chain that fits into the L2 are few as they are.
From `ridge` functions on, arithmetic binds: one kernel then takes as long as its arithmetic, which more
fusing does not shorten. And beyond `most_registers`, registers bind: threads that hold more values are fewer
on an SM, and have too few bytes on their way to cover memory's latency (Little's law; V. Volkov,
Understanding Latency Hiding on GPUs, 2016).

Times are µs, rates GB/s (10⁹ bytes a second, read and written together) and TFLOP/s.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tilesim.errors import TilesimError, shown, whole

WIDTH = 4
"""Bytes of an element in fp32."""
MOST = 2**40
MOST_FUNCTIONS = 2**20
LARGEST_RATE = 1e9


@dataclass(frozen=True, slots=True)
class Memory:
    """What a chain runs on: rates of DRAM and of the L2, the L2's bytes, arithmetic's peak and a launch.

    Raises TilesimError for a rate that is not positive, or a launch that is negative.
    """

    gb_per_s: float
    l2_gb_per_s: float
    l2_bytes: int
    tflops: float
    launch_us: float

    def __post_init__(self) -> None:
        for what in ("gb_per_s", "l2_gb_per_s", "tflops"):
            rate = getattr(self, what)
            if not 0 < rate <= LARGEST_RATE:
                raise TilesimError(
                    f"{what} is {shown(rate)}; it must be above 0 and at most {LARGEST_RATE:g}"
                )
        if not 0 <= self.launch_us <= LARGEST_RATE:
            raise TilesimError(f"launch_us is {shown(self.launch_us)}; it must be from 0 to {LARGEST_RATE:g}")
        whole("l2_bytes", self.l2_bytes, 0, MOST, TilesimError)


@dataclass(frozen=True, slots=True)
class Chain:
    """`functions` of one FLOP each on so many `elements` of `width` bytes, in `kernels` one after the other.

    Raises TilesimError for a count below 1, or more kernels than functions.

    >>> one_by_one, fused = Chain(2**26, functions=8, kernels=8), Chain(2**26, functions=8, kernels=1)
    >>> one_by_one.moved // fused.moved, one_by_one.intensity, fused.intensity
    (8, 0.125, 1.0)
    """

    elements: int
    functions: int
    kernels: int
    width: int = WIDTH

    def __post_init__(self) -> None:
        whole("the number of elements", self.elements, 1, MOST, TilesimError)
        whole("the number of functions", self.functions, 1, MOST_FUNCTIONS, TilesimError)
        whole("the number of kernels", self.kernels, 1, self.functions, TilesimError)
        whole("the bytes of an element", self.width, 1, 16, TilesimError)

    @property
    def tensor(self) -> int:
        """Bytes of x."""
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
        """FLOP for each byte that is loaded or stored."""
        return self.flops / self.moved

    def fits(self, memory: Memory) -> bool:
        """Whether what one kernel reads and what it writes are in the L2 together."""
        return 2 * self.tensor <= memory.l2_bytes

    def dram_bytes(self, memory: Memory) -> int:
        """Bytes from and to DRAM until the last kernel ends, of an x that was not in the L2."""
        return self.tensor if self.fits(memory) else self.moved


def time_us(chain: Chain, memory: Memory) -> float:
    """What a chain takes.

    Eight functions on 2²⁶ values of fp32 take an eighth of the time as one kernel; on 2²¹, which fit into the
    L2, launches are much of what is saved:

    >>> memory = Memory(gb_per_s=4200, l2_gb_per_s=9400, l2_bytes=50_000_000, tflops=67, launch_us=1.5)
    >>> [round(time_us(Chain(2**26, 8, kernels), memory), 1) for kernels in (8, 1)]
    [1034.6, 129.3]
    >>> [round(time_us(Chain(2**21, 8, kernels), memory), 1) for kernels in (8, 1)]
    [26.5, 3.5]
    """
    first, others = _kernels_bytes(chain, memory)
    arithmetic = chain.flops / chain.kernels / memory.tflops / 1e6
    through_l2 = 2 * chain.tensor / memory.l2_gb_per_s / 1e3
    each = [max(moved / memory.gb_per_s / 1e3, through_l2, arithmetic) for moved in (first, others)]
    return chain.kernels * memory.launch_us + each[0] + (chain.kernels - 1) * each[1]


def speedup(elements: int, functions: int, memory: Memory, width: int = WIDTH) -> float:
    """How many times as fast one kernel is as one for each function.

    >>> memory = Memory(gb_per_s=4200, l2_gb_per_s=9400, l2_bytes=50_000_000, tflops=67, launch_us=1.5)
    >>> [round(speedup(2**26, functions, memory)) for functions in (2, 8, 64, 128, 256, 1024)]
    [2, 8, 64, 128, 128, 129]
    """
    one_by_one, fused = (Chain(elements, functions, kernels, width) for kernels in (functions, 1))
    return time_us(one_by_one, memory) / time_us(fused, memory)


def ridge(memory: Memory, width: int = WIDTH) -> float:
    """Functions of one FLOP from which on one kernel's arithmetic takes longer than its bytes.

    >>> ridge(Memory(gb_per_s=4000, l2_gb_per_s=9000, l2_bytes=0, tflops=64, launch_us=1))
    128.0
    """
    return 2 * width * 1000 * memory.tflops / memory.gb_per_s


def most_registers(gb_per_s: float, latency_ns: float, sms: int, loaded: int, registers: int = 65536) -> int:
    """Registers that a thread may have while those that fit cover DRAM's latency.

    `loaded`: bytes that a thread has on their way at a time. `registers`: of an SM; 65,536 from compute
    capability 5.0 on (CUDA C++ Programming Guide, Technical Specifications per Compute Capability). Together
    the threads must have gb_per_s · latency_ns bytes on their way.

    Raises TilesimError for what is not positive.

    An H200, 16 bytes a thread, with DRAM's latency of 686 cycles at 1,980 MHz:

    >>> most_registers(4500, latency_ns=346, sms=132, loaded=16)
    88
    """
    for what, value in (("the rate", gb_per_s), ("the latency", latency_ns)):
        if not 0 < value <= LARGEST_RATE:
            raise TilesimError(f"{what} is {shown(value)}; it must be above 0 and at most {LARGEST_RATE:g}")
    sms = whole("the number of SMs", sms, 1, 2**16, TilesimError)
    loaded = whole("the bytes of a thread", loaded, 1, 2**12, TilesimError)
    registers = whole("the registers of an SM", registers, 1, 2**20, TilesimError)
    return int(registers * loaded * sms / (gb_per_s * latency_ns))


def fitted(rows: Sequence[Mapping[str, Any]], l2_gb_per_s: float, l2_bytes: int, tflops: float) -> Memory:
    """The launch and DRAM's rate that a report of `tilesim bench fusion` shows, with what is known otherwise.

    A launch: by how much a chain on the fewest elements takes longer for each kernel more. DRAM's rate: by
    one function on the most elements.
    """
    us = {(row["elements"], row["functions"], row["kernel"]): row["us"] for row in rows}
    sizes = sorted({elements for elements, _, _ in us})
    short, *_, long = sorted(n for elements, n, kernel in us if (elements, kernel) == (sizes[0], "eager"))
    launch = (us[sizes[0], long, "eager"] - us[sizes[0], short, "eager"]) / (long - short)
    copy = us[sizes[-1], 1, "fused"] - launch
    return Memory(Chain(sizes[-1], 1, 1).moved / copy / 1e3, l2_gb_per_s, l2_bytes, tflops, launch)


def _kernels_bytes(chain: Chain, memory: Memory) -> tuple[int, int]:
    """DRAM bytes of the first kernel, and of each other one."""
    if chain.fits(memory):
        return chain.tensor, 0
    return 2 * chain.tensor, 2 * chain.tensor
