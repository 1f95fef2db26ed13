"""What the driver says of this machine's GPU, as a device file holds it."""

from collections.abc import Mapping
from typing import Any

import torch
import triton

from tilesim.devices.facts import published, values

from .timing import require_gpu

ARCHITECTURES = {
    (7, 0): "volta", (7, 5): "turing", (8, 0): "ampere", (8, 9): "ada", (9, 0): "hopper",
    (10, 0): "blackwell",
}  # fmt: skip
"""By compute capability."""

KIB = 1024


def gpu_facts() -> dict[str, Any]:
    """The entry of a device file for this machine's GPU: what its driver says, and its architecture's facts.

    Peaks are what tensor cores multiply at the highest clock, so above a datasheet's. A GPU whose
    architecture is none of devices.json's has none: write peak_tflops into the file, as its datasheet has
    them. The memory's bandwidth is of two transfers in each cycle of its clock.

    Raises KernelError without an NVIDIA GPU.
    """
    require_gpu()
    here = torch.cuda.get_device_properties()
    capability = torch.cuda.get_device_capability()
    clocks = triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())
    architecture = ARCHITECTURES.get(capability)
    facts = {
        "source": f"the driver, of a GPU of compute capability {'.'.join(map(str, capability))}",
        "sms": here.multi_processor_count,
        "max_sm_mhz": round(clocks["sm_clock_rate"] / 1000),
        "l2_mb": round(here.L2_cache_size / 1e6, 1),
        "memory_gb": round(here.total_memory / 1e9),
        "memory_gb_per_s": round(2 * clocks["mem_clock_rate"] * clocks["mem_bus_width"] / 8 / 1e6),
        "shared_kib_per_sm": here.shared_memory_per_multiprocessor // KIB,
        "shared_kib_per_block": here.shared_memory_per_block_optin // KIB,
    }
    entry: dict[str, Any] = {"title": here.name, "facts": [facts]}
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
