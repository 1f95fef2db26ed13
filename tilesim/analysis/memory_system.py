"""Constants of a GPU's memory system, derived from the measurements of `tilesim bench memory`.

All are medians over launches. Latencies are plateaus of a pointer chase, page by page if available: the first
is the L2, the last is DRAM, one in between the far part of the L2. Bandwidths are those with all SMs.
"""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from statistics import median
from typing import Any, NamedTuple, Self

import numpy as np

from tilesim.errors import DeviceError, shown
from tilesim.ladder import reports
from tilesim.storage.files import read_json

TOLERANCE = 0.05
"""The largest value of a plateau may exceed its smallest by this fraction."""
LEAST = 3
"""Adjacent points that a plateau needs."""


class Plateau(NamedTuple):
    """From `first` to `last`, inclusive, with the median `value`."""

    first: float
    last: float
    value: float


def plateaus(points: Sequence[tuple[float, float]]) -> tuple[Plateau, ...]:
    """The plateaus of a curve of points (x, y), y > 0, in order of x.

    The longest run of at least LEAST adjacent points within TOLERANCE comes first (the flattest, if several
    are as long); the points on both sides of it are searched in the same way.
    """
    points = sorted(points)
    best = 0, 0.0, 0
    for first in range(len(points)):
        for last in range(first, len(points)):
            heights = [y for _, y in points[first : last + 1]]
            low, high = min(heights), max(heights)
            if high > (1 + TOLERANCE) * low:
                break
            best = max(best, (len(heights), low / high, -first))
    size, start = best[0], -best[2]
    if size < LEAST:
        return ()
    inside = points[start : start + size]
    one = Plateau(inside[0][0], inside[-1][0], median(y for _, y in inside))
    return (*plateaus(points[:start]), one, *plateaus(points[start + size :]))


LARGEST = 1e15

Row = Mapping[str, Any]


class Latency(NamedTuple):
    """Of one load, in SM cycles and in ns."""

    cycles: float
    ns: float


class TileLatency(NamedTuple):
    """Latency of a tile's load: cycles = base + bytes / bytes_per_clock."""

    base: float
    bytes_per_clock: float

    def cycles(self, size: float) -> float:
        return self.base + size / self.bytes_per_clock


class MemorySystem(NamedTuple):
    """Latencies and bandwidths of a GPU's memory.

    `far_l2_latency`: None if the L2 has no far part. `near_l2_bytes`, `l2_bytes`: the largest footprints with
    the L2's latency for one SM, and with its bandwidth for all. `tlb_cycles`: extra latency for random lines
    of the largest footprint. `read_gb_per_s`: all SMs from the "L2" and "DRAM"; `write_gb_per_s`: to DRAM;
    `copy_gb_per_s`: bytes read plus written. `sm_bytes_per_clock`: one SM alone from the L2.
    `merged_gb_per_s`: all SMs from the L2, by how many neighbors read the same lines together.
    `tile_latency`: by ("tma" or "cp.async", "L2" or "DRAM"), as far as supported.
    `macs_per_clock`: peak per SM by dtype, empty if not measured.
    """

    shared_latency: Latency
    l2_latency: Latency
    far_l2_latency: Latency | None
    dram_latency: Latency
    near_l2_bytes: int
    l2_bytes: int
    tlb_cycles: float
    read_gb_per_s: Mapping[str, float]
    write_gb_per_s: float
    copy_gb_per_s: float
    sm_bytes_per_clock: float
    merged_gb_per_s: Mapping[int, float]
    tile_latency: Mapping[tuple[str, str], TileLatency]
    macs_per_clock: Mapping[str, float]

    @classmethod
    def of(cls, report: Row) -> Self:
        """From a report's JSON values. Raises DeviceError if rows, figures or plateaus are missing."""
        try:
            return cls(**_constants(report))
        except KeyError as missing:
            raise DeviceError(f"this tilesim bench memory report has no {shown(missing.args[0])}") from None
        except (TypeError, AttributeError, IndexError):
            raise DeviceError("this is not a report of tilesim bench memory") from None

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """From a `tilesim bench memory` file; raises DeviceError that starts with the path."""
        return read_json(path, DeviceError, cls.of)

    @property
    def facts(self) -> dict[str, float]:
        """The entries of a device file (see `tilesim.devices.facts.UNITS`)."""
        merged = self.merged_gb_per_s
        return {
            "l2_gb_per_s": round(self.read_gb_per_s["L2"]),
            "l2_apart_gb_per_s": round(merged.get(1, self.read_gb_per_s["L2"])),
            "l2_merged_gb_per_s": round(max(merged.values())),
            "dram_read_gb_per_s": round(self.read_gb_per_s["DRAM"]),
            "shared_latency": round(self.shared_latency.cycles, 1),
            "l2_latency": round(self.l2_latency.cycles, 1),
            "dram_latency": round(self.dram_latency.cycles, 1),
        }

    @classmethod
    def named(cls, device: str) -> Self:
        """Of a measured preset; raises ReportError if it was not measured."""
        return cls.of(reports.report("memory", device))


def _constants(report: Row) -> dict[str, Any]:
    chases: dict[str, dict[int, Row]] = {}
    for row in _rows(report["latency"], space="global memory"):
        chases.setdefault(row["order"], {})[row["footprint"]] = row
    curve = chases["anywhere"] | chases.get("in pages", {})
    levels = _levels("the pointer chase", {x: _median(row, "cycles") for x, row in curve.items()})
    latencies = [_latency([row for x, row in curve.items() if at.first <= x <= at.last]) for at in levels]
    rates = {kind: _rates(report["bandwidth"], kind) for kind in ("read", "write", "copy")}
    largest = max(chases["anywhere"])
    alone = [row for row in report["tile_loads"] if row["stages"] == 1 and row["sms"] == 1]
    macs = [(row["dtype"], _median(row, "macs_per_clock")) for row in report["multiplying"]]
    return {
        "shared_latency": _latency(_rows(report["latency"], space="shared memory")),
        "l2_latency": latencies[0],
        "far_l2_latency": latencies[-2] if len(latencies) > 2 else None,
        "dram_latency": latencies[-1],
        "near_l2_bytes": int(levels[0].last),
        "l2_bytes": int(rates["read"][0].last),
        "tlb_cycles": _median(chases["anywhere"][largest], "cycles") - _median(curve[largest], "cycles"),
        "read_gb_per_s": {"L2": rates["read"][0].value, "DRAM": rates["read"][-1].value},
        "write_gb_per_s": rates["write"][-1].value,
        "copy_gb_per_s": rates["copy"][-1].value,
        "sm_bytes_per_clock": _median(_rows(report["sharing"], sms=1)[0], "bytes_per_clock"),
        "merged_gb_per_s": {
            int(row["together"]): _median(row, "gb_per_s")
            for row in _rows(report["merging"], source="L2", neighbours=True)
        },
        "tile_latency": _tile_latencies(alone),
        "macs_per_clock": dict(sorted(macs)),  # of each dtype the largest, as the last, stays
    }


def _rates(rows: Iterable[Row], kind: str) -> tuple[Plateau, ...]:
    curve = {row["footprint"]: _median(row, "gb_per_s") for row in _rows(rows, kind=kind)}
    return _levels(f"the {kind}", curve, least=2 if kind == "read" else 1)


def _levels(what: str, curve: Mapping[int, float], least: int = 2) -> tuple[Plateau, ...]:
    found = plateaus(list(curve.items()))
    if len(found) < least:
        raise DeviceError(
            f"{what} has {len(found)} plateaus over its footprints; at least {least} are required"
        )
    return found


def _latency(rows: Sequence[Row]) -> Latency:
    return Latency(*(median(_median(row, unit) for row in rows) for unit in ("cycles", "ns")))


def _tile_latencies(rows: Iterable[Row]) -> dict[tuple[str, str], TileLatency]:
    """A least-squares line through the latencies of each kind."""
    kinds: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        kinds.setdefault((row["by"], row["source"]), []).append((row["stage_bytes"], _median(row, "cycles")))
    found = {}
    for kind, points in kinds.items():
        if len(points) < 2:
            raise DeviceError("tiles of only one size were loaded; fitting a latency takes at least two")
        sizes, cycles = zip(*points, strict=True)
        slope, base = np.polyfit(sizes, cycles, 1)
        found[kind] = TileLatency(float(base), float(1 / slope))
    return found


def _rows(rows: Iterable[Row], **given: object) -> list[Row]:
    found = [row for row in rows if all(row[name] == value for name, value in given.items())]
    if not found:
        wanted = ", ".join(f"{name} {value}" for name, value in given.items())
        raise DeviceError(f"this tilesim bench memory report has no row with {wanted}")
    return found


def _median(row: Row, figure: str) -> float:
    value = row[figure]["p50"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LARGEST:
        raise DeviceError(f"{figure} is {shown(value)}; it must be a number above 0 and at most {LARGEST:g}")
    return float(value)
