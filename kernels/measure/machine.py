"""What a measurement was made on: the GPU, its facts as in a device file, versions, the clock's step."""

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, wraps
from typing import Any, ParamSpec

import torch
import triton

from tilesim.devices.device import Device
from tilesim.devices.facts import published, shipped, values
from tilesim.devices.gpus import Gpu, identified

from ..gemm.stamps import read_timer
from .timing import require_gpu, working_gpu

P = ParamSpec("P")


def measuring(bench: Callable[P, dict[str, Any]]) -> Callable[P, dict[str, Any]]:
    """A bench whose report begins with "machine"; KernelError without an NVIDIA GPU, or where it fails."""

    @wraps(bench)
    def measured(*args: P.args, **options: P.kwargs) -> dict[str, Any]:
        require_gpu()
        with working_gpu():
            return {"machine": facts()} | bench(*args, **options)

    return measured


def facts() -> dict[str, str]:
    """gpu, driver, cuda, torch, triton and the date (UTC)."""
    return {
        "gpu": torch.cuda.get_device_name(),
        "driver": driver(),
        "cuda": str(torch.version.cuda),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def driver() -> str:
    """The NVIDIA driver's version as nvidia-smi tells it, else "unknown"."""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return said.split("\n")[0].strip() or "unknown"


def gpu() -> Gpu:
    return _gpu(torch.cuda.current_device())


@cache
def _gpu(index: int) -> Gpu:
    with torch.cuda.device(index):
        return identified(torch.cuda.get_device_name(), capability(), driver_facts())


def device(ctas_per_sm: int) -> Device:
    """The current GPU with its own number of SMs, under the name of its preset if it has one."""
    here = gpu()
    return Device.named(here.preset, here.sms, ctas_per_sm) if here.preset else Device(here.sms, ctas_per_sm)


def tick_ns() -> int:
    """The smallest step that %globaltimer was seen to take."""
    reads = torch.zeros(20_000, dtype=torch.int64, device="cuda")
    read_timer[(1,)](reads, len(reads), num_warps=1)
    steps = reads.diff()
    return int(steps[steps > 0].min())


def capability() -> str:
    """The compute capability of this machine's GPU: "9.0" of a Hopper."""
    return ".".join(map(str, torch.cuda.get_device_capability()))


def driver_facts() -> dict[str, Any]:
    """What the driver says of this machine's GPU, by the names of tilesim.devices.facts.UNITS. The memory's
    bandwidth is of two transfers in each cycle of its clock."""
    here = torch.cuda.get_device_properties()
    clocks = triton.runtime.driver.active.utils.get_device_properties(torch.cuda.current_device())
    return {
        "sms": here.multi_processor_count,
        "max_sm_mhz": round(clocks["sm_clock_rate"] / 1000),
        "l2_mb": round(here.L2_cache_size / 1e6, 1),
        "memory_gb": round(here.total_memory / 1e9, 1),
        "memory_gb_per_s": round(2 * clocks["mem_clock_rate"] * clocks["mem_bus_width"] / 8 / 1e6),
        "shared_kib_per_sm": here.shared_memory_per_multiprocessor // 1024,
        "shared_kib_per_block": here.shared_memory_per_block_optin // 1024,
    }


def gpu_facts() -> dict[str, Any]:
    """The entry of a device file for this machine's GPU: what its driver says, and its architecture's facts.

    Peaks are what tensor cores multiply at the highest clock, so above a datasheet's; a GPU whose
    architecture is none of devices.json's has none. Raises KernelError without an NVIDIA GPU.
    """
    require_gpu()
    architectures = shipped()["architectures"].items()
    architecture = next((name for name, one in architectures if one.get("capability") == capability()), "")
    facts = {"source": f"the driver, of a GPU of compute capability {capability()}", **driver_facts()}
    entry: dict[str, Any] = {"title": torch.cuda.get_device_name(), "facts": [facts]}
    if architecture:
        entry["architecture"] = architecture
        known = values(published(entry))
        per_mac = 2 * known["sms"] * known["max_sm_mhz"] / 1e6
        facts["peak_tflops"] = {
            dtype: round(macs * per_mac, 1) for dtype, macs in known["macs_per_clock"].items()
        }
        if known.get("tensor_mhz", 0) > known["max_sm_mhz"]:
            facts["tensor_mhz"] = known["max_sm_mhz"]
    return entry
