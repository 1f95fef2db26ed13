"""Roofs: the bandwidth of each level of a GPU's memory, which limits a kernel of a given intensity.

S. Williams, A. Waterman, D. Patterson, Roofline (2009); A. Ilic, F. Pratas, L. Sousa, Cache-aware Roofline
Model (2014).
"""

from typing import NamedTuple

from tilesim.devices.presets import presets
from tilesim.errors import DeviceError
from tilesim.problems import DTYPE_BYTES


class Roof(NamedTuple):
    """A memory level and its bandwidth in 10⁹ bytes per second."""

    level: str
    gb_per_s: float


class Spot(NamedTuple):
    """A kernel on a roofline: FLOP per byte, and TFLOP/s."""

    intensity: float
    tflops: float


def roofs(device: str) -> tuple[Roof, ...]:
    """The roofs of a preset, lowest first: DRAM and L2 as measured, shared memory as computed. Raises
    DeviceError if its rates are unknown."""
    preset = presets().get(device, {})
    if not {"dram_read_gb_per_s", "l2_gb_per_s"} <= set(preset):
        raise DeviceError(f"the memory rates of {device!r} are unknown, so it has no roofs")
    shared = preset["shared_bytes_per_clock"] * preset["sms"] * preset["max_sm_mhz"] / 1000
    dram, l2 = preset["dram_read_gb_per_s"], preset["l2_gb_per_s"]
    return Roof("DRAM", dram), Roof("L2", l2), Roof("shared memory", shared)


def product_bytes(m: int, n: int, k: int, dtype: str) -> int:
    """The minimum traffic of a product: A and B read once, C written once."""
    return (m * k + k * n + m * n) * DTYPE_BYTES[dtype]
