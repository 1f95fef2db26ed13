"""How many bytes a kernel moves, counted by the GPU: Nsight Compute around one launch in a process."""

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from tilesim.problems import Problem

from ..launch.cublas import cublas
from ..launch.jobs import job
from ..launch.operands import matrices
from ..launch.variants import Variant
from ..measure.machine import device

METRICS = {
    "dram_bytes": "dram__bytes.sum",
    "l2_bytes": "lts__t_bytes.sum",
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "spill_sectors": "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
}
"""Counters by what they are called here; a sector is 32 bytes, a request a warp's
load instruction; spills are registers that did not fit and are loaded again."""

LONGEST_S = 300
"""How long a process under the profiler may take."""

ONCE = """
import sys
from tilesim.cli.packages import load
load("kernels")
from tilesim_kernels.bench.counters import once
once(sys.argv[1])
"""


def counted(entrants: Sequence[tuple[Problem, Variant | None]]) -> list[dict[str, int]] | None:
    """METRICS of one launch of each (cold caches; None as variant: torch.mm, last if at all).

    None where Nsight Compute is not there or reads no counters here. The entrants must run on this machine.
    """
    ncu = shutil.which("ncu")
    if ncu is None:
        return None
    told = json.dumps([[asdict(problem), what and asdict(what)] for problem, what in entrants])
    command = [
        ncu, "--profile-from-start", "off", "--clock-control", "none", "--csv", "--print-units", "base",
        "--metrics", ",".join(METRICS.values()), sys.executable, "-c", ONCE, told,
    ]  # fmt: skip
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LONGEST_S, check=True,
            env=os.environ | {"PYTHONPATH": path},
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return totals(done.stdout, len(entrants))


def totals(said: str, entrants: int) -> list[dict[str, int]] | None:
    """The counters in what Nsight Compute said as CSV, per entrant; what is left over is the last one's.

    None where a counter is missing, as where the profiler has no right to read it.

    >>> said = '"ID","Metric Name","Metric Value"\\n"0","dram__bytes.sum","1,024"\\n'
    >>> totals(said, 1) is None
    True
    """
    lines = said.splitlines()
    head = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if head is None:
        return None
    names = {metric: name for name, metric in METRICS.items()}
    sums: list[dict[str, int]] = [{} for _ in range(entrants)]
    launches: dict[str, int] = {}
    for row in csv.DictReader(lines[head:]):
        if row.get("Metric Name") not in names:
            continue
        launch = launches.setdefault(row["ID"], len(launches))
        counts, name = sums[min(launch, entrants - 1)], names[row["Metric Name"]]
        try:
            counts[name] = counts.get(name, 0) + round(float(row["Metric Value"].replace(",", "")))
        except ValueError:
            return None
    return sums if all(set(counts) == set(METRICS) for counts in sums) else None


def once(told: str) -> None:
    """Launch each entrant once under the profiler, after a launch outside of it that compiles."""
    for shape, what in json.loads(told):
        problem = Problem(**shape | {"tile": tuple(shape["tile"])})
        operands = matrices(problem, "cuda", seed=0)
        if what is None:
            launch = cublas(problem.dtype, operands)
        else:
            launch = job(Variant(**what), problem, device(1)).launcher(operands)
        launch()
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        launch()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
