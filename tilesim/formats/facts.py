"""Facts: what holds for a whole run, as a text file or a command line may say it.

m, n, k, tile     of the problem; a tile is "128x256x64" or three sizes. Needed, unless there are `items`.
items, sizes      of work that is no matrix product: names, or true where each row is an item, and their sizes
dtype, order      of the problem, bf16 and row-major where not said
device, sms       a GPU's name, or else how many SMs there are. One of them is needed, or a known gpu
ctas_per_sm       thread blocks that fit on an SM; else as many as were seen there at once
busy_sms          SMs that another kernel holds
sm_order          in which the hardware fills SMs
device_file       what is known of a device that is no preset, as `tilesim.devices.files` has it
schedule          what to call the kernel; else the file's name
origin            "measured", unless it was "simulated"
tick_ns           the step of the clock; else the greatest of which all times are whole numbers
gpu               whose badge a film shows; else the device's
meta              whatever else, JSON values
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tilesim.devices.device import Device
from tilesim.devices.gpus import preset_of
from tilesim.devices.presets import recall
from tilesim.errors import TraceError
from tilesim.problems import Problem
from tilesim.storage.decode import decode
from tilesim.work import Work, WorkItems

PRODUCT, ITEMS = ("m", "n", "k", "tile", "dtype", "order"), ("items", "sizes")
PROBLEM = (*PRODUCT, *ITEMS)
DEVICE = ("device", "sms", "ctas_per_sm", "busy_sms", "sm_order", "device_file")
FACTS = (*PROBLEM, *DEVICE, "schedule", "origin", "tick_ns", "gpu", "meta")
ABOUT_DEVICE = ("device", "device_file", "sms", "sm_order")
"""What does not hold for another device."""
SUCH_AS = {"m": 4096, "n": 4096, "k": 512, "tile": "128x256x64"}
"""What a sentence proposes: the problem that the command line takes where it is told none."""


def together(found: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """`given` over what was `found` in a file; a device that is given drops what the file says of another."""
    if {"device", "sms"} & set(given):
        found = {name: value for name, value in found.items() if name not in ABOUT_DEVICE}
    return {**found, **given}


def work(known: Mapping[str, Any]) -> Work:
    """The work that facts describe; raises TraceError where they say too little, ProblemError if wrong."""
    if known.get("items"):
        return WorkItems(known["items"], known.get("sizes", ()))
    lacking = [name for name in ("m", "n", "k", "tile") if name not in known]
    if lacking:
        names = " and ".join(", ".join(lacking).rsplit(", ", 1))
        how = " ".join(f"--{name} {SUCH_AS[name]}" for name in lacking)
        raise TraceError(
            f"it does not say {names} of the problem; give {how}, or --items if it is no matrix product"
        )
    values = {name: known[name] for name in PRODUCT if name in known}
    tile = values["tile"]
    if isinstance(tile, str):
        sizes = tile.lower().split("x")
        if all(size.isascii() and size.isdigit() and len(size) < 16 for size in sizes):
            values["tile"] = tuple(map(int, sizes))
    return Problem(**values)


def device(known: Mapping[str, Any]) -> Device:
    """The Device that facts describe, with a slot per SM where they do not say how many; errors as above."""
    name = known.get("device")
    if not name and "sms" not in known:
        name = known["gpu"] if preset_of(str(known.get("gpu", ""))) else ""
    if not name and "sms" not in known:
        raise TraceError(
            "it does not say which GPU it ran on; give --device h200 or --sms 132, or write it into the file"
        )
    values = {name: known[name] for name in ("sms", "ctas_per_sm", "busy_sms") if name in known}
    if name:
        values["device"] = name
        if "device_file" in known:
            recall(str(name).lower(), known["device_file"])
    made = Device.chosen(values, Device(1))
    order = known.get("sm_order", made.sm_order)
    return replace(made, sm_order=decode(tuple[int, ...], order, "sm_order", TraceError))


def meta(known: Mapping[str, Any]) -> dict[str, Any]:
    """What a trace's meta holds: JSON values; raises TraceError where that is no object."""
    values = decode(dict[str, Any], known.get("meta", {}), "meta", TraceError)
    return {**values, **{name: known[name] for name in ("gpu",) if name in known}}
