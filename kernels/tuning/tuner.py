"""The tuner: a table of the fastest kernels, by which `matmul` chooses, and all times, to judge the model."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from typing import Any

import torch

from tilesim.choice.candidates import candidates
from tilesim.devices.device import Device
from tilesim.errors import TilesimError
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

from ..errors import KernelError
from ..gemm.jobs import job
from ..launch.cublas import cublas
from ..launch.here import no_tma
from ..launch.job import Job
from ..launch.operands import DTYPES, Matrices, gpu_memory, matrices, sets_beyond_l2
from ..measure.machine import device as this_gpu
from ..measure.machine import facts
from ..measure.reference import verify_result
from ..measure.timing import REST, Rotation, capture, require_gpu, sample, spread, working_gpu
from .choice import merged
from .products import held_out

SCREENING, FINALISTS, WARMUP, HOPELESS = 3, 8, 5, 1.6
"""Samples of each kernel, how many of the fastest are sampled again, after how many rounds; one that takes
HOPELESS times as long as the fastest so far is sampled once."""

CUBLAS = "cublas"


def method(samples: int) -> str:
    return (
        "each kernel's C, poisoned with NaN, is compared with a float64 product of random inputs; then"
        f" {SCREENING} samples of each kernel, 1 if it took {HOPELESS:g} times as long as the fastest so far,"
        f" and {samples} of the fastest {FINALISTS} and of cuBLAS in turns; a sample is the mean of a replay"
        " of a CUDA graph, one launch per operand set, the sets together over 3 times the L2; before each"
        f" sample the L2 is filled with other data, after it the GPU rests {REST:g} times as long as it"
        " worked; times are medians in µs; cuBLAS multiplies fp8 with B column-major, copied beforehand where"
        " it is not"
    )


PROGRESS_UNITS = 100

Times = tuple[dict[KernelConfig, float], float | None, dict[KernelConfig, tuple[str, str]]]
"""Of one product: the µs of each kernel, those of the finalists by the later samples; of cuBLAS, None where
it cannot multiply such operands; and why a kernel was not timed: it is "wrong" or has "failed", and how."""


def times(
    product: Product, configs: Sequence[KernelConfig], samples: int, seed: int = 0,
    progress: Callable[[int], object] = lambda units: None,
) -> Times:  # fmt: skip
    """Time `configs`, which can compute `product`; `progress` gets how many more of PROGRESS_UNITS are done.
    Raises KernelError where the operands do not fit into the GPU's memory, or the GPU fails."""
    with gpu_memory(product), working_gpu():
        device, best = this_gpu(1), float("inf")
        found: dict[KernelConfig, float] = {}
        untimed: dict[KernelConfig, tuple[str, str]] = {}
        sets = [matrices(product, "cuda", seed + i) for i in range(sets_beyond_l2(product))]
        rotations: dict[KernelConfig, Rotation] = {}
        for i, config in enumerate(configs):
            try:
                work = job(config, product, device)
                launches = launches_for(work, sets)
                try:
                    verify_result(str(config), launches[0], product, sets[0])
                except KernelError as wrong:
                    untimed[config] = "wrong", str(wrong)
                    continue
                work.check()
                rotation = Rotation(capture(launches), launches)
            except (TilesimError, RuntimeError, ValueError, TypeError) as failed:
                if "CUDA" in str(failed):
                    raise
                untimed[config] = "failed", str(failed).split("\n")[0][:120]
                continue
            finally:
                done, now_done = (PROGRESS_UNITS * count // len(configs) for count in (i, i + 1))
                progress(now_done - done)
            us = sample({config: rotation}, 0, 1)[config]
            if us[0] < HOPELESS * best:
                us = sample({config: rotation}, 0, SCREENING)[config]
            found[config] = spread(us)["us"]
            best = min(best, found[config])
            rotations[config] = rotation
        turns: dict[Any, Rotation] = {
            one: rotations[one] for one in sorted(found, key=found.__getitem__)[:FINALISTS]
        }
        library = [cublas(product.dtype, operands) for operands in sets]
        try:
            library[0]()
        except RuntimeError:
            pass  # cuBLAS cannot multiply such operands
        else:
            turns[CUBLAS] = Rotation(capture(library), library)
        seen = sample(turns, WARMUP, samples) if found else {}
        final = {one: spread(us)["us"] for one, us in seen.items()}
        cublas_us = final.pop(CUBLAS, None)
        return found | final, cublas_us, untimed


def launches_for(work: Job, sets: Sequence[Matrices]) -> list[Callable[[], object]]:
    first = work.launcher(sets[0])
    first()
    return [first, *(first.bound_to(operands, {}) for operands in sets[1:])]


def compile_all(products: Iterable[Product], device: Device, processes: int) -> set[tuple[KernelConfig, str]]:
    """Launch each kernel once on the smallest product that it is a candidate for, so that Triton keeps it.
    Returns (config, dtype and layout) of those after which the GPU failed, which no later launch may risk."""
    smallest: dict[tuple[KernelConfig, str], Product] = {}
    for product in sorted(products, key=lambda each: each.flops):
        for config in candidates(product, device):
            smallest.setdefault((config, kind(product)), product)
    work, failed = [(config, product) for (config, _), product in smallest.items()], set()
    while work:
        with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
            ended = list(pool.map(_launch_each, [work[i::processes] for i in range(processes)]))
        work = [one for _, left in ended for one in left]
        failed |= {(config, kind(product)) for found, _ in ended for config, product in found}
    return failed


def kind(product: Product) -> str:
    return f"{product.dtype}:{product.layout}"


def _launch_each(work: list[tuple[KernelConfig, Product]]) -> tuple[list, list]:
    """Launch each once; returns one after which the GPU fails, and the rest, which cannot be launched."""
    device = this_gpu(1)
    for i, (config, product) in enumerate(work):
        try:
            job(config, product, device).launcher(matrices(product, "cuda", 0))()
            torch.cuda.synchronize()
        except RuntimeError as error:
            if "CUDA" in str(error):
                return [work[i]], work[i + 1 :]
        except Exception:
            continue  # the measurement tries it again, and says why
    return [], []


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
    device = this_gpu(1)
    for product in products:
        loads = "ptr" if no_tma(product) else "tma"
        if top is None:
            every = list(candidates(product, device, loads))
        else:
            from tilesim.choice.choose import choose  # matmul imports this package, and needs no model

            every = [one.config for one in choose(product, device, loads)[:top]]
        us, cublas_us, untimed = times(product, every, samples, seed, progress)
        for what, why in untimed.values():
            if what == "wrong":
                raise KernelError(why)
        if not us:
            raise KernelError(f"none of {len(every)} kernels can compute {product} on this GPU")
        best = min(us, key=us.__getitem__)
        found = {"config": str(best), "us": us[best], "cublas_us": cublas_us, "candidates": len(us)}
        made["rows"].append(asdict(product) | found)
    return merged(table, made)


def all_times(
    products: Sequence[Product], budget_s: float, processes: int = 1, samples: int = 15,
    progress: Callable[[int], object] = lambda done: None,
) -> dict[str, Any]:  # fmt: skip
    """Times of all candidates for each product, as many as the budget of seconds allows, in turn. Kernels are
    compiled first, on `processes` processes. The report has "machine", "method", "kernels", a list of all,
    and "rows": a product with cublas_us and "us", a list of [kernel, µs]. "wrong" and "failed" list [kernel,
    product, why] of those that were not timed."""
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
            us, cublas_us, untimed = times(product, every, samples)
        except KernelError as error:
            report["stopped"] = str(error)
            break
        for config, (what, why) in untimed.items():
            report[what].append([str(config), str(product), why])
        by_time = sorted(us.items(), key=lambda item: item[1])
        size = product.m, product.n, product.k
        found = {"held_out": size in held_out(), "cublas_us": cublas_us}
        found["us"] = [[numbers.setdefault(config, len(numbers)), taken] for config, taken in by_time]
        report["rows"].append(asdict(product) | found)
        progress(1)
    return report | {"kernels": list(map(str, numbers))}
