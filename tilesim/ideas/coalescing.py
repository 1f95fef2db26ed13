"""Coalescing: how many sectors and lines of memory one load of a warp touches.

A line is four sectors of 32 bytes. A load moves every sector that a thread needs, once (NVIDIA, CUDA C++ Best
Practices Guide, Coalesced Access to Global Memory). Addresses are int64 bytes, one thread each along the last
axis; `width` is the bytes that each thread loads. Values out of range raise TilesimError.
"""

from dataclasses import dataclass

import numpy as np

from tilesim.errors import TilesimError, shown, whole

WARP = 32
"""Threads in a warp (CUDA C++ Programming Guide, SIMT Architecture)."""
SECTOR, LINE = 32, 128
"""Bytes in a sector and in a line."""
WIDTHS = (1, 2, 4, 8, 16)
"""Bytes that one thread can load at once (CUDA C++ Programming Guide, Device Memory Accesses)."""
LARGEST = 2**40
"""Maximum address or pitch, in bytes."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What a load moves: `sectors`, which lie in `lines`, and how many of their bytes were `used`."""

    sectors: int
    lines: int
    used: int

    @property
    def moved(self) -> int:
        """Bytes in these sectors."""
        return self.sectors * SECTOR

    @property
    def useful(self) -> float:
        """The used fraction of the moved bytes, up to 1."""
        return self.used / self.moved


def strided(stride: int, threads: int = WARP, start: int = 0) -> np.ndarray:
    """Addresses of `threads` adjacent threads, `stride` bytes apart: int64 [threads]."""
    stride = whole("the stride", stride, 0, LARGEST, TilesimError)
    threads = whole("the number of threads", threads, 1, WARP, TilesimError)
    return whole("the first address", start, 0, LARGEST, TilesimError) + stride * np.arange(threads)


def touched(addresses: np.ndarray, width: int, unit: int = SECTOR) -> np.ndarray:
    """The sectors (or lines, with `unit=LINE`) that contain any of the bytes: int64, ascending, without
    repeats. Addresses must be multiples of the width, which is one of WIDTHS."""
    _check_width(width)
    addresses = np.asarray(addresses)
    off = addresses[addresses % width != 0]
    if off.size:
        raise TilesimError(f"the address {off[0]} is not a multiple of the {width} bytes to load")
    return np.unique(addresses // unit)


def moved(addresses: np.ndarray, width: int) -> Moved:
    """What one load of a warp moves."""
    sectors, lines = touched(addresses, width), touched(addresses, width, LINE)
    return Moved(len(sectors), len(lines), width * len(np.unique(addresses)))


def _check_width(width: int) -> None:
    if width not in WIDTHS:
        widths = ", ".join(map(str, WIDTHS))
        raise TilesimError(f"a thread cannot load {shown(width)} bytes at once; choose from {widths}")
