"""Device files: a GPU of the user's own, as JSON like an entry of devices.json, held against what can be.

{
  "title": "My GPU",
  "architecture": "hopper",
  "facts": [{"source": "nvidia-smi -q", "sms": 78, "max_sm_mhz": 1980, "memory_gb_per_s": 4000, ...}],
  "costs": [{"schedule": "naive", "tile": [128, 256, 64], "costs": {"prologue": 1500, ...}, ...}]
}

`short`, a shorter title, `architecture`, whose facts it has too, and `costs` may be left out. The costs are
of kernels that were measured on it, as `tilesim.kernel_costs.calibration` reads them. A source is one of
devices.json's, or any words.
"""

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from tilesim.devices.facts import FEATURES, UNITS, published, shipped, values, with_derived
from tilesim.devices.fill_order import fill_order
from tilesim.errors import DeviceError, shown, unknown, whole
from tilesim.problems import DTYPE_BYTES
from tilesim.storage.files import read_json
from tilesim.text import unprintable

ENDING = ".json"
NEEDED = ("sms", "max_sm_mhz", "l2_mb", "memory_gb_per_s", "peak_tflops")
"""Facts that follow from no others."""
BY_DTYPE = ("macs_per_clock", "peak_tflops")
ABOUT = {"source": str, "note": str, "unverified": bool}
PARTS = {"title": str, "short": str, "architecture": str, "facts": list, "costs": list}
WORDS = {str: "words", list: "a list", bool: "true or false"}
COUNTS = [name for name, unit in UNITS.items() if not unit and name not in ("features", "sm_tiers")]
LARGEST = 10**12
MAX_SMS = 2**16
LONGEST = 80
"""Characters of a title."""


def read(path: str | PathLike[str]) -> tuple[str, dict[str, Any]]:
    """(the name, the entry) of the device in a file: it is called as the file is, in small letters.

    Raises DeviceError, naming the file, where it cannot be read, has a field that there is not, lacks a fact
    that is `NEEDED`, or says what cannot be.
    """
    name = name_of(path)
    entry = read_json(path, DeviceError)
    try:
        return name, checked(entry)
    except DeviceError as error:
        raise DeviceError(f"{path}: {error}") from None


def name_of(path: str | PathLike[str]) -> str:
    """The name of the device in such a file; raises DeviceError where no device can be called so."""
    name = Path(path).name.removesuffix(ENDING).lower()
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.-]{0,39}", name):
        raise DeviceError(f"{path}: a device is called as its file is, by letters, digits, '_', '.' and '-'")
    return name


def checked(entry: Any) -> dict[str, Any]:
    """The entry of a device, which then has a `short` title too; raises DeviceError where it is none."""
    _fields("the device", entry, PARTS)
    if "title" not in entry:
        raise DeviceError("it has no title")
    entry = {"short": entry["title"], **entry}
    for name in ("title", "short"):
        if not 0 < len(entry[name]) <= LONGEST:
            raise DeviceError(f"the {name} is {shown(entry[name])}; it must have 1 to {LONGEST} characters")
    architectures = shipped()["architectures"]
    if entry.get("architecture", next(iter(architectures))) not in architectures:
        raise DeviceError(unknown("architecture", entry["architecture"], architectures))
    for group in entry.get("facts", ()):
        _group(group)
    known = values(published(entry))
    if "sms" in known:
        whole("the number of SMs", known["sms"], 1, MAX_SMS, DeviceError)
    lacking = [name for name in NEEDED if name not in known]
    if lacking:
        raise DeviceError(f"it does not say {' and '.join(', '.join(lacking).rsplit(', ', 1))}")
    _tiers(known)
    wrong = contradiction(values(with_derived(published(entry))))
    if wrong:
        raise DeviceError(wrong)
    return entry


def _fields(what: str, found: object, kinds: Mapping[str, type]) -> None:
    """Raise DeviceError unless `found` is an object whose fields are some of `kinds`, of these types."""
    if not isinstance(found, dict):
        raise DeviceError(f"{what} is {shown(found)}; it must be an object")
    for name, value in found.items():
        if name not in kinds:
            raise DeviceError(unknown(f"field of {what}", name, kinds))
        if not isinstance(value, kinds[name]):
            raise DeviceError(f"{name} is {shown(value)}; it must be {WORDS[kinds[name]]}")
        if isinstance(value, str) and unprintable(value):
            raise DeviceError(f"{name} {shown(value)} has a {unprintable(value)}, which cannot be printed")


def _group(group: object) -> None:
    _fields("a group of facts", group, {**ABOUT, **dict.fromkeys(UNITS, object)})
    assert isinstance(group, dict)
    if "source" not in group:
        raise DeviceError(f"the facts {shown(', '.join(group))} have no source")
    for name, value in group.items():
        if name == "features":
            if not isinstance(value, list) or not {str(one) for one in value} <= set(FEATURES):
                raise DeviceError(f"features is {shown(value)}; it must be a list of {', '.join(FEATURES)}")
        elif name in BY_DTYPE:
            _fields(name, value, dict.fromkeys(DTYPE_BYTES, object))
            if not value:
                raise DeviceError(f"{name} is empty; it must have a number for a dtype")
            for dtype, number in value.items():
                _number(f"{name} of {dtype}", number)
        elif name in UNITS and name != "sm_tiers":
            _number(name, value, name in COUNTS)


def _tiers(known: Mapping[str, Any]) -> None:
    """Raise DeviceError unless the tiers of SMs, if there are any, list each SM once."""
    if "sm_tiers" not in known:
        return
    try:
        listed = sorted(fill_order(known["sm_tiers"]))
    except (TypeError, LookupError):
        raise DeviceError("sm_tiers must be a list of tiers, which list groups of SMs") from None
    if listed != list(range(known["sms"])):
        raise DeviceError(f"sm_tiers must list each SM from 0 to {known['sms'] - 1} once")


def _number(what: str, value: Any, is_count: bool = False) -> None:
    fits = isinstance(value, int if is_count else int | float) and not isinstance(value, bool)
    if not fits or not 0 < value <= LARGEST:
        kind = "whole number" if is_count else "number"
        raise DeviceError(f"{what} is {shown(value)}; it must be a {kind} above 0")


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
