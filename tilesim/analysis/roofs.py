"""Roofs: the bandwidth of each level of a GPU's memory, which limits a kernel of a given intensity.

S. Williams, A. Waterman, D. Patterson, Roofline (2009); A. Ilic, F. Pratas, L. Sousa, Cache-aware Roofline
Model (2014).
"""

from typing import NamedTuple

from tilesim.devices.presets import presets
from tilesim.errors import DeviceError
from tilesim.problems import DTYPE_BYTES


class Roof(NamedTuple):
    """A memory level, its bandwidth in 10⁹ bytes per second, and whether that was measured or computed."""

    level: str
    gb_per_s: float
    measured: bool


class Spot(NamedTuple):
    """A kernel on a roofline: FLOP per byte, and TFLOP/s."""

    name: str
    intensity: float
    tflops: float


def roofs(device: str) -> tuple[Roof, ...]:
    """The roofs of a preset, lowest first. Raises DeviceError if its rates are unknown."""
    preset = presets().get(device, {})
    rates = {"DRAM": "dram_read_gb_per_s", "L2": "l2_gb_per_s"}
    if not set(rates.values()) <= set(preset):
        raise DeviceError(f"the memory rates of {device!r} are unknown, so it has no roofs")
    shared = preset["shared_bytes_per_clock"] * preset["sms"] * preset["max_sm_mhz"] / 1000
    read = [Roof(level, preset[name], True) for level, name in rates.items()]
    return (*read, Roof("shared memory", shared, False))


def product_bytes(m: int, n: int, k: int, dtype: str) -> int:
    """The minimum traffic of a product: A and B read once, C written once."""
    return (m * k + k * n + m * n) * DTYPE_BYTES[dtype]


def spot(name: str, flops: float, moved: float, us: float) -> Spot:
    """The spot of a kernel that did `flops` in `us` with `moved` bytes."""
    return Spot(name, flops / moved, flops / us / 1e6)
