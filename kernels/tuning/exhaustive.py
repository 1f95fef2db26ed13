"""exhaustive: the time of every candidate for many products, beside cuBLAS, to judge what is chosen by."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from math import prod
from multiprocessing import get_context
from random import Random
from typing import Any

import torch

from tilesim.choice.candidates import Candidate, candidates
from tilesim.devices.device import Device
from tilesim.errors import TilesimError
from tilesim.problems import Problem

from ..errors import KernelError
from ..launch.cublas import cublas
from ..launch.job import Job
from ..launch.jobs import job
from ..launch.operands import Matrices, gpu_memory, matrices, sets_beyond_l2
from ..measure.machine import device as this_gpu
from ..measure.machine import facts
from ..measure.reference import TOLERANCE
from ..measure.timing import REST, Rotation, capture, require_gpu, sample, spread, working_gpu

SHAPES = (
    (16, 512, 8192), (16, 7168, 2048), (16, 28672, 4096), (16, 4096, 14336), (32, 2560, 2560),
    (32, 10240, 8192), (48, 6144, 4096), (64, 4096, 4096), (64, 7168, 2048), (64, 8192, 28672),
    (64, 24576, 1536), (128, 1024, 1024), (128, 2112, 7168), (128, 10240, 8192), (128, 28672, 4096),
    (128, 4096, 14336), (200, 5120, 5120), (256, 2048, 16384), (256, 6144, 4096), (256, 8192, 8192),
    (512, 512, 28672), (512, 4096, 4096), (512, 14336, 4096), (512, 7168, 18432), (768, 3072, 768),
    (1024, 2560, 10240), (1024, 4096, 14336), (1024, 10240, 8192), (1024, 28672, 4096), (1536, 1536, 6144),
    (2000, 5120, 3584), (2048, 4096, 4096), (2048, 6144, 2048), (2048, 28672, 512), (3072, 3072, 3072),
    (4096, 1024, 7168), (4096, 4096, 14336), (4096, 10240, 8192), (4096, 28672, 4096), (6016, 2304, 1280),
    (8192, 2048, 2048), (8192, 6144, 4096), (8192, 14336, 4096), (16384, 512, 3072), (16384, 1536, 8960),
    (16384, 4096, 4096), (16384, 8192, 8192),
)  # fmt: skip
"""M, N and K of products that are timed: linear layers of language models, and others between them."""

DRAWN_KINDS, DRAWS = ("bf16:nn", "bf16:nt", "fp8:nt"), ((108, 4242), (240, 90210))
"""Further products are drawn: the kinds in turn; how many, and the seed of each draw."""

MOST_WORK, MOST_WEIGHTS = 1.2e12, 3e8
"""M · N · K and N · K of those, so that they take milliseconds at most."""

HELD_OUT = 5
"""Each of so many shapes, from the third on, is left out of all that is fitted; and of turns of the kinds."""

SCREENING, FINALISTS, SAMPLES, HOPELESS = 3, 8, 15, 1.6
"""Samples of each candidate, how many of the fastest are sampled again, and how often; one that takes
HOPELESS times as long as the fastest so far is sampled once."""

METHOD = (
    "each candidate's C, poisoned with NaN, is compared with cuBLAS's; then {screening} samples of each"
    " candidate, 1 where it took {hopeless:g} times as long as the fastest so far, and {samples} of"
    " the fastest {finalists} and of cuBLAS in turns; a sample is the mean of a replay of a CUDA graph, one"
    " launch per operand set, the sets together over 3 times the L2; before each sample the L2 is filled with"
    " other data, after it the GPU rests {rest:g} times as long as it worked; times are medians in µs; cuBLAS"
    " multiplies fp8 with B column-major, copied beforehand where it is not"
)


def exhaustive(
    products: Sequence[tuple[Problem, str]],
    budget_s: float,
    processes: int = 1,
    progress: Callable[[int], object] = lambda done: None,
) -> dict[str, Any]:
    """Times of all candidates for each (problem, layout), as many as the budget of seconds allows, in turn.

    Kernels are compiled first, on `processes` processes. The report has "machine", "method", "kernels", a
    list of all (variant, tile, order), and "rows": a product with cublas_us and "us", a list of [kernel, µs],
    the finalists' by the later samples. "wrong" lists kernels that computed something else.
    """
    require_gpu()
    began = time.monotonic()
    device = this_gpu(1)
    broken = compile_all(products, device, processes)
    method = METHOD.format(
        screening=SCREENING, hopeless=HOPELESS, samples=SAMPLES, finalists=FINALISTS, rest=REST
    )
    kernels: dict[tuple, int] = {}
    report: dict[str, Any] = {
        "machine": facts(), "method": method, "compile_s": round(time.monotonic() - began), "kernels": [],
        "rows": [], "wrong": [], "failed": [[*map(str, one), "the GPU failed"] for one in broken],
    }  # fmt: skip
    for problem, layout in products:
        if time.monotonic() - began > budget_s:
            break
        every = [
            one
            for one in candidates(problem, device, layout)
            if (*_identity(one), problem.dtype, layout) not in broken
        ]
        try:
            with gpu_memory(problem), working_gpu():
                row, us = _row(problem, layout, every, device, report)
        except KernelError as error:
            report["stopped"] = str(error)
            break
        for one, taken in sorted(us.items(), key=lambda item: item[1]):
            number = kernels.setdefault(_identity(one), len(kernels))
            if number == len(report["kernels"]):
                report["kernels"].append(_described(one))
            row["us"].append([number, taken])
        report["rows"].append(row)
        progress(1)
    return report


Drawn = tuple[int, int, int, str]
"""M, N and K of a product, and its kind."""


def drawn(count: int, seed: int, kinds: Sequence[str] = DRAWN_KINDS) -> list[Drawn]:
    """Products of sizes between those of a token and of a large batch, and of small and large layers, as
    multiples of 16, 64 or 128; the kinds in turn."""
    random, found = Random(seed), list[Drawn]()
    while len(found) < count:
        m, n, k = 2 ** random.uniform(4, 14), *(2 ** random.uniform(9, 14.8) for _ in range(2))
        step = random.choice((16, 64, 128))
        rows, *layer = max(16, int(m) // 16 * 16), *(max(512, int(side) // step * step) for side in (n, k))
        if rows * prod(layer) < MOST_WORK and prod(layer) < MOST_WEIGHTS:
            found.append((rows, layer[0], layer[1], kinds[len(found) % len(kinds)]))
    return found


def products(kinds: Iterable[str], seed: int = 0) -> list[tuple[Problem, str]]:
    """Every shape of each kind, such as "bf16:nn", and what is drawn of it: one kind after the other, the
    shapes in random order."""
    random = Random(seed)
    found = []
    for kind in kinds:
        dtype, _, layout = kind.partition(":")
        shapes = random.sample(SHAPES, len(SHAPES))
        shapes += [size for draw in DRAWS for *size, of in drawn(*draw) if of == kind]
        found += [(Problem(*shape, dtype=dtype), layout) for shape in shapes]
    return found


@cache
def held_out() -> frozenset[tuple[int, int, int]]:
    """M, N and K of what nothing may be fitted to."""
    turns = [
        one[:3]
        for draw in DRAWS
        for i, one in enumerate(drawn(*draw))
        if i // len(DRAWN_KINDS) % HELD_OUT == 2
    ]
    return frozenset((*SHAPES[2::HELD_OUT], *turns))


def compile_all(
    products: Iterable[tuple[Problem, str]], device: Device, processes: int
) -> set[tuple[Any, ...]]:
    """Launch each kernel once on the smallest product that it is a candidate for, so that Triton keeps it.

    Returns the identities of those after which the GPU failed, which no later launch may risk.
    """
    smallest: dict[tuple, tuple[Candidate, str]] = {}
    for problem, layout in sorted(products, key=lambda each: each[0].flops):
        for one in candidates(problem, device, layout):
            smallest.setdefault((*_identity(one), problem.dtype, layout), (one, layout))
    work, failed = list(smallest.values()), set()
    while work:
        with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
            ended = list(pool.map(_launch_each, [work[i::processes] for i in range(processes)]))
        work = [one for _, left in ended for one in left]
        failed |= {
            (*_identity(one), one.problem.dtype, layout) for found, _ in ended for one, layout in found
        }
    return failed


Work = list[tuple[Candidate, str]]


def _launch_each(work: Work) -> tuple[Work, Work]:
    """Launch each once. Where one makes the GPU fail, this process can launch no more: returns it and the
    rest."""
    device = this_gpu(1)
    for i, (one, layout) in enumerate(work):
        try:
            operands = matrices(one.problem, "cuda", 0, layout)
            job(one.variant, one.problem, device).launcher(operands)()
            torch.cuda.synchronize()
        except RuntimeError as error:
            if "CUDA" in str(error):
                return [work[i]], work[i + 1 :]
        except Exception:
            continue  # the measurement tries it again, and says why
    return [], []


def _row(
    problem: Problem, layout: str, every: Sequence[Candidate], device: Device, report: dict[str, Any]
) -> tuple[dict[str, Any], dict[Candidate, float]]:
    sets = [matrices(problem, "cuda", i, layout) for i in range(sets_beyond_l2(problem))]
    known = [cublas(problem.dtype, operands) for operands in sets]
    known[0]()
    right = sets[0][2].clone()
    library = Rotation(capture(known), known)
    best = spread(sample({"": library}, 1, SCREENING)[""])["us"]
    screened: dict[Candidate, float] = {}
    rotations: dict[Any, Rotation] = {}
    for one in every:
        try:
            launches = launches_for(job(one.variant, one.problem, device), sets)
            sets[0][2].fill_(float("nan"))
            launches[0]()
            if not _error(sets[0][2], right) <= 2 * TOLERANCE[problem.dtype]:
                report["wrong"].append([_described(one), _size(problem, layout)])
                continue
            rotation = Rotation(capture(launches), launches)
        except (TilesimError, RuntimeError, ValueError, TypeError) as failed:
            if "CUDA" in str(failed):
                raise
            report["failed"].append(
                [_described(one), _size(problem, layout), str(failed).split("\n")[0][:120]]
            )
            continue
        times = sample({"": rotation}, 0, 1)[""]
        if times[0] < HOPELESS * best:
            times = sample({"": rotation}, 0, SCREENING)[""]
        screened[one] = spread(times)["us"]
        best = min(best, screened[one])
        rotations[one] = rotation
    finalists = sorted(screened, key=lambda one: screened[one])[:FINALISTS]
    turns: dict[Any, Rotation] = {one: rotations[one] for one in finalists} | {"cublas": library}
    samples = min(SAMPLES, max(5, int(3e5 / (best * len(sets) * len(turns)))))
    us = {one: spread(times)["us"] for one, times in sample(turns, 1, samples).items()}
    size = problem.m, problem.n, problem.k
    row = dict(zip("mnk", size, strict=True)) | {"dtype": problem.dtype, "layout": layout}
    row["held_out"] = size in held_out()
    return row | {"cublas_us": us.pop("cublas"), "us": []}, screened | us


def launches_for(work: Job, sets: Sequence[Matrices]) -> list[Callable[[], object]]:
    """A launch for each set of operands, all with one workspace."""
    first = work.launcher(sets[0])
    first()
    return [first, *(first.bound_to(operands, {}) for operands in sets[1:])]


def _error(found: torch.Tensor, right: torch.Tensor) -> float:
    return float((found.float() - right.float()).norm() / right.float().norm())


def _size(problem: Problem, layout: str) -> str:
    return f"{problem.m}x{problem.n}x{problem.k} {problem.dtype} {layout}"


def _identity(one: Candidate) -> tuple:
    return one.variant, one.problem.tile, one.problem.order


def _described(one: Candidate) -> list[Any]:
    variant = one.variant
    return [
        variant.kernel, variant.schedule, variant.loads, variant.overlap, variant.warps, variant.stages,
        variant.epilogue_subtiles, list(one.problem.tile), one.problem.order,
    ]  # fmt: skip
