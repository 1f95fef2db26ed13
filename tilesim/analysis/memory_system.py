"""The constants of a GPU's memory system, by rule, from what `tilesim bench memory` measured.

All are medians over launches. A latency is the height of a plateau of a pointer chase's curve (see
`tilesim.analysis.plateaus`), page by page where it was chased so: the first plateau is the L2, the last is
DRAM. Where there is one between, the L2 has parts that are farther from an SM than others, and a line that is
not in the near part is in a far one. A bandwidth is the height of a plateau of the curve of all SMs, the
first and the last again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from os import PathLike
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, Self

import numpy as np

from tilesim.analysis.plateaus import Plateau, plateaus
from tilesim.errors import DeviceError, shown
from tilesim.storage.files import read_json

FOLDER = files("tilesim").joinpath("data/memory")
LARGEST = 1e15
"""Of any figure."""

Row = Mapping[str, Any]


class Latency(NamedTuple):
    """Of one load, in cycles of the SM and in ns."""

    cycles: float
    ns: float


class TileLatency(NamedTuple):
    """Of a tile's load: cycles = base + bytes / bytes_per_clock."""

    base: float
    bytes_per_clock: float

    def cycles(self, size: float) -> float:
        """Of a tile of `size` bytes.

        >>> TileLatency(base=350.0, bytes_per_clock=100.0).cycles(49152)
        841.52
        """
        return self.base + size / self.bytes_per_clock


@dataclass(frozen=True, slots=True)
class MemorySystem:
    """What a GPU's memory takes and gives.

    `far_l2_latency`: None where the L2 has no far part. `near_l2_bytes`, `l2_bytes`: the footprints up to
    which a load of one SM takes the L2's latency, and loads of all SMs have the L2's bandwidth. `tlb_cycles`:
    what a load takes longer where lines are anywhere in the largest footprint. `read_gb_per_s`: by all SMs
    out of the "L2" and "DRAM"; `write_gb_per_s` into "DRAM", `copy_gb_per_s` counts bytes read and written.
    `sm_bytes_per_clock`: what one SM alone gets of the L2. `merged_gb_per_s`: what all SMs get of it where
    neighbours read the same lines at the same time, by how many do. `shared_bytes_per_clock`: of an SM's
    shared memory. `tile_latency`: by ("tma" or "cp.async", "L2" or "DRAM"), as far as the GPU can.
    `busy_tile_latency`: the same while all SMs load, and neighbours the same tiles, as in a product.
    `macs_per_clock`: of an SM's tensor cores at most, by dtype, empty where not measured.
    """

    gpu: str
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
    shared_bytes_per_clock: float
    tile_latency: Mapping[tuple[str, str], TileLatency]
    busy_tile_latency: Mapping[tuple[str, str], TileLatency]
    macs_per_clock: Mapping[str, float]

    @classmethod
    def of(cls, report: Row) -> Self:
        """From the JSON values of a report.

        Raises DeviceError where rows or figures are missing, or a curve shows no L2 and DRAM.
        """
        try:
            return cls(**_constants(report))
        except KeyError as missing:
            raise DeviceError(
                f"these figures of tilesim bench memory have no {shown(missing.args[0])}"
            ) from None
        except (TypeError, AttributeError, IndexError):
            raise DeviceError("these are no figures of tilesim bench memory") from None

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """From a file of `tilesim bench memory`; raises DeviceError, in a sentence that starts with it."""
        try:
            return cls.of(read_json(path, DeviceError))
        except DeviceError as error:
            raise DeviceError(str(error) if str(path) in str(error) else f"{path}: {error}") from None

    @property
    def facts(self) -> dict[str, float]:
        """What a device file holds of it, as `tilesim.devices.facts.UNITS` explains them."""
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
        """Of a preset that it was measured on; raises DeviceError where it was not."""
        measured = sorted(file.name.removesuffix(".json") for file in FOLDER.iterdir())
        if device not in measured:
            names = ", ".join(measured)
            raise DeviceError(f"the memory of {shown(device)} was not measured; that of {names} was")
        return cls.read(Path(str(FOLDER.joinpath(f"{device}.json"))))


def _constants(report: Row) -> dict[str, Any]:
    chases = _chases(report["latency"])
    curve = chases["anywhere"] | chases.get("in pages", {})
    levels = _levels("the pointer chase", {x: _median(row, "cycles") for x, row in curve.items()})
    latencies = [_latency([row for x, row in curve.items() if at.first <= x <= at.last]) for at in levels]
    rates = {kind: _rates(report["bandwidth"], kind) for kind in ("read", "write", "copy")}
    largest = max(chases["anywhere"])
    stage = [row for row in report["tile_loads"] if row["stages"] == 1]
    most = max((row["together"] for row in stage), default=1)
    return {
        "gpu": str(report["machine"]["gpu"]),
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
        "shared_bytes_per_clock": _median(report["shared_reads"][0], "bytes_per_clock"),
        "tile_latency": _tile_latencies(row for row in stage if row["sms"] == 1),
        "busy_tile_latency": _tile_latencies(row for row in stage if row["together"] == most),
        "macs_per_clock": _most(report["multiplying"], "dtype", "macs_per_clock"),
    }


def _chases(rows: Iterable[Row]) -> dict[str, dict[int, Row]]:
    """The rows of global memory by order and footprint."""
    found: dict[str, dict[int, Row]] = {}
    for row in _rows(rows, space="global memory"):
        found.setdefault(row["order"], {})[row["footprint"]] = row
    return found


def _rates(rows: Iterable[Row], kind: str) -> tuple[Plateau, ...]:
    curve = {row["footprint"]: _median(row, "gb_per_s") for row in _rows(rows, kind=kind)}
    return _levels(f"the {kind}", curve, least=2 if kind == "read" else 1)


def _levels(what: str, curve: Mapping[int, float], least: int = 2) -> tuple[Plateau, ...]:
    found = plateaus(list(curve.items()))
    if len(found) < least:
        raise DeviceError(f"{what} has {len(found)} plateaus over its footprints; it must have {least}")
    return found


def _latency(rows: Sequence[Row]) -> Latency:
    return Latency(*(median(_median(row, unit) for row in rows) for unit in ("cycles", "ns")))


def _tile_latencies(rows: Iterable[Row]) -> dict[tuple[str, str], TileLatency]:
    """A straight line by least squares through each kind's latencies."""
    kinds: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in rows:
        kinds.setdefault((row["by"], row["source"]), []).append((row["stage_bytes"], _median(row, "cycles")))
    return {kind: _line(np.array(points)) for kind, points in kinds.items()}


def _line(points: np.ndarray) -> TileLatency:
    """Through points [kinds, 2] of (bytes, cycles)."""
    if len(points) < 2:
        raise DeviceError("tiles of one size alone were loaded; a latency by bytes takes two")
    slope, base = np.polyfit(points[:, 0], points[:, 1], 1)
    return TileLatency(float(base), float(1 / slope))


def _most(rows: Iterable[Row], name: str, figure: str) -> dict[str, float]:
    most: dict[str, float] = {}
    for row in rows:
        most[row[name]] = max(most.get(row[name], 0.0), _median(row, figure))
    return most


def _rows(rows: Iterable[Row], **given: object) -> list[Row]:
    """Those that have these values."""
    found = [row for row in rows if all(row[name] == value for name, value in given.items())]
    if not found:
        wanted = ", ".join(f"{name} {value}" for name, value in given.items())
        raise DeviceError(f"these figures of tilesim bench memory have no row of {wanted}")
    return found


def _median(row: Row, figure: str) -> float:
    value = row[figure]["p50"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LARGEST:
        raise DeviceError(f"{figure} is {shown(value)}; it must be a number above 0, up to {LARGEST:g}")
    return float(value)
