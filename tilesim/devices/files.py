"""Device files: a GPU of the user's own, as JSON like an entry of devices.json, held against what can be.

docs/devices.md shows one. `short`, a shorter title, `architecture`, whose facts it has too, and `costs`, as
`tilesim.kernel_costs.calibration` reads them, may be left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

from tilesim.devices.facts import FEATURES, UNITS, fill_order, published, shipped, values, with_derived
from tilesim.errors import DeviceError
from tilesim.problems import DTYPE_BYTES
from tilesim.storage.decode import FILLED, between, decode, one_of, text

ENDING = ".json"
NEEDED = ("sms", "max_sm_mhz", "l2_mb", "memory_gb_per_s", "peak_tflops")
"""Facts that follow from no others."""
LARGEST = 10**12
MAX_SMS = 2**16

Title = Annotated[str, text(1, 80)]
Amount = Annotated[int | float, between(0, LARGEST, above=True)]
Words = Annotated[str, text()]
KINDS: dict[str, Any] = {
    **{name: Amount if unit else Annotated[int, between(1, LARGEST)] for name, unit in UNITS.items()},
    **dict.fromkeys(
        ("macs_per_clock", "peak_tflops"),
        Annotated[dict[Annotated[str, one_of(DTYPE_BYTES)], Amount], FILLED],
    ),
    "sms": Annotated[int, between(1, MAX_SMS)],
    "features": list[Annotated[str, one_of(FEATURES)]],
    "sm_tiers": list[list[Annotated[list[int], FILLED]]],
}
"""What each fact may be."""
Group = make_dataclass(
    "Group",
    [
        ("source", Words),
        ("note", Words, field(default="")),
        ("unverified", bool, field(default=False)),
        *((name, kind, field(default=None)) for name, kind in KINDS.items()),
    ],
)
"""A group of facts, of one source."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The entry of a device; `costs` are left to `tilesim.kernel_costs.calibration`."""

    title: Title
    short: Title = ""
    architecture: Annotated[str, one_of(lambda: shipped()["architectures"])] = ""
    facts: list[Group] = field(default_factory=list)  # type: ignore[valid-type]
    costs: list[Any] = field(default_factory=list)


def name_of(path: str | PathLike[str]) -> str:
    """The name of the device in such a file; raises DeviceError where no device can be called so."""
    name = Path(path).name.removesuffix(ENDING).lower()
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]{0,39}", name):
        raise DeviceError(f"{path}: a device is called as its file is, by letters, digits, '_', '.' and '-'")
    return name


def checked(entry: Any) -> dict[str, Any]:
    """The entry of a device, which then has a `short` title too; raises DeviceError where it is none."""
    decode(Entry, entry, "the device", DeviceError)
    entry = {"short": entry["title"], **entry}
    known = values(published(entry))
    lacking = [name for name in NEEDED if name not in known]
    if lacking:
        raise DeviceError(f"it does not say {' and '.join(', '.join(lacking).rsplit(', ', 1))}")
    if "sm_tiers" in known and sorted(fill_order(known["sm_tiers"])) != list(range(known["sms"])):
        raise DeviceError(f"sm_tiers must list each SM from 0 to {known['sms'] - 1} once")
    if wrong := contradiction(values(with_derived(published(entry)))):
        raise DeviceError(wrong)
    return entry


def contradiction(known: Mapping[str, Any]) -> str:
    """The sentence for what no GPU can be, of facts by name, or ""."""
    macs, peaks = known.get("macs_per_clock", {}), known["peak_tflops"]
    for dtype in (dtype for dtype in macs if dtype in peaks):
        most, peak = 2 * known["sms"] * macs[dtype] * known["max_sm_mhz"] / 1e6, peaks[dtype]
        if peak > 1.01 * most:
            return f"peak_tflops of {dtype} is {peak:g}, but its MACs, SMs and clock make {most:.4g}"
    for less, more, words in (
        ("memory_gb_per_s", "l2_gb_per_s", "an L2 is faster than DRAM"),
        ("dram_read_gb_per_s", "l2_gb_per_s", "an L2 is faster than DRAM"),
        ("dram_read_gb_per_s", "l2_merged_gb_per_s", "an L2 is faster than DRAM"),
        ("l2_apart_gb_per_s", "l2_merged_gb_per_s", "merged loads are no slower"),
        ("dram_read_gb_per_s", "memory_gb_per_s", "no more can be read than the memory gives"),
        ("shared_latency", "l2_latency", "shared memory is nearer than the L2"),
        ("l2_latency", "dram_latency", "the L2 is nearer than DRAM"),
        ("shared_kib_per_block", "shared_kib_per_sm", "a thread block is on one SM"),
        ("threads_per_block", "threads_per_sm", "a thread block is on one SM"),
        ("tensor_mhz", "max_sm_mhz", "no clock is above the highest"),
        ("sustained_mhz", "max_sm_mhz", "no clock is above the highest"),
    ):
        if less in known and more in known and known[less] > known[more]:
            return f"{less} is {known[less]:g} and {more} {known[more]:g}, but {words}"
    return ""
