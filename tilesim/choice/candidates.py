"""candidates: which kernels can compute a product on a device at all, each with the tile and order for it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tilesim.choice.kernels import KERNELS, LINE, ORDER, Kernel
from tilesim.devices.device import Device
from tilesim.devices.facts import REFERENCE, values
from tilesim.devices.occupancy import occupancy
from tilesim.devices.presets import facts
from tilesim.problems import DTYPE_BYTES, MAX_TILES, Problem
from tilesim.variants import Variant

TMA_BYTES = 16
"""TMA's row strides are multiples of this (CUDA driver API, cuTensorMapEncodeTiled)."""

BARRIER_BYTES = 1024
"""Shared memory set aside for mbarriers and for what Triton itself keeps there."""

RESERVED_BYTES = 1024
"""Shared memory that the system reserves for each thread block (CUDA C++ Programming Guide, table 30)."""

MAX_ACCUMULATORS = 128
"""fp32 accumulators of a thread; with more, an epilogue runs out of registers."""

OTHER_REGISTERS = 56
"""Of a thread beside its accumulators: addresses, operands on their way, the loop."""

SHORTEST = 16
"""A tile's side at least; a matrix may be narrower."""

FULL_SIDE = 64
"""Tiles with a shorter side are for matrices that are as narrow: a wgmma has 64 rows."""

BIG_SIDE, FEW = 128, 4
"""Where there are more than FEW waves of tiles, one with a side below BIG_SIDE asks for too many bytes."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A kernel that can compute a product: `variant` with warps and stages, `problem` with tile and order.

    `residents`: thread blocks of it that an SM runs at once, 1 of a persistent kernel.
    """

    variant: Variant
    problem: Problem
    residents: int


@dataclass(frozen=True, slots=True)
class Limits:
    """What a `device` has, and the bytes of shared memory that a thread block of it may have."""

    device: str
    shared_bytes: int
    features: tuple[str, ...]

    @classmethod
    def of(cls, device: Device) -> "Limits":
        """Those of a preset; a device without a name is so many SMs of an H200."""
        name = device.name or REFERENCE
        known = values(facts(name))
        block, sm = known["shared_kib_per_block"] * 1024, known["shared_kib_per_sm"] * 1024
        return cls(name, min(block, sm - RESERVED_BYTES), tuple(known["features"]))


def candidates(problem: Problem, device: Device, layout: str = "nn", loads: str = "") -> Iterator[Candidate]:
    """What might be the fastest for the sizes and dtype of `problem`; its own tile and order count nothing.

    `layout`: A and B row-major (n) or column-major (t). `loads`: "tma" or "ptr"; by default TMA where rows
    are aligned for it and the device has it. Left out is what cannot fit, into shared memory or registers or
    below TMA; what is wasteful: tiles twice as large as the matrix, more stages than K-steps; and what comes
    to the same.

    >>> few = list(candidates(Problem(64, 64, 64), Device(132)))
    >>> {one.problem.tile for one in few} >= {(64, 64, 64)}, max(one.variant.stages for one in few)
    (True, 1)
    """
    limits = Limits.of(device)
    loads = loads or ("tma" if "tma" in limits.features and not unaligned(problem, layout) else "ptr")
    seen = set()
    for kernel in KERNELS:
        if _suits(kernel, problem, layout, loads, limits):
            for tiled, warps in _tiles(kernel, problem):
                for one in _scheduled(kernel, tiled, warps, device, limits):
                    if one not in seen:
                        seen.add(one)
                        yield one


def unaligned(problem: Problem, layout: str) -> str:
    """Why TMA cannot load and store the dense matrices of this product; empty where it can."""
    size = DTYPE_BYTES[problem.dtype]
    rows = (
        ("A", problem.k if layout[0] == "n" else problem.m, size),
        ("B", problem.n if layout[1] == "n" else problem.k, size),
        ("C", problem.n, result_bytes(problem.dtype)),
    )
    for name, length, each in rows:
        if length * each % TMA_BYTES:
            return f"{name}'s lines have {length * each} bytes, and TMA needs a multiple of {TMA_BYTES}"
    return ""


def result_bytes(dtype: str) -> int:
    """Bytes of an element of C, which is bf16 where A and B are fp8."""
    return max(2, DTYPE_BYTES[dtype])


def shared_bytes(kernel: Kernel, problem: Problem, stages: int) -> int:
    """Bytes of shared memory of a thread block."""
    c = problem.tile_m * problem.tile_n * result_bytes(problem.dtype)
    return stages * problem.k_step_bytes + int(c * kernel.c_part) + BARRIER_BYTES


def _suits(kernel: Kernel, problem: Problem, layout: str, loads: str, limits: Limits) -> bool:
    along_k = problem.dtype not in kernel.k_major or layout == "nt"
    features = set(kernel.needs) <= set(limits.features)
    return kernel.variant.loads == loads and problem.dtype in kernel.dtypes and features and along_k


def _tiles(kernel: Kernel, problem: Problem) -> Iterator[tuple[Problem, int]]:
    """(the problem in a tile of the kernel that is not wasteful for it, warps)."""
    size, sizes = DTYPE_BYTES[problem.dtype], (problem.m, problem.n, problem.k)
    for m, n, lines, warps in kernel.tiles:
        k = lines * LINE // size
        if k >= 2 * problem.k:
            if lines > 1:
                continue
            k = max(SHORTEST, k // 4)
        rows, columns, steps = (-(-size // side) for size, side in zip(sizes, (m, n, k), strict=True))
        fits = (
            m * n <= MAX_ACCUMULATORS * 32 * warps * kernel.groups
            and rows * columns <= MAX_TILES
            and steps < MAX_TILES
        )
        if fits and rows <= kernel.rows and _reasonable(m, problem.m, kernel) and _reasonable(n, problem.n):
            yield replace(problem, tile=(m, n, k), order=ORDER), warps


def _reasonable(side: int, size: int, kernel: Kernel | None = None) -> bool:
    """Whether a tile's side wastes less than half of itself, and is long or made for a matrix so narrow."""
    narrow = side >= FULL_SIDE or side >= size or (kernel is not None and kernel.rows < MAX_TILES)
    return side == SHORTEST >= size or (side < 2 * size and narrow)


def _scheduled(
    kernel: Kernel, tiled: Problem, warps: int, device: Device, limits: Limits
) -> Iterator[Candidate]:
    free = device.sms - device.busy_sms
    waves = tiled.tiles / free
    if waves <= 1 and not kernel.one_wave:
        return
    if waves > FEW and min(tiled.tile[:2]) < BIG_SIDE and min(tiled.m, tiled.n) >= 2 * BIG_SIDE:
        return
    fit = max(0, (limits.shared_bytes - shared_bytes(kernel, tiled, 0)) // tiled.k_step_bytes)
    for stages in sorted({min(most, fit, tiled.k_steps) for most in kernel.stages} - {0}):
        residents = _residents(kernel, tiled, warps, stages, limits)
        for schedule in schedules(kernel.variant.schedule, tiled, free * residents) if residents else ():
            yield Candidate(
                replace(kernel.variant, schedule=schedule, warps=warps, stages=stages), tiled, residents
            )


def _residents(kernel: Kernel, tiled: Problem, warps: int, stages: int, limits: Limits) -> int:
    """Thread blocks that an SM runs at once: all that fit where there is one for each tile, else one."""
    threads = 32 * warps * kernel.groups
    registers = tiled.tile_m * tiled.tile_n // threads + OTHER_REGISTERS
    shared = shared_bytes(kernel, tiled, stages)
    fit = occupancy(limits.device, threads, registers, shared).residents
    return fit if kernel.variant.schedule == "naive" else min(fit, 1)


MOST_SPLIT_WAVES = 8
"""With more waves the last one is too small a part to be worth splitting."""

FEWEST_STEPS = 4
"""K-steps of a thread block that shares a tile, at least."""


def schedules(schedule: str, tiled: Problem, slots: int) -> list[str]:
    """The schedules of a kernel under `schedule` that make a difference on so many slots.

    Tiles are split where they would leave slots idle: a few waves and a rest by stream-k-hybrid; less than
    one wave by stream-k, among all slots, or by as many thread blocks for each tile as there are, or half of
    them.

    >>> schedules("stream-k", Problem(64, 4096, 4096, (64, 64, 64)), 132)
    ['stream-k:132', 'stream-k:128']
    """
    tiles, steps = tiled.tiles, tiled.k_steps
    name, _, parts = schedule.partition(":")
    if name == "stream-k":
        each = slots // tiles
        counts = dict.fromkeys((slots, each * tiles, each // 2 * tiles))
        return [f"{name}:{ctas}" for ctas in counts if ctas > tiles and tiles * steps >= FEWEST_STEPS * ctas]
    if name == "stream-k-hybrid":
        useful = slots < tiles < MOST_SPLIT_WAVES * slots and tiles % slots
        return [schedule] if useful and steps >= FEWEST_STEPS else []
    if name == "split-k":
        return [schedule] if tiles * int(parts) <= slots and steps >= FEWEST_STEPS * int(parts) else []
    return [schedule]
