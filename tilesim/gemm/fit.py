"""What fits: the rules that hold for every kernel, and how many of its thread blocks an SM holds."""

from dataclasses import dataclass, replace
from functools import cache

from tilesim.devices.device import Device
from tilesim.devices.facts import REFERENCE, values
from tilesim.devices.occupancy import occupancy
from tilesim.devices.presets import facts
from tilesim.gemm import kernel_of
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product
from tilesim.text import base_name

BARRIER_BYTES = 1024
"""Shared memory set aside for mbarriers and for what Triton itself keeps there."""
RESERVED_BYTES = 1024
"""Shared memory that the system reserves for each thread block (CUDA C++ Programming Guide, table 30)."""
OTHER_REGISTERS = 56
"""Of a thread beside its accumulators: addresses, operands on their way, the loop."""
MAX_SIZE = 2**30
"""Rows and columns are indexed with 32 bits."""
SHORTEST = 16
"""A tile's side at least."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a GPU has: `block_bytes` of shared memory for a thread block, `sm_bytes` for an SM, `features`."""

    block_bytes: int
    sm_bytes: int
    features: tuple[str, ...]

    def shared_bytes(self, residents: int = 1) -> int:
        """Bytes that each of so many thread blocks on an SM can have, beside those for barriers."""
        return min(self.block_bytes, self.sm_bytes // residents - RESERVED_BYTES) - BARRIER_BYTES


@cache
def limits_of(preset: str) -> Limits:
    """Those of a preset; "" is an H200, as a device without a name is so many of its SMs."""
    known = values(facts(preset or REFERENCE))
    block, sm = known["shared_kib_per_block"], known["shared_kib_per_sm"]
    return Limits(1024 * block, 1024 * sm, tuple(known["features"]))


def why_not(config: KernelConfig, product: Product, limits: Limits | None = None) -> str:
    """Why a kernel cannot compute a product so, in a sentence; "" if it can.

    Without `limits` nothing is said about what a GPU lacks. Raises KernelConfigError for an unknown kernel.
    """
    kernel = kernel_of(config)
    schedule = base_name(config.schedule)
    if kernel.schedules and schedule not in kernel.schedules:
        return f"{config.kernel} runs {', '.join(kernel.schedules)}; the schedule is {config.schedule}"
    if product.dtype not in kernel.dtypes:
        return f"{config.kernel} multiplies {', '.join(kernel.dtypes)}; the dtype is {product.dtype}"
    if product.dtype in kernel.along_k and product.layout != "nt":
        return f"{config.kernel} multiplies {product.dtype} along K: A row-major and B column-major"
    m, n, k = config.tile
    odd_m, odd_n = kernel.odd_sides
    for name, side, odd in (("tile_m", m, odd_m), ("tile_n", n, odd_n), ("tile_k", k, ())):
        if side < SHORTEST or (side & (side - 1) and side not in odd):
            sides = f"the sides of {config.kernel}'s tiles must be powers of two from {SHORTEST}"
            return f"{name} is {side}; {sides}"
    for name, size in (("M", product.m), ("N", product.n), ("K", product.k)):
        if size > MAX_SIZE:
            return f"{name} is {size}; the kernels allow sizes up to {MAX_SIZE}"
    for name, rows, columns in (("A", m, product.k), ("B", k, product.n), ("C", m, product.n)):
        if rows * columns >= 2**31:
            return f"{rows} rows of {name} have {rows * columns} elements; 2^31 or more are too many"
    why = kernel.why_not(config, product)
    if why or not limits:
        return why
    needs = {*kernel.features, "tma"} if config.loads == "tma" else {*kernel.features}
    if lacking := needs - set(limits.features):
        return f"{config.kernel} needs {' and '.join(sorted(lacking))}, which this GPU lacks"
    # Triton lays out the stages of its own pipelines, and says itself if they do not fit.
    needed = kernel.shared_bytes(config, product) if kernel.warp_specialized else 0
    if needed > limits.shared_bytes():
        return (
            f"{config.kernel} needs {needed} bytes of shared memory for {config.stages} stages of"
            f" {'x'.join(map(str, config.tile))}, and this GPU has {limits.shared_bytes()}; take fewer stages"
            " or smaller tiles"
        )
    return ""


def stages_that_fit(config: KernelConfig, product: Product, available: int) -> int:
    """How many stages fit into so many bytes of shared memory; 0 if not even one does."""
    kernel = kernel_of(config)
    none, one = (kernel.shared_bytes(replace(config, stages=stages), product) for stages in (0, 1))
    return max(0, (available - none) // (one - none))


def residents(config: KernelConfig, product: Product, device: Device) -> int:
    """Thread blocks that an SM runs at once: all that fit if there is one for each tile, else one."""
    fit = _fit(config, product.dtype, product.layout, device.name or REFERENCE)
    return fit if base_name(config.schedule) == "naive" else min(fit, 1)


@cache
def _fit(config: KernelConfig, dtype: str, layout: str, preset: str) -> int:
    kernel, product = kernel_of(config), Product(1, 1, 1, dtype, layout)
    threads = 32 * config.warps * kernel.groups(config)
    registers = config.tile[0] * config.tile[1] // threads + OTHER_REGISTERS
    shared = kernel.shared_bytes(config, product) + BARRIER_BYTES
    return occupancy(preset, threads, registers, shared).residents
