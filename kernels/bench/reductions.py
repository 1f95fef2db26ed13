"""reductions: times of the five steps of the reduction ladder, beside a copy and torch.sum.

Before any timing, a vector of random odd multiples of a half is summed: fp32 holds its sums exactly in any
order, and no value is zero, so that one left out or taken twice is seen.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import torch

from ..launch.operands import VECTORS, beyond_l2, memory_for
from ..measure.machine import measuring
from ..measure.reference import verified
from ..measure.timing import method, replayed
from ..reductions import STEPS, THREADS, Summing, summing

SIZES = (2**20, 2**24, 2**28)
BYTES = 4
TOLERANCE = 1e-6
"""Largest allowed |sum - reference| / reference over fractions from 0 to 1: some roundings of fp32."""

OTHERS = {
    "torch.sum": "PyTorch's own",
    "copy": "each element read and its negative written: what the memory gives",
}
METHOD = (
    method(f"one sum per vector, {VECTORS}", "steps")
    + "; before any timing each step's sum of half-integers must be exact and that of fractions within"
    f" {TOLERANCE:g} of a float64 sum, with all partial sums poisoned with NaN; gb_per_s: bytes of the"
    " vector, for the copy twice as many, by the median time; share_of_copy: gb_per_s by the copy's"
)


@measuring
def reductions(*sizes: int, warmup: int = 30, samples: int = 100) -> dict[str, Any]:
    """Time each step on fp32 vectors of `sizes` values. A row per size and step, and one each for torch.sum
    and copy, has name, why (in a sentence), n; us (the median), p20 and p80 in µs; gb_per_s, share_of_copy;
    stages (launches of one sum); relative_error against a float64 sum, None for the copy. Raises KernelError,
    too, for a size that does not fit."""
    rows: list[dict[str, Any]] = []
    for n in sizes or SIZES:
        with _memory(n):
            rows += _rows(n, warmup, samples)
    return {"method": METHOD, "rows": rows}


def _memory(n: int) -> AbstractContextManager[None]:
    """Raise KernelError, in one sentence, where vectors of n values do not fit into the GPU's memory."""
    vectors = 2 * beyond_l2(BYTES * n)
    gb = f"{n} values of fp32 take {BYTES * n / 1e9:.1f} GB, needed {vectors} times, to copy them as well"
    return memory_for(vectors * BYTES * n, gb)


def slots() -> int:
    """How many thread blocks of a step this GPU runs at once; their threads alone limit it."""
    here = torch.cuda.get_device_properties()
    return here.max_threads_per_multi_processor // THREADS * here.multi_processor_count


def _rows(n: int, warmup: int, samples: int) -> list[dict[str, Any]]:
    random = torch.Generator("cuda").manual_seed(0)
    vectors = [torch.empty(n, device="cuda").uniform_(generator=random) for _ in range(beyond_l2(BYTES * n))]
    makers: dict[str, Callable[[torch.Tensor], Summing]] = {
        step.name: partial(summing, step, slots=slots()) for step in STEPS
    }
    makers["torch.sum"] = _torch_sum
    launches: dict[str, list[Callable[[], object]]] = {}
    about: dict[str, dict[str, Any]] = {}
    for name, make in makers.items():
        sums = [make(x) for x in vectors]
        error = verified_sum(name, sums[0], vectors[0], random)
        about[name] = {"stages": sums[0].stages, "relative_error": error}
        launches[name] = [one.launch for one in sums]
    # not copy_: a graph makes a memcpy node of it, which an H200 runs at 2.7 TB/s where a kernel moves 4.2
    launches["copy"] = [partial(torch.neg, x, out=torch.empty_like(x)) for x in vectors]
    about["copy"] = {"stages": 1, "relative_error": None}
    times = replayed(launches, warmup, samples)
    whys = {step.name: step.why for step in STEPS} | OTHERS
    gb_per_s = {name: BYTES * n * (2 if name == "copy" else 1) / times[name]["us"] / 1e3 for name in times}
    shares = {name: round(rate / gb_per_s["copy"], 3) for name, rate in gb_per_s.items()}
    return [
        {"name": name, "n": n}
        | times[name]
        | {"gb_per_s": float(f"{gb_per_s[name]:.4g}"), "share_of_copy": shares[name], "why": whys[name]}
        | about[name]
        for name in times
    ]


def _torch_sum(x: torch.Tensor) -> Summing:
    sums = torch.empty(1, dtype=torch.float32, device=x.device)
    return Summing(lambda: torch.sum(x, 0, out=sums[0]), sums)


def verified_sum(name: str, made: Summing, x: torch.Tensor, random: torch.Generator) -> float:
    """Sum x twice, filled anew with half-integers and then with fractions, and return the relative error.
    Raises KernelError, so that nothing is timed, where the first sum is not exact or the second's error is
    above TOLERANCE. All partial sums are NaN before."""

    def error() -> float:
        right = float(x.sum(dtype=torch.float64))
        return abs(float(made.sums[-1]) - right) / max(abs(right), 2**-24)

    def verify(numbers: str, tolerance: float) -> float:
        wrong = f"{name} gets the sum of {len(x)} {numbers} wrong"
        return verified(wrong, made.sums, made.launch, error, tolerance)

    x.random_(-8, 8, generator=random).add_(0.5)
    verify("half-integers", 0)
    x.uniform_(generator=random)
    return verify("fractions", TOLERANCE)
