"""fusion: chains of elementwise functions, one kernel each or all in one, and a product with its epilogue."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from tilesim.problems import Problem
from tilesim.products import Product

from ..launch.job import Launch
from ..launch.operands import VECTORS, beyond_l2, memory_for, sets_beyond_l2
from ..measure.machine import measuring
from ..measure.reference import verified
from ..measure.timing import host_us, method, replayed
from .counters import COUNTERS, profiled
from .fusion_kernels import PRODUCT_WAYS, WAYS, Work, chain, compiled, operands, product_of

LARGE, SMALL, TINY = 2**26, 2**21, 2**10
"""Elements of fp32: four times an H200's L2, of which several fit into it, and so few that launches count."""

CHAINS = (1, 2, 4, 8)

BYTES = 4
TOLERANCE, PRODUCT_TOLERANCE = 1e-5, 1e-2
"""Largest allowed |y - reference| / |reference|: of 1,024 roundings in fp32; of three steps in bf16."""

METRICS = {name: COUNTERS[name] for name in ("dram_read_bytes", "dram_write_bytes", "l2_bytes")}

METHOD = (
    method(f"one chain per vector, {VECTORS}", "contenders of one size")
    + "; before any timing each result, poisoned with NaN, is compared with float64; host_us: where the host"
    " launches one by one; bytes: Nsight Compute's counters of one chain, summed over its kernels, each of"
    " which finds the caches as the one before left them, the first an L2 filled with other data"
)


@measuring
def fusion(samples: int = 50) -> dict[str, Any]:
    """Time all: "left_out" (why something is missing, by its kernel), "rows" and "products".

    A row has kernel ("eager": a kernel of PyTorch's for each function; "torch.compile"; "fused": one of this
    package for all), elements, functions; us (the median), p20 and p80 in µs, host_us; relative_error;
    samples, launches (chains in a sample); and METRICS where they were counted. A product's row has m, n, k,
    tile and dtype, and kernel may be "separate": this package's product, then kernels of PyTorch's.
    """
    needed = 24 * BYTES * LARGE
    with memory_for(needed, f"chains on {LARGE} values of fp32 take {needed / 1e9:.0f} GB"):
        left_out = {"torch.compile": why} if (why := _not_compiling()) else {}
        rows = [row for elements in (LARGE, SMALL, TINY) for row in _chains(elements, samples, left_out)]
        products = [row for k in (512, 4096) for row in _products(k, samples, left_out)]
    counts = counted([(row["kernel"], row["elements"], row["functions"]) for row in rows])
    rows = [row | count for row, count in zip(rows, counts, strict=True)]
    return {"method": METHOD, "left_out": left_out, "rows": rows, "products": products}


def _not_compiling() -> str:
    """Why torch.compile makes no kernels on this machine, in a sentence; nothing where it does."""
    x = torch.ones(1024, device="cuda")
    try:
        compiled(2, x, torch.empty_like(x), x).launch()
    except Exception as failed:  # what it raises depends on what it lacks
        reason = " ".join(str(failed).split())[:200]
        return f"torch.compile, which needs a C compiler, makes no kernel on this machine: {reason}"
    return ""


def _chains(elements: int, samples: int, left_out: dict[str, str]) -> list[dict[str, Any]]:
    torch.compiler.reset()  # it compiles few variants of a function before it gives up
    random = torch.Generator("cuda").manual_seed(0)
    count = beyond_l2(2 * BYTES * elements)
    xs = [torch.randn(elements, device="cuda", generator=random) for _ in range(count)]
    spare = torch.empty_like(xs[0])
    sets = [(x, torch.empty_like(x), spare) for x in xs]
    names = [name for name in WAYS if name not in left_out and (elements > TINY or name != "torch.compile")]
    contenders = [(name, functions) for functions in CHAINS for name in names]
    if elements == LARGE:  # chains that are only timed as one kernel, until arithmetic binds
        contenders += [("fused", functions) for functions in (16, 32, 64, 128, 256, 512, 1024)]
    works, about = [], []
    for name, functions in contenders:
        works.append([WAYS[name](functions, *one) for one in sets])
        reference = chain(xs[0].double(), functions)
        error = verified_work(f"{name} of {functions} functions", works[-1][0], reference, TOLERANCE)
        about.append({"kernel": name, "elements": elements, "functions": functions, "relative_error": error})
    return _rows(about, works, samples)


def _products(k: int, samples: int, left_out: dict[str, str]) -> list[dict[str, Any]]:
    problem = Problem(4096, 4096, k, order="grouped:8")
    sets = [operands(problem, "cuda", seed) for seed in range(sets_beyond_l2(Product.of(problem)))]
    reference = product_of(sets[0])
    shape = {"m": problem.m, "n": problem.n, "k": problem.k, "tile": list(problem.tile)}
    works, about = [], []
    for name in [name for name in PRODUCT_WAYS if name not in left_out]:
        works.append([PRODUCT_WAYS[name](problem, one) for one in sets])
        error = verified_work(f"{name} with bias and relu", works[-1][0], reference, PRODUCT_TOLERANCE)
        about.append({"kernel": name} | shape | {"dtype": problem.dtype, "relative_error": error})
    return _rows(about, works, samples)


def verified_work(name: str, work: Work, reference: torch.Tensor, tolerance: float) -> float:

    def error() -> float:
        return float((work.result.double() - reference).norm() / reference.norm())

    return verified(f"{name} is wrong", work.result, work.launch, error, tolerance)


def _rows(
    about: Sequence[dict[str, Any]], works: Sequence[Sequence[Work]], samples: int
) -> list[dict[str, Any]]:
    launches = [[work.launch for work in sets] for sets in works]
    times = replayed({str(i): each for i, each in enumerate(launches)}, min(10, samples), samples)
    hosts = [host_us(each, samples) for each in launches]
    return [
        known | us | {"host_us": host, "samples": samples, "launches": len(each)}
        for known, us, host, each in zip(about, times.values(), hosts, launches, strict=True)
    ]


def counted(contenders: Sequence[tuple[str, int, int]]) -> list[dict[str, int]]:
    """METRICS of one chain of each (kernel, elements, functions); none of any where they cannot be read.
    Those of torch.compile and of long chains, which move what fused ones move, are not asked for."""
    wanted = [one for one in contenders if one[0] != "torch.compile" and one[2] in CHAINS]
    kernels = [functions if name == "eager" else 1 for name, _, functions in wanted]
    # What a kernel leaves in the L2 stays there for the next one.
    each = profiled("fusion", wanted, sum(kernels), METRICS, options=("--cache-control", "none"))
    found = {}
    for one, count in zip(wanted, kernels, strict=True):
        own, each = each[:count], each[count:]
        found[one] = {name: sum(kernel[name] for kernel in own) for name in own[0]}
    return [found.get(one, {}) for one in contenders]


def once(cases: Sequence[Any]) -> Iterator[Launch]:
    for name, elements, functions in cases:
        x = torch.randn(elements, device="cuda")
        yield WAYS[name](functions, x, torch.empty_like(x), torch.empty_like(x)).launch
