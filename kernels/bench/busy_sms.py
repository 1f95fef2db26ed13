"""busy_sms: a product while another kernel holds some of the SMs, by four ways to hand out its tiles.

A request to CUTLASS says that static persistent kernels take twice as long where another kernel, such as
one of NCCL, holds some SMs, and asks for a dynamic scheduler on Hopper (NVIDIA/cutlass, issue 2471).
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

from tilesim.devices.device import Device
from tilesim.kernel_config import TABLE
from tilesim.problems import Problem
from tilesim.products import Product

from ..launch.named import OWN, recordable
from ..launch.operands import gpu_memory
from ..measure.held_sms import HeldSMs, hold_us
from ..measure.machine import device, measuring
from .bench import METHOD, compare, job_of, timed

SIZE = (4224, 4096, 4096)
"""528 tiles: four for each of 132 SMs, and none left over."""

KERNELS = {
    "naive": ("naive", OWN, False),
    "persistent": ("persistent", OWN, False),
    "persistent-dynamic": ("persistent-dynamic", TABLE, False),
    "persistent-told": ("persistent", OWN, True),
}
"""By name: schedule, kernel, and whether it is told how many SMs are free and launches no more blocks."""

HELD = (
    "; held SMs: by thread blocks that spin on another stream with all the shared memory of their SM, from"
    " before a sample until after it"
)


@measuring
def busy_sms(
    *sizes: tuple[int, int, int], counts: Sequence[int] = (0, 1, 4, 10, 20, 40, 66), samples: int = 50
) -> dict[str, Any]:
    """Time KERNELS at each (M, N, K) with each of `counts` SMs held. A row has what `bench` says, and
    busy_sms and blocks (thread blocks launched). Each result is compared with float64 while the SMs are held.
    Raises KernelError, too, for SMs that cannot be held."""
    here = device(1)
    rows: list[dict[str, Any]] = []
    for size in sizes or (SIZE,):
        problem = Problem(*size, order="grouped:8")
        (free,) = compare(problem, {"naive": recordable(OWN, "naive", problem)}, warmup=2, samples=3)
        alone = free["p80"] * free["launches"]
        held = {count: HeldSMs(count, hold_us(alone, count)) for count in counts if count}
        jobs, holders = {}, {}
        with gpu_memory(Product.of(problem)):
            for (name, (schedule, kernel, told)), count in product(KERNELS.items(), counts):
                key, config = f"{name} {count}", recordable(kernel, schedule, problem)
                work, known = job_of(config, problem, Device(here.sms - count) if told else here)
                jobs[key] = work, known | {"kernel": name, "busy_sms": count, "blocks": work.ctas}
                if count:
                    holders[key] = held[count]
            rows += timed(problem, jobs, 5, samples, holders=holders)
    return {"method": METHOD + HELD, "rows": rows}
