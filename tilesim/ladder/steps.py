"""Steps: kernels that compute one product, each with one change to the one before it, as a GPU ran them."""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike

from tilesim.errors import ReportError
from tilesim.storage.decode import FILLED, ONE_LINE, between, text

LARGEST = 2**31 - 1
Count = Annotated[int, between(1, LARGEST)]
Figure = Annotated[float, between(1e-9, 1e18)]
"""A time in µs, a rate or bytes."""
Counted = Annotated[float, between(0, 1e18)]
"""What a counter counted, which may be nothing."""
Line = Annotated[str, ONE_LINE, text(1, 2000)]
"""A text that a film has to find room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderStep:
    """A kernel at one problem: what it changes and why, its median time, and what it moves from and to DRAM.

    `step` is its number from 1, None for the yardstick. What is not known or was not counted is None.
    `bytes_from`: the GPU's counters, or a model of what the kernel must move. `tensor_cycles`: in which
    tensor cores work, and `sm_cycles`, that the kernel takes, on all SMs; of a launch with cold caches.
    `load_requests`: loads of a warp from global memory, and `load_sectors`, the 32 bytes each that they need.
    """

    step: Count | None = None
    name: Line
    change: Annotated[str, ONE_LINE, text(0, 2000)] = ""
    why: Annotated[str, ONE_LINE, text(0, 2000)] = ""
    m: Count
    n: Count
    k: Count
    tile: tuple[Count, Count, Count] | None = None
    dtype: Line
    us: Figure
    p20: Figure
    p80: Figure
    dram_bytes: Figure | None = None
    bytes_from: Literal["counters", "model"] | None = None
    l2_bytes: Figure | None = None
    order: Line | None = None
    stages: Count | None = None
    sm_mhz: Figure | None = None
    tensor_cycles: Counted | None = None
    sm_cycles: Counted | None = None
    load_requests: Counted | None = None
    load_sectors: Counted | None = None

    @property
    def flops(self) -> int:
        return 2 * self.m * self.n * self.k

    @property
    def tflops(self) -> float:
        """TFLOP/s at the median time."""
        return self.flops / self.us / 1e6

    @property
    def intensity(self) -> float | None:
        """Arithmetic intensity: FLOP for each byte from and to DRAM; None where the bytes are not known."""
        return self.flops / self.dram_bytes if self.dram_bytes else None


@dataclass(frozen=True, slots=True)
class Limit:
    """What a GPU can do at most, by its datasheet and as measured."""

    datasheet: Figure
    measured: Figure


@dataclass(frozen=True, slots=True)
class Ladder:
    """What one machine measured: its facts, its limits, and steps of one problem or several, in order."""

    machine: dict[str, Line]
    method: Line
    peak_tflops: Limit
    bandwidth_gb_per_s: Limit
    rows: Annotated[tuple[LadderStep, ...], FILLED]

    @property
    def steps(self) -> tuple[LadderStep, ...]:
        """The steps without the yardstick."""
        return tuple(row for row in self.rows if row.step is not None)

    def of(self, **sizes: int | str) -> "Ladder":
        """The ladder of one problem: the one with most steps, then the largest, of those that have `sizes`,
        any of m, n, k and dtype. Raises ReportError, which says what there is, where none has them."""
        problems: dict[tuple[int, int, int, str], list[LadderStep]] = {}
        for row in self.rows:
            problems.setdefault((row.m, row.n, row.k, row.dtype), []).append(row)
        fitting = [
            tuple(rows)
            for rows in problems.values()
            if any(row.step for row in rows)
            and all(getattr(rows[0], name) == value for name, value in sizes.items())
        ]
        if not fitting:
            asked = ", ".join(f"{name} {value}" for name, value in sizes.items())
            there = ", ".join(f"{m}x{n}x{k} {dtype}" for m, n, k, dtype in problems)
            raise ReportError(f"nothing was measured with {asked}; there is {there}")
        return replace(self, rows=max(fitting, key=lambda rows: (len(rows), rows[0].flops)))


def ridge(peak_tflops: float, bandwidth_gb_per_s: float) -> float:
    """The intensity, FLOP a byte, from which on arithmetic is the limit, and no longer memory."""
    return 1000 * peak_tflops / bandwidth_gb_per_s


def roofline(intensity: ArrayLike, peak_tflops: float, bandwidth_gb_per_s: float) -> np.ndarray:
    """The most TFLOP/s that `intensity`, in FLOP a byte, allows: what memory feeds, up to the peak.

    S. Williams, A. Waterman, D. Patterson, Roofline (2009).
    """
    return np.minimum(peak_tflops, np.asarray(intensity, float) * bandwidth_gb_per_s / 1000)
