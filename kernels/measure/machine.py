"""What a measurement was made on: the GPU, the versions, the clock's step."""

import subprocess
from datetime import UTC, datetime
from functools import cache

import torch
import triton

from tilesim.devices.device import Device
from tilesim.devices.gpus import Gpu, identified

from ..gemm.stamps import read_timer
from .gpu_facts import capability, driver_facts

READS = 20_000


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
    """Which GPU the current device is."""
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
    reads = torch.zeros(READS, dtype=torch.int64, device="cuda")
    read_timer[(1,)](reads, READS, num_warps=1)
    steps = reads.diff()
    return int(steps[steps > 0].min())
