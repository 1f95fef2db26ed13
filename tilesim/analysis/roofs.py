"""Roofs: what each level of a GPU's memory allows a kernel, by the arithmetic it does for a byte there.

S. Williams, A. Waterman, D. Patterson, Roofline (2009); one for each level: A. Ilic, F. Pratas, L. Sousa,
Cache-aware Roofline Model (2014).
"""

from typing import NamedTuple

from tilesim.devices.presets import presets
from tilesim.errors import DeviceError
from tilesim.problems import DTYPE_BYTES


class Roof(NamedTuple):
    """A level of memory, the bytes that it gives in a second, in units of 10⁹, and whether that was measured.

    What was not measured was counted from what the hardware is: bytes a clock, times SMs, times clock.
    """

    level: str
    gb_per_s: float
    measured: bool


class Spot(NamedTuple):
    """Where a kernel is on a roofline: FLOP for each byte, and TFLOP/s."""

    name: str
    intensity: float
    tflops: float


def roofs(device: str) -> tuple[Roof, ...]:
    """The roofs of a preset, from the lowest to the highest.

    Raises DeviceError where its rates are not known.

    >>> [(roof.level, round(roof.gb_per_s)) for roof in roofs("h200")]
    [('DRAM', 4500), ('L2', 9400), ('shared memory', 33454)]
    """
    preset = presets().get(device, {})
    rates = {"DRAM": "dram_read_gb_per_s", "L2": "l2_gb_per_s"}
    if not set(rates.values()) <= set(preset):
        raise DeviceError(f"the memory rates of {device!r} are not known, so it has no roofs")
    shared = preset["shared_bytes_per_clock"] * preset["sms"] * preset["max_sm_mhz"] / 1000
    read = [Roof(level, preset[name], True) for level, name in rates.items()]
    return (*read, Roof("shared memory", shared, False))


def dram_bytes(counted: float, stored: float, l2_mb: float) -> float:
    """Bytes that a kernel moves from and to DRAM: those counted, and stored ones still in the L2.

    A profiler counts until the kernel ends. What that stored last may then be in the L2, of `l2_mb`
    · 10⁶ bytes, and goes to DRAM later.

    >>> dram_bytes(counted=2 * 2 * 2048**2, stored=2 * 2048**2, l2_mb=50) == 3 * 2 * 2048**2  # A, B and C
    True
    """
    return counted + min(stored, l2_mb * 1e6)


def product_bytes(m: int, n: int, k: int, dtype: str) -> int:
    """The least that a product moves: A and B read once, C written once.

    >>> product_bytes(16, 8192, 8192, "bf16")
    134742016
    """
    return (m * k + k * n + m * n) * DTYPE_BYTES[dtype]


def spot(name: str, flops: float, moved: float, us: float) -> Spot:
    """Where a kernel is that did so many FLOP in `us`, with so many bytes `moved`.

    >>> spot("sum", 1e6, 4e6, 1.0)
    Spot(name='sum', intensity=0.25, tflops=1.0)
    """
    return Spot(name, flops / moved, flops / us / 1e6)
