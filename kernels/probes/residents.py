"""residents: how many thread blocks an SM holds at once, as counted by stamps, and as the driver says.

Blocks that only spin, of given threads, registers and shared memory, one more for each SM than the driver
says that fit: where they did not bind the SM, the one more would be seen.
"""

import ctypes
from collections.abc import Iterator
from typing import Any

import torch

from ..errors import KernelError
from .spin import blocks, launch, residents, shared_kb, stamp_buffer

THREADS = (32, 64, 128, 256, 512, 1024)
REGISTERS = (32, 40, 56, 64, 72, 88, 96, 128, 168, 216)
"""Some fill the register file, and some leave a rest in each of an SM's four parts."""

SHARED_KB = (0, 1, 6, 18, 37, 38, 56, 57, 75, 76, 113, 114, 200, 227)
"""In pairs of which the first just fits an SM of 228 KB a whole number of times, with 1 KB reserved each."""

SM_REGISTERS = 65536
CYCLES = 60_000
"""Longer than a launch takes to fill every SM."""


def sweep() -> Iterator[tuple[int, int, int]]:
    """(threads, registers, shared KB) of each launch; 0 registers are as few as the kernel needs."""
    for threads in THREADS:
        yield from ((threads, registers, 0) for registers in REGISTERS if registers * threads <= SM_REGISTERS)
        yield from ((threads, 0, kb) for kb in SHARED_KB)
    yield from ((threads, 128, kb) for threads in (128, 256) for kb in (18, 57, 113))


def counted() -> list[dict[str, int]]:
    """A row for each launch of the sweep that fits this GPU: threads, registers (of a thread, as compiled),
    shared_bytes, driver (residents by the driver's count) and seen (as stamped).

    Raises KernelError where a block did not stamp, or the driver does not answer.
    """
    most, rows = shared_kb(), []
    for threads, registers, kb in sweep():
        if kb <= most:
            rows.append(_row(threads, registers, kb))
    return rows


def _row(threads: int, registers: int, kb: int) -> dict[str, int]:
    warps, sms = threads // 32, torch.cuda.get_device_properties().multi_processor_count
    made = launch(stamp_buffer(1, 1, warps)[0], 0, kb=kb, registers=registers)
    resources = resources_of(made, threads)
    stamps = stamp_buffer(1, (resources["driver"] + 1) * sms, warps)
    launch(stamps[0], CYCLES, kb=kb, registers=registers)
    return resources | {"seen": residents(blocks(stamps)[0])}


def resources_of(made: Any, threads: int) -> dict[str, int]:
    """Of a compiled kernel: threads and shared_bytes of a block, registers of a thread, and driver."""
    shared = int(made.metadata.shared)
    return {
        "threads": threads,
        "registers": int(made.n_regs),
        "shared_bytes": shared,
        "driver": driver_residents(made.function, threads, shared),
    }


def driver_residents(function: int, threads: int, shared_bytes: int) -> int:
    """Thread blocks of a kernel that an SM holds, as cuOccupancyMaxActiveBlocksPerMultiprocessor counts.

    Raises KernelError where the driver refuses.
    """
    found = ctypes.c_int()
    status = ctypes.CDLL("libcuda.so.1").cuOccupancyMaxActiveBlocksPerMultiprocessor(
        ctypes.byref(found), ctypes.c_void_p(function), threads, ctypes.c_size_t(shared_bytes)
    )
    if status:
        raise KernelError(f"the driver does not say how many blocks of {threads} threads fit (CUDA {status})")
    return found.value
