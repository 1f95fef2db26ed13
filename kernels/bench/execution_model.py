"""execution_model: what an SM holds at once, and of which kernels."""

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from tilesim.problems import Problem
from tilesim.products import Product

from ..errors import KernelError
from ..gemm.jobs import job
from ..gemm.stamps import WORDS
from ..launch.here import on_this_machine
from ..launch.named import named
from ..launch.operands import gpu_memory, matrices
from ..measure.machine import device, measuring
from ..measure.reference import verify_result
from ..probes.spin import blocks, launch, residents, shared_kb, stamp_buffer

TILES = ((64, 64, 64), (128, 64, 64), (128, 128, 64), (128, 256, 64))
LOADS = ("ptr", "tma")
STAGES = 3
SIZE = 4096, 4096, 512

METHOD = (
    "residents: blocks that only spin, one more for each SM than the driver says that fit; seen: the most of"
    " an SM that began before its first ended. kernels: naive products of {}x{}x{} in bf16 with {stages}"
    " stages, checked against float64; seen: the most main loops and writes of an SM at an instant"
)


@measuring
def execution_model() -> dict[str, Any]:
    """In "rows" blocks that only spin, see `counted`; in "kernels" matrix products: name, tile, warps, stages
    and the same."""
    return {
        "method": METHOD.format(*SIZE, stages=STAGES),
        "rows": counted(),
        "kernels": [kernel_row(tile, loads) for loads in LOADS for tile in TILES],
    }


def kernel_row(tile: tuple[int, int, int], loads: str) -> dict[str, Any]:
    """What a compiled product needs, and how many of its blocks an SM was seen to hold."""
    problem = Problem(*SIZE, tile=tile)
    product = Product.of(problem)
    config, _ = on_this_machine(named(f"naive-{loads}", problem, stages=STAGES), product)
    with gpu_memory(product):
        operands = matrices(product, "cuda", 0)
        stamps = torch.zeros(problem.tiles, WORDS, dtype=torch.int64, device="cuda")
        launch = job(config, product, device(1)).launcher(operands, stamps)
        verify_result(config.name, launch, product, operands)
        resources = resources_of(launch.compile(), 32 * config.warps)
        stamps.zero_()
        launch()
        sm, start, done = stamps.cpu().numpy()[:, [1, 2, 6]].T
    about = {"name": config.name, "tile": list(tile), "warps": config.warps, "stages": config.stages}
    return about | resources | {"seen": at_once(sm, start, done)}


def at_once(sm: np.ndarray, start: np.ndarray, done: np.ndarray) -> int:
    """The most of an SM's blocks that ran at an instant, by their times.

    >>> at_once(np.array([0, 0, 1]), np.array([0, 5, 0]), np.array([6, 9, 9]))
    2
    """
    when = np.concatenate([start, done])
    steps = np.repeat([1, -1], len(sm))
    most = 0
    for one in np.unique(sm):
        here = np.tile(sm == one, 2)
        order = np.lexsort((steps[here], when[here]))  # who leaves at an instant leaves first
        most = max(most, int(np.cumsum(steps[here][order]).max()))
    return most


THREADS = (32, 64, 128, 256, 512, 1024)
REGISTERS = (32, 40, 56, 64, 72, 88, 96, 128, 168, 216)
"""Some fill the register file, and some leave a rest in each of an SM's four parts."""

SHARED_KB = (0, 1, 6, 18, 37, 38, 56, 57, 75, 76, 113, 114, 200, 227)
"""In pairs of which the first just fits an SM of 228 KB a whole number of times, with 1 KB reserved each."""


def sweep() -> Iterator[tuple[int, int, int]]:
    """(threads, registers, shared KB) of each launch; 0 registers are as few as the kernel needs."""
    for threads in THREADS:
        yield from ((threads, registers, 0) for registers in REGISTERS if registers * threads <= 65536)
        yield from ((threads, 0, kb) for kb in SHARED_KB)
    yield from ((threads, 128, kb) for threads in (128, 256) for kb in (18, 57, 113))


def counted() -> list[dict[str, int]]:
    """A row for each launch of the sweep that fits this GPU: threads, registers (of a thread, as compiled),
    shared_bytes, driver (residents by the driver's count) and seen (as stamped). Raises KernelError where a
    block did not stamp, or the driver does not answer."""
    rows, sms = [], torch.cuda.get_device_properties().multi_processor_count
    for threads, registers, kb in sweep():
        if kb > shared_kb():
            continue
        warps = threads // 32
        made = launch(stamp_buffer(1, 1, warps)[0], 0, kb=kb, registers=registers)
        resources = resources_of(made, threads)
        stamps = stamp_buffer(1, (resources["driver"] + 1) * sms, warps)
        launch(stamps[0], 60_000, kb=kb, registers=registers)  # longer than it takes to fill every SM
        rows.append(resources | {"seen": residents(blocks(stamps)[0])})
    return rows


def resources_of(made: Any, threads: int) -> dict[str, int]:
    """Of a compiled kernel: threads and shared_bytes of a block, registers of a thread, and how many blocks
    an SM holds by the driver's count. Raises KernelError where the driver refuses."""
    found, shared = ctypes.c_int(), int(made.metadata.shared)
    status = ctypes.CDLL("libcuda.so.1").cuOccupancyMaxActiveBlocksPerMultiprocessor(
        ctypes.byref(found), ctypes.c_void_p(made.function), threads, ctypes.c_size_t(shared)
    )
    if status:
        raise KernelError(f"the driver does not say how many blocks of {threads} threads fit (CUDA {status})")
    registers = int(made.n_regs)
    return {"threads": threads, "registers": registers, "shared_bytes": shared, "driver": found.value}
