"""What the literature says, and what the models of tilesim say of the same case: the table, row by row."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tilesim import Costs, Device, Problem, orders, simulate
from tilesim.analysis.roofs import product_bytes
from tilesim.cli.output.tables import markdown_of
from tilesim.devices.occupancy import Occupancy, occupancy
from tilesim.ideas import (
    coalescing,
    divergence,
    fusion,
    l2_order,
    latency_hiding,
    loop_unrolling,
    memory_hierarchy,
    reduction,
    tiling_hierarchy,
)
from tilesim.ladder.steps import ridge

BEST_PRACTICES = "NVIDIA, CUDA C++ Best Practices Guide"
PROGRAMMING = "NVIDIA, CUDA C++ Programming Guide"
MATMUL = "NVIDIA, Matrix Multiplication Background User's Guide"
GPU_GUIDE = "NVIDIA, GPU Performance Background User's Guide"
VOLKOV = "V. Volkov, Better Performance at Lower Occupancy, GTC 2010"
TRANSPOSE = "M. Harris, An Efficient Matrix Transpose in CUDA C/C++, 2013"
HARRIS = "M. Harris, Optimizing Parallel Reduction in CUDA, 2007"
PMPP = "W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 2022"
TRITON = "Triton, Tutorials, Matrix Multiplication"
PTX = "NVIDIA, PTX ISA, wgmma.mma_async"
BRRR = "H. He, Making Deep Learning Go Brrrr From First Principles, 2022"
SHAPES = "H. He, What Shapes Do Matrix Multiplications Like?, 2024"
STREAM_K = "M. Osama et al., Stream-K, 2023, arXiv 2301.03598"
IN_DEPTH = "NVIDIA, Ampere (2020) and Hopper (2022) Architecture In-Depth"


class Row(NamedTuple):
    """A case: what the literature says of it, what `here` computes, and within what share both must agree.

    `form`: how both are written. `miss`: why they differ by more than the literature's rounding, if they do.
    """

    idea: str
    case: str
    said: float
    here: Callable[[], float]
    source: str
    form: str = "{:,.0f}"
    within: float = 0.0
    miss: str = ""


def share(blocks: Occupancy) -> float:
    return 100 * blocks.share


def most_shared(device: str) -> int:
    """KiB that a thread block can have at most."""
    return max(kib for kib in range(1, 512) if occupancy(device, 128, 32, 1024 * kib).residents)


def most_registers(device: str) -> int:
    """Registers that each thread can have where an SM is full."""
    return max(count for count in range(1, 256) if occupancy(device, 1024, count).share == 1)


def diverging(values: int, warps: int) -> int:
    """Warps of which some lanes have a value to work on, and some have none."""
    lanes = divergence.WARP
    ways = ([int(warp * lanes + lane < values) for lane in range(lanes)] for warp in range(warps))
    return sum(len(divergence.branch(each, [1, 1]).masks) > 1 for each in ways)


def intensity(m: int, n: int, k: int) -> float:
    """FLOP a byte of a product in fp16, each operand moved once."""
    return 2 * m * n * k / product_bytes(m, n, k, "fp16")


def wavefronts(stride: int) -> int:
    """Beats of a warp's access to words so far apart."""
    return reduction.wavefronts(stride * np.arange(reduction.WARP))


def tree_gain() -> float:
    """How many times the wavefronts at banks for halves first a block of 128 takes for neighbours first."""
    trees = [reduction.work(tree(128)) for tree in (reduction.interleaved, reduction.sequential)]
    slow, fast = (one.load_wavefronts + one.store_wavefronts for one in trees)
    return slow / fast


def trees_saved() -> float:
    """How many times fewer trees there are where a block adds two values a thread while it loads."""
    return (2**22 // 128) / (2**22 // (2 * 128))


def tiles(m: int, n: int, tile_m: int = 128) -> int:
    """Of tile_m x 128."""
    return Problem(m, n, 64, tile=(tile_m, 128, 64)).tiles


def waves(m: int, n: int) -> int:
    """Of tiles of 256 x 128 on an A100's 108 SMs."""
    return simulate("naive", Problem(m, n, 64, tile=(256, 128, 64)), Device(108), Costs.ideal()).waves


def utilisation(schedule: str, tile_n: int = 128) -> float:
    problem = Problem(384, 384, 128, tile=(128, tile_n, 4))
    return 100 * simulate(schedule, problem, Device(4), Costs.ideal()).utilization


def arithmetic_threads(cycles: int, lanes: int, chains: int = 1) -> float:
    """Threads that keep so many lanes busy whose results take so many cycles, with independent chains."""
    return latency_hiding.enough(cycles, chains) * latency_hiding.in_flight(lanes, 1)


def memory_bytes() -> float:
    """KB on their way in a GTX 480, at its 1,401 MHz."""
    return latency_hiding.in_flight(177, 800 / 1.401) / 1000


def blocks_of_nine(order: str) -> int:
    """Blocks of A and B for the first nine of 9 x 9 tiles."""
    first = orders.row_major(9, 9) if order == "row-major" else orders.grouped(9, 9, 3)
    return int(l2_order.blocks(first[:9], 9, 9)[-1].sum())


def warps_for_arithmetic() -> int:
    """Warps on an SM whose schedulers always find one that is ready."""
    fewest = next(warps for warps in range(1, 17) if loop_unrolling.cycles(1, warps) == 1)
    return fewest * loop_unrolling.PARTITIONS


def register_file(device: str) -> float:
    return memory_hierarchy.levels(device)[0].size / 1024


def a100_chain() -> float:
    """Unary functions in fp32 from which on arithmetic binds, at 19.5 TFLOP/s and 1.5 TB/s."""
    return fusion.ridge(fusion.Memory(1500, 1e5, 0, 19.5, 0))


def chain_gain() -> float:
    both = [fusion.Chain(2**26, 2, kernels) for kernels in (2, 1)]
    return both[0].moved / both[1].moved


ROWS = (
    Row("execution model", "V100, blocks of 128 threads, 37 registers: occupancy, %", 75,
        lambda: share(occupancy("v100", 128, 37)), BEST_PRACTICES),
    Row("execution model", "the same: blocks on an SM", 12,
        lambda: occupancy("v100", 128, 37).residents, BEST_PRACTICES),
    Row("execution model", "V100, blocks of 320 threads, 37 registers: occupancy, %", 63,
        lambda: share(occupancy("v100", 320, 37)), BEST_PRACTICES, "{:.3g}", 0.01),
    Row("execution model", "V100: registers of a thread where an SM is full", 32,
        lambda: most_registers("v100"), BEST_PRACTICES),
    Row("execution model", "compute capability 8.0: KB of shared memory for a block", 163,
        lambda: most_shared("a100"), PROGRAMMING),
    Row("execution model", "compute capability 9.0: the same", 227,
        lambda: most_shared("h100"), PROGRAMMING),
    Row("coalescing", "32 neighbours of 4 bytes: sectors", 4,
        lambda: coalescing.moved(coalescing.strided(4), 4).sectors, BEST_PRACTICES),
    Row("coalescing", "the same, not aligned: sectors", 5,
        lambda: coalescing.moved(coalescing.strided(4, start=4), 4).sectors, BEST_PRACTICES),
    Row("coalescing", "every second: sectors", 8,
        lambda: coalescing.moved(coalescing.strided(8), 4).sectors, BEST_PRACTICES),
    Row("coalescing", "every second: useful, %", 50,
        lambda: 100 * coalescing.moved(coalescing.strided(8), 4).useful, BEST_PRACTICES),
    Row("coalescing", "large strides: sectors", 32,
        lambda: coalescing.moved(coalescing.strided(128), 4).sectors, BEST_PRACTICES),
    Row("divergence", "if (i < 100) on 4 warps: warps that diverge", 1, lambda: diverging(100, 4), PMPP),
    Row("divergence", "if (i < 1000) on 32 warps: warps that diverge", 1, lambda: diverging(1000, 32), PMPP),
    Row("latency hiding", "G80, 24 cycles, 8 lanes: threads of an SM for full rate", 192,
        lambda: arithmetic_threads(24, 8), VOLKOV),
    Row("latency hiding", "GF100, 18 cycles, 32 lanes: threads for full rate", 576,
        lambda: arithmetic_threads(18, 32), VOLKOV),
    Row("latency hiding", "GF104, 18 cycles, 48 lanes: threads for full rate", 864,
        lambda: arithmetic_threads(18, 48), VOLKOV),
    Row("latency hiding", "GF100, 2 independent instructions: threads, measured", 320,
        lambda: arithmetic_threads(18, 32, 2), VOLKOV, within=0.11,
        miss="the least number at which his curve is at its top; the law says when it could be"),
    Row("latency hiding", "GTX 480, 800 cycles, 177 GB/s: KB on their way", 100, memory_bytes, VOLKOV,
        within=0.02),
    Row("latency hiding", "the same, 4 bytes a thread: threads", 25_000, lambda: 1000 * memory_bytes() / 4,
        VOLKOV, within=0.02),
    Row("loop unrolling", "results after 4 cycles: warps on an SM that hide them", 16,
        warps_for_arithmetic, PROGRAMMING),
    Row("memory hierarchy", "registers of a V100, KB", 20_480, lambda: register_file("v100"), IN_DEPTH),
    Row("memory hierarchy", "registers of an A100, KB", 27_648, lambda: register_file("a100"), IN_DEPTH),
    Row("memory hierarchy", "registers of an H100, KB", 33_792, lambda: register_file("h100"), IN_DEPTH),
    Row("reduction", "words next to each other: queue at a bank", 1, lambda: wavefronts(1), PROGRAMMING),
    Row("reduction", "every second word: queue at a bank", 2, lambda: wavefronts(2), PROGRAMMING),
    Row("reduction", "every third word: queue at a bank", 1, lambda: wavefronts(3), PROGRAMMING),
    Row("reduction", "a column of 32 x 32 words: queue at a bank", 32, lambda: wavefronts(32), TRANSPOSE),
    Row("reduction", "a column of 32 x 33 words: queue at a bank", 1, lambda: wavefronts(33), TRANSPOSE),
    Row("reduction", "halves first instead of neighbours first on a G80: times as fast", 2.01, tree_gain,
        HARRIS, "{:.2f}", 0.3, "a G80 has 16 banks, and more to do than queue at them"),
    Row("reduction", "two values a thread while loading: times as fast", 1.78, trees_saved, HARRIS,
        "{:.2f}", 0.13, "half as many trees, but as many loads"),
    Row("L2 order", "nine of 9 x 9 tiles in a row: blocks loaded", 90,
        lambda: blocks_of_nine("row-major"), TRITON),
    Row("L2 order", "the same in groups of three rows: blocks loaded", 54,
        lambda: blocks_of_nine("grouped"), TRITON),
    Row("tiling hierarchy", "wgmma in bf16: K", 16,
        lambda: tiling_hierarchy.instruction(256, "bf16")[2], PTX),
    Row("tiling hierarchy", "wgmma in tf32: K", 8, lambda: tiling_hierarchy.instruction(256, "tf32")[2], PTX),
    Row("tiling hierarchy", "wgmma in fp8: K", 32, lambda: tiling_hierarchy.instruction(256, "fp8")[2], PTX),
    Row("roofline", "8192 x 128 x 8192 in fp16: FLOP a byte", 124.1,
        lambda: intensity(8192, 128, 8192), MATMUL, "{:,.1f}", 0.001),
    Row("roofline", "8192 x 8192 x 8192 in fp16: FLOP a byte", 2730,
        lambda: intensity(8192, 8192, 8192), MATMUL, within=0.001),
    Row("roofline", "a layer of 1,024 to 4,096, batch of 512: FLOP a byte", 315,
        lambda: intensity(512, 4096, 1024), GPU_GUIDE, within=0.001),
    Row("roofline", "the same, batch of 1: FLOP a byte", 1,
        lambda: intensity(1, 4096, 1024), GPU_GUIDE, within=0.01),
    Row("roofline", "V100, 125 TFLOP/s at 900 GB/s: ridge", 138.9, lambda: ridge(125, 900), MATMUL,
        "{:.1f}", 0.001),
    Row("fusion", "relu in fp16: FLOP a byte", 0.25,
        lambda: fusion.Chain(2**20, 1, 1, width=2).intensity, GPU_GUIDE, "{:.2f}"),
    Row("fusion", "x.cos().cos() as one kernel: times fewer bytes", 2, chain_gain, BRRR),
    Row("fusion", "A100: functions until arithmetic binds", 100, a100_chain, BRRR, within=0.05,
        miss="the source says about a hundred"),
    Row("wave quantisation", "2304 x 1536 in tiles of 256 x 128: tiles, a wave of an A100", 108,
        lambda: tiles(2304, 1536, tile_m=256), MATMUL),
    Row("wave quantisation", "two tiles a row, and 0.39 % more: times the work", 1.5,
        lambda: tiles(256, 257) / tiles(256, 256), MATMUL, "{:.1f}"),
    Row("wave quantisation", "A100, 1792 x 1792: waves", 1, lambda: waves(1792, 1792), SHAPES),
    Row("wave quantisation", "A100, 1793 x 1793: waves", 2, lambda: waves(1793, 1793), SHAPES),
    Row("stream-k", "384 x 384 x 128 on 4 SMs, tiles of 128 x 128: utilisation, %", 75,
        lambda: utilisation("naive"), STREAM_K),
    Row("stream-k", "the same, tiles of 128 x 64, %", 90, lambda: utilisation("naive", 64), STREAM_K),
    Row("stream-k", "the same as the first, split in 2 along K, %", 90,
        lambda: utilisation("split-k:2"), STREAM_K),
    Row("stream-k", "the same by Stream-K, %", 100, lambda: utilisation("stream-k"), STREAM_K),
)  # fmt: skip


def figures() -> dict[str, str]:
    """What the pages take from here, by name."""
    lines = [
        (one.idea, one.case, one.form.format(one.said), one.form.format(one.here()), one.source, one.miss)
        for one in ROWS
    ]
    head = ("idea", "case", "literature", "here", "source", "why they differ")
    return {"literature_table": markdown_of(head, lines)}
