"""What the driver says of this machine's GPU, as a device file holds it."""

from collections.abc import Mapping
from typing import Any

import torch
import triton

from tilesim.devices.facts import published, shipped, values

from .timing import require_gpu

KIB = 1024


def capability() -> str:
    """The compute capability of this machine's GPU: "9.0" of a Hopper."""
    return ".".join(map(str, torch.cuda.get_device_capability()))


def driver_facts() -> dict[str, Any]:
    """What the driver says of this machine's GPU, by the names of tilesim.devices.facts.UNITS.

    The memory's bandwidth is of two transfers in each cycle of its clock.
    """
    here = torch.cuda.get_device_properties()
    clocks = triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())
    return {
        "sms": here.multi_processor_count,
        "max_sm_mhz": round(clocks["sm_clock_rate"] / 1000),
        "l2_mb": round(here.L2_cache_size / 1e6, 1),
        "memory_gb": round(here.total_memory / 1e9, 1),
        "memory_gb_per_s": round(2 * clocks["mem_clock_rate"] * clocks["mem_bus_width"] / 8 / 1e6),
        "shared_kib_per_sm": here.shared_memory_per_multiprocessor // KIB,
        "shared_kib_per_block": here.shared_memory_per_block_optin // KIB,
    }


def gpu_facts() -> dict[str, Any]:
    """The entry of a device file for this machine's GPU: what its driver says, and its architecture's facts.

    Peaks are what tensor cores multiply at the highest clock, so above a datasheet's. A GPU whose
    architecture is none of devices.json's has none: write peak_tflops into the file, as its datasheet has
    them.

    Raises KernelError without an NVIDIA GPU.
    """
    require_gpu()
    architectures = shipped()["architectures"].items()
    architecture = next((name for name, one in architectures if one.get("capability") == capability()), "")
    facts = {"source": f"the driver, of a GPU of compute capability {capability()}", **driver_facts()}
    entry: dict[str, Any] = {"title": torch.cuda.get_device_name(), "facts": [facts]}
    if architecture:
        entry["architecture"] = architecture
        known = values(published(entry))
        facts["peak_tflops"] = _peaks(known)
        if known.get("tensor_mhz", 0) > known["max_sm_mhz"]:
            facts["tensor_mhz"] = known["max_sm_mhz"]
    return entry


def _peaks(known: Mapping[str, Any]) -> dict[str, float]:
    """TFLOP/s by dtype."""
    per_mac = 2 * known["sms"] * known["max_sm_mhz"] / 1e6
    return {dtype: round(macs * per_mac, 1) for dtype, macs in known["macs_per_clock"].items()}
