"""busy_sms: a product while another kernel holds some of the SMs, by four ways to hand out its tiles.

A request to CUTLASS says that static persistent kernels take twice as long where another kernel, such as
one of NCCL, holds some SMs, and asks for a dynamic scheduler on Hopper (NVIDIA/cutlass, issue 2471).
"""

import itertools
from collections.abc import Sequence
from typing import Any

import torch

from tilesim.devices.device import Device
from tilesim.kernel_config import TABLE
from tilesim.problems import Problem
from tilesim.products import Product

from ..gemm.jobs import job
from ..launch.here import check, on_this_machine
from ..launch.named import OWN, recordable
from ..launch.operands import gpu_memory, matrices, sets_beyond_l2
from ..measure.held_sms import HeldSMs, hold_us
from ..measure.machine import device, measuring
from ..measure.reference import verify_result
from ..measure.timing import Rotation, capture, sample, spread
from .bench import METHOD, tflops

PRODUCT = Problem(4224, 4096, 4096, order="grouped:8")
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
    *problems: Problem, counts: Sequence[int] = (0, 1, 4, 10, 20, 40, 66), samples: int = 50
) -> dict[str, Any]:
    """Time KERNELS with each of `counts` SMs held, in JSON values: "machine", "method" and "rows".

    A row has what `bench` says but for the clock, warps and stages, and busy_sms and blocks (thread blocks
    launched). Each result is compared with float64 while the SMs are held.

    Raises KernelError, too, for SMs that cannot be held.
    """
    asked = problems or (PRODUCT,)
    for problem in asked:
        check(recordable(OWN, "naive", problem), Product.of(problem))
    here = device(1)
    rows: list[dict[str, Any]] = []
    for problem in asked:
        with gpu_memory(Product.of(problem)):
            rows += _rows(problem, here, counts, samples)
    return {"method": METHOD + HELD, "rows": rows}


def _rows(problem: Problem, here: Device, counts: Sequence[int], samples: int) -> list[dict[str, Any]]:
    product = Product.of(problem)
    sets = [matrices(product, "cuda", i) for i in range(sets_beyond_l2(product))]
    rotations: dict[str, Rotation] = {}
    about: dict[str, dict[str, Any]] = {}
    jobs = []
    holders: dict[int, HeldSMs] = {}
    for (name, (schedule, kernel, told)), count in itertools.product(KERNELS.items(), counts):
        config, why = on_this_machine(recordable(kernel, schedule, problem), product)
        work = job(config, product, Device(here.sms - count) if told else here)
        jobs.append(work)
        launches = [work.launcher(operands) for operands in sets]
        # nothing is held, once the blocks of the sample before have ended
        rotation = Rotation(capture(launches), launches, torch.cuda.synchronize)
        if count and count not in holders:
            alone = sample({name: rotation}, 2, 3)[name].max() * len(sets)
            holders[count] = HeldSMs(count, hold_us(float(alone), count))
        if count:
            rotation = Rotation(rotation.graph, launches, holders[count].hold, holders[count].check)
        rotation.before()
        error = verify_result(name, launches[0], product, sets[0])
        work.check()
        key = f"{name} {count}"
        rotations[key] = rotation
        about[key] = {
            "kernel": name, "schedule": schedule, "variant": config.name, "busy_sms": count,
            "blocks": work.ctas, "relative_error": error,
        } | ({"fallback": why} if why else {})  # fmt: skip
    us = sample(rotations, 5, samples)
    torch.cuda.synchronize()
    for work in jobs:
        work.check()
    size = problem.as_json()
    return [
        size | about[key] | (times := spread(us[key])) | {"tflops": tflops(problem, times["us"])}
        | {"samples": samples, "launches": len(sets)}
        for key in rotations
    ]  # fmt: skip
