"""What the GPU counts while a kernel runs, above all bytes: Nsight Compute profiles launches in a process."""

import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

from ..gemm.jobs import job
from ..launch.cublas import cublas
from ..launch.job import Launch
from ..launch.operands import matrices
from ..measure.machine import device
from ..microbenchmarks.cases import flush_l2
from .bench import Contender

METRICS = {
    "dram_bytes": "dram__bytes.sum",
    "l2_bytes": "lts__t_bytes.sum",
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "spill_sectors": "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "tensor_cycles": "sm__pipe_tensor_cycles_active.sum",
    "sm_cycles": "sm__cycles_elapsed.sum",
}
"""A sector is 32 bytes, a request a warp's load; spills are registers that did not fit."""

TRAFFIC = {
    "arrived_bytes": "l1tex__m_xbar2l1tex_read_bytes.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_hit_sectors": "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
}
"""What arrives at all SMs, what they read at the L2, what it held of that, and what DRAM passes."""

COUNTERS = METRICS | TRAFFIC

INSTRUCTIONS = {"issued": "smsp__inst_executed.sum", "of_threads": "smsp__thread_inst_executed.sum"}
"""Instructions that warps executed, and the sum over the threads that were active in them."""

ONCE = """
import json, sys
from importlib import import_module
from tilesim.cli.packages import load
load("kernels")
bench, counters = (import_module("tilesim_kernels.bench." + name) for name in (sys.argv[1], "counters"))
counters.profile(bench.once(json.loads(sys.argv[2])))
"""


def counted(
    contenders: Sequence[tuple[Product, Contender]], metrics: Mapping[str, str] = METRICS
) -> list[dict[str, int]]:
    """The metrics of one launch of each product, see `profiled` (cold caches; a library is torch.mm, last if
    at all). The contenders must run on this machine."""
    cases = [
        [asdict(product), str(contender) if isinstance(contender, KernelConfig) else None]
        for product, contender in contenders
    ]
    return profiled("counters", cases, len(cases), metrics)


def profiled(
    bench: str, cases: Sequence[Any], launches: int, metrics: Mapping[str, str], kernels: str = ".",
    options: Sequence[str] = (),
) -> list[dict[str, int]]:  # fmt: skip
    """The metrics of so many `launches` of kernels, those that `once` of the module `bench` makes of `cases`.
    `cases`: JSON values. `kernels`: a pattern of their names. Nothing of each where Nsight Compute is not
    there, fails, or reads no counters here."""
    command = [
        "ncu", "--profile-from-start", "off", "--clock-control", "none", "--csv", "--print-units", "base",
        *options, "--kernel-name", f"regex:{kernels}", "--metrics", ",".join(metrics.values()),
        sys.executable, "-c", ONCE, bench, json.dumps(cases),
    ]  # fmt: skip
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=300, check=True,
            env=os.environ | {"PYTHONPATH": path},
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return [{}] * launches
    return totals(done.stdout, launches, metrics) or [{}] * launches


def totals(
    csv_text: str, contenders: int, metrics: Mapping[str, str] = METRICS
) -> list[dict[str, int]] | None:
    """The counters in what Nsight Compute said as CSV, per contender; what is left over is the last one's.
    None where a counter is missing, as where the profiler has no right to read it."""
    lines = csv_text.splitlines()
    head = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if head is None:
        return None
    names = {metric: name for name, metric in metrics.items()}
    sums: list[dict[str, int]] = [{} for _ in range(contenders)]
    launches: dict[str, int] = {}
    for row in csv.DictReader(lines[head:]):
        if row.get("Metric Name") not in names:
            continue
        launch = launches.setdefault(row["ID"], len(launches))
        counts, name = sums[min(launch, contenders - 1)], names[row["Metric Name"]]
        try:
            counts[name] = counts.get(name, 0) + round(float(row["Metric Value"].replace(",", "")))
        except ValueError:
            return None
    return sums if all(set(counts) == set(metrics) for counts in sums) else None


def once(cases: Sequence[Any]) -> Iterator[Launch]:
    for sizes, config in cases:
        product = Product(**sizes)
        operands = matrices(product, "cuda", seed=0)
        if config is None:
            yield cublas(product.dtype, operands)
        else:
            yield job(KernelConfig.parse(config), product, device(1)).launcher(operands)


def profile(launches: Iterable[Launch]) -> None:
    """Profile each launch, compiled and with the L2 full of other data, and not what makes the next one."""
    for launch in launches:
        launch()
        flush_l2()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        launch()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
