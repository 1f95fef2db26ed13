"""Coalescing: how many sectors and lines of memory one load of a warp touches.

A line is four sectors of 32 bytes. A load moves every sector that a thread needs, once (NVIDIA, CUDA C++ Best
Practices Guide, Coalesced Access to Global Memory). Addresses are int64 bytes, one thread each along the last
axis, and multiples of `width`, the bytes that each thread loads.
"""

from typing import NamedTuple

import numpy as np

WARP = 32
"""Threads in a warp (CUDA C++ Programming Guide, SIMT Architecture)."""
SECTOR, LINE = 32, 128
"""Bytes in a sector and in a line."""


class Moved(NamedTuple):
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


def strided(stride: int, start: int = 0) -> np.ndarray:
    """Addresses of a warp's threads, `stride` bytes apart: int64 [WARP]."""
    return start + stride * np.arange(WARP)


def moved(addresses: np.ndarray, width: int) -> Moved:
    sectors, lines, places = (len(np.unique(addresses // unit)) for unit in (SECTOR, LINE, 1))
    return Moved(sectors, lines, width * places)
