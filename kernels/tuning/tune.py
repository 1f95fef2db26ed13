"""tune: the table of the fastest kernels, by which `matmul` chooses, and all times, to judge the model."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from tilesim.choice.candidates import candidates
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

from ..errors import KernelError
from ..launch.here import no_tma
from ..launch.operands import DTYPES
from ..measure.machine import device as this_gpu
from ..measure.machine import facts
from ..measure.timing import require_gpu
from .choice import merged
from .products import held_out
from .tuner import compile_all, kind, method, times

PROGRESS_UNITS = 100


def tune(
    *products: Product, samples: int = 100, seed: int = 0, top: int | None = None,
    table: dict[str, Any] | None = None, progress: Callable[[int], object] = lambda units: None,
) -> dict[str, Any]:  # fmt: skip
    """The fastest kernel for each product: a table as tuning.choice reads it.

    `top`: time only so many kernels, those that the model ranks first. `table`: an earlier one, whose rows
    for other products are kept. `progress` gets how many more of PROGRESS_UNITS for each product are done.

    Raises KernelError without an NVIDIA GPU, for a product out of reach or that no candidate can compute, a
    table of another GPU, a wrong result, or a GPU that fails.
    """
    for product in products:
        if product.dtype not in DTYPES:
            raise KernelError(f"the kernels multiply {', '.join(DTYPES)}; the dtype is {product.dtype}")
    require_gpu()
    made: dict[str, Any] = {"machine": facts(), "method": method(samples), "rows": []}
    table = merged(table or made, made)
    for product in products:
        made["rows"].append(_row(product, samples, seed, top, progress))
    return merged(table, made)


def _row(
    product: Product, samples: int, seed: int, top: int | None, progress: Callable[[int], object]
) -> dict[str, Any]:
    device, loads, done = this_gpu(1), "ptr" if no_tma(product) else "tma", 0
    every = list(candidates(product, device, loads))
    if top is not None:
        from tilesim.choice.choose import choose  # matmul imports this package, and needs no model

        every = [one.config for one in choose(product, device, loads)[:top]]

    def screened(share: float) -> None:
        nonlocal done
        progress(round(share * PROGRESS_UNITS) - done)
        done = round(share * PROGRESS_UNITS)

    found = times(product, every, samples, seed, screened)
    for why in found.wrong.values():
        raise KernelError(why)
    if not found.us:
        raise KernelError(f"none of {len(every)} kernels can compute {product} on this GPU")
    best = min(found.us, key=found.us.__getitem__)
    us = {"us": found.us[best], "cublas_us": found.cublas_us, "candidates": len(found.us)}
    return asdict(product) | {"config": str(best)} | us


def all_times(
    products: Sequence[Product], budget_s: float, processes: int = 1, samples: int = 15,
    progress: Callable[[int], object] = lambda done: None,
) -> dict[str, Any]:  # fmt: skip
    """Times of all candidates for each product, as many as the budget of seconds allows, in turn.

    Kernels are compiled first, on `processes` processes. The report has "machine", "method", "kernels", a
    list of all, and "rows": a product with cublas_us and "us", a list of [kernel, µs]. "wrong" and "failed"
    list [kernel, product, why] of those that were not timed.
    """
    require_gpu()
    began, device = time.monotonic(), this_gpu(1)
    broken = compile_all(products, device, processes)
    numbers: dict[KernelConfig, int] = {}
    report: dict[str, Any] = {
        "machine": facts(), "method": method(samples), "compile_s": round(time.monotonic() - began),
        "kernels": [], "rows": [], "wrong": [],
        "failed": [[str(config), group, "the GPU failed"] for config, group in broken],
    }  # fmt: skip
    for product in products:
        if time.monotonic() - began > budget_s:
            break
        every = [one for one in candidates(product, device) if (one, kind(product)) not in broken]
        try:
            found = times(product, every, samples)
        except KernelError as error:
            report["stopped"] = str(error)
            break
        for what, whys in (("wrong", found.wrong), ("failed", found.failed)):
            report[what] += [[str(config), str(product), why] for config, why in whys.items()]
        us = [
            [numbers.setdefault(config, len(numbers)), taken]
            for config, taken in sorted(found.us.items(), key=lambda item: item[1])
        ]
        size = product.m, product.n, product.k
        about = {"held_out": size in held_out(), "cublas_us": found.cublas_us, "us": us}
        report["rows"].append(asdict(product) | about)
        progress(1)
    return report | {"kernels": list(map(str, numbers))}
