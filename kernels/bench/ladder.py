"""ladder: the steps from one program per element to kernels at the GPU's limit, timed in one run."""

from dataclasses import dataclass
from typing import Any

import torch

from tilesim.devices.presets import presets
from tilesim.kernel_config import KernelConfig
from tilesim.problems import Problem
from tilesim.products import Product

from ..errors import KernelError
from ..launch.cublas import cublas
from ..launch.here import check
from ..launch.operands import gpu_memory, matrices, size_bytes
from ..measure.machine import device, measuring
from ..measure.timing import replayed
from .bench import METHOD, Contender, compare, job_of, tflops
from .counters import counted

BIG = (128, 256, 64)
"""The tile that most steps share, so that they differ only by the change they name."""


@dataclass(frozen=True, slots=True)
class KernelStep:
    """A step of the ladder: what it changes against the one before, and why that is faster.
    `max_multiplications`: products of more multiplications are left out."""

    name: str
    change: str
    why: str
    config: KernelConfig
    max_multiplications: int = 2**62


STEPS = (
    KernelStep(
        "element", "one program computes one element",
        "Each element reads a whole row of A and a whole column of B; what it loads, it uses once.",
        KernelConfig("element", "naive", (16, 16, 256), warps=1, stages=1, loads="ptr"), 2048**3,
    ),
    KernelStep(
        "uncoalesced", "a program computes a tile; threads load down columns",
        "A tile uses what it loads many times over; but each load touches 32 cache lines.",
        KernelConfig("uncoalesced", "naive", (128, 128, 32), stages=1, loads="ptr"),
    ),
    KernelStep(
        "coalesced", "neighboring threads load neighbors",
        "A warp's load is a few whole cache lines, all of which it uses.",
        KernelConfig("naive", "naive", (128, 128, 32), stages=1, loads="ptr"),
    ),
    KernelStep(
        "tiled", "a tile is twice as wide, and a K-step twice as long",
        "A larger tile uses each number that it loads more often.",
        KernelConfig("naive", "naive", BIG, stages=1, loads="ptr"),
    ),
    KernelStep(
        "grouped", "tiles are visited in groups of 8 rows",
        "Tiles at work at the same time share rows of A and columns of B, which the L2 cache then holds.",
        KernelConfig("naive", "naive", BIG, "grouped:8", stages=1, loads="ptr"),
    ),
    KernelStep(
        "pipelined", "loads run two K-steps ahead",
        "The tensor cores no longer wait for each load: the next two are on their way.",
        KernelConfig("naive", "naive", BIG, "grouped:8", loads="ptr"),
    ),
    KernelStep(
        "tma", "one instruction loads a whole block",
        "The copy engine computes the addresses, and the threads that did so are free.",
        KernelConfig("naive", "naive", BIG, "grouped:8"),
    ),
    KernelStep(
        "persistent", "one thread block per SM loops over tiles",
        "A thread block is launched once for each SM and not once for each tile.",
        KernelConfig("persistent", "persistent", BIG, "grouped:8"),
    ),
    KernelStep(
        "overlapped", "a tile is written half by half under the next one's loads",
        "Loads of the next tile run while a tile is written, and halves leave memory for a fourth stage.",
        KernelConfig(
            "persistent", "persistent", BIG, "grouped:8", stages=4, overlap=True, epilogue_subtiles=2
        ),
    ),
    KernelStep(
        "warp-specialized", "one warp loads, eight multiply",
        "The warp that loads waits for an empty stage alone, never for a multiplication.",
        KernelConfig("warp-specialized", "persistent", BIG, "grouped:12", stages=4, overlap=True),
    ),
    KernelStep(
        "ping-pong", "two groups of warps take turns",
        "While one group writes its tile, the other multiplies.",
        KernelConfig("ping-pong", "persistent", (128, 128, 64), "grouped:8", stages=6, overlap=True),
    ),
    KernelStep(
        "stream-k", "the last wave is cut along K",
        "All SMs work to the end, and add what each of them summed: it pays where the tail is bad.",
        KernelConfig("table", "stream-k-hybrid", BIG, "grouped:8", overlap=True),
    ),
)  # fmt: skip
"""From slow to fast."""

YARDSTICK = "cublas"
SIZES = ((2048, 2048, 2048), (4096, 4096, 4096), (4096, 4352, 4096), (8192, 8192, 512))
"""Where nothing else is asked for: the film's, a bad tail, and a short K."""


@measuring
def ladder(*sizes: tuple[int, int, int], dtype: str = "bf16", samples: int = 50) -> dict[str, Any]:
    """Time every step and cuBLAS at each (M, N, K): "peak_tflops", "bandwidth_gb_per_s" (each "measured", and
    "datasheet" where a preset knows it), "left_out" (why steps cannot run here) and "rows".

    A row per size and step has step (from 1; None is cuBLAS), name, change, why, what `bench` says of a
    kernel, and METRICS; bytes_from says whether these are from "counters" or, dram_bytes alone, from a
    "model" that moves every matrix once.
    """
    rows: list[dict[str, Any]] = []
    left_out: dict[str, str] = {}
    for m, n, k in sizes or SIZES:
        problem = Problem(m, n, k, dtype=dtype)
        check(STEPS[3].config, Product.of(problem))
        with gpu_memory(Product.of(problem)):
            rows += _rows(problem, samples, left_out)
    peak, bandwidth = peaks(dtype)
    sheet = presets().get(device(1).name, {})
    return {
        "method": METHOD,
        "peak_tflops": {"measured": peak} | _known(sheet.get("peak_tflops", {}).get(dtype)),
        "bandwidth_gb_per_s": {"measured": bandwidth} | _known(sheet.get("memory_gb_per_s")),
        "left_out": left_out,
        "rows": rows,
    }


def _known(value: float | None) -> dict[str, float]:
    return {} if value is None else {"datasheet": value}


def _rows(problem: Problem, samples: int, left_out: dict[str, str]) -> list[dict[str, Any]]:
    product = Product.of(problem)
    contenders: dict[str, Contender] = {}
    about: dict[str, dict[str, Any]] = {}
    for number, step in enumerate(STEPS, 1):
        small = problem.m * problem.n * problem.k <= step.max_multiplications
        why_not = refusal(step.config, problem) if small else "it would take too long"
        if why_not:
            left_out[f"{step.name} {problem.m}x{problem.n}x{problem.k}"] = why_not
            continue
        contenders[step.name] = step.config
        about[step.name] = {"step": number, "name": step.name, "change": step.change, "why": step.why}
    contenders[YARDSTICK] = cublas
    about[YARDSTICK] = {
        "step": None, "name": YARDSTICK, "change": "NVIDIA's library", "why": "The yardstick: torch.mm.",
    }  # fmt: skip
    timed = compare(problem, contenders, warmup=10, samples=samples, counting=counted)
    model = {"bytes_from": "model", "dram_bytes": size_bytes(product)}
    return [
        about[row["kernel"]] | row | ({"bytes_from": "counters"} if "dram_bytes" in row else model)
        for row in timed
    ]


def refusal(config: KernelConfig, problem: Problem) -> str:
    """Why the kernel cannot run here; empty where it can."""
    try:
        work, _ = job_of(config, problem, device(1))
        work.launcher(matrices(Product.of(problem), "cuda", seed=0))()
    except KernelError as error:
        return str(error)
    return ""


def peaks(dtype: str) -> tuple[float, float]:
    """(TFLOP/s of a large torch.mm, GB/s of a large vector's reading and writing), measured here."""
    problem = Problem(8192, 8192, 8192, dtype=dtype)
    operands = matrices(Product.of(problem), "cuda", seed=0)
    source = torch.randn(2**28, device="cuda")
    target = torch.empty_like(source)
    # not copy_: a graph makes a memcpy node of it, which moves 2.7 TB/s on an H200
    products, copies = [cublas(dtype, operands)] * 2, [lambda: torch.neg(source, out=target)] * 4
    times = replayed({"product": products, "copy": copies}, 3, 15)
    return tflops(problem, times["product"]["us"]), round(2 * source.nbytes / times["copy"]["us"] / 1000, 1)
