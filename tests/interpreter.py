"""The kernels as the tests run them: by Triton's interpreter. Importing this skips where it cannot run."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import settings

from tilesim import Device, Problem, Trace
from tilesim.cli.packages import load
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

told = os.environ.get("TRITON_INTERPRET") == "1"
assert told or "triton" not in sys.modules, "Triton was imported before it was told to interpret"
os.environ["TRITON_INTERPRET"] = "1"
torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
load("kernels")

if triton.__version__.startswith("3.6.") and tuple(map(int, np.__version__.split(".")[:2])) >= (2, 4):
    pytest.skip("the interpreter of Triton 3.6 cannot loop with NumPy 2.4", allow_module_level=True)

from tilesim_kernels.gemm import jobs, stamps  # noqa: E402
from tilesim_kernels.launch import here  # noqa: E402
from tilesim_kernels.launch import operands as inputs  # noqa: E402
from tilesim_kernels.launch.named import DEDICATED, named  # noqa: E402, F401
from tilesim_kernels.measure import record as recording  # noqa: E402
from tilesim_kernels.measure import reference  # noqa: E402

few = settings(max_examples=max(1, settings.default.max_examples * 3 // 10))
"""As many examples as the interpreter has time for: 15 of the usual 50, and in longer profiles more."""


def config_named(name: str, problem: Problem) -> KernelConfig:
    """The kernel of a name as `bench` takes it, table:SCHEDULE among them, that runs this problem here."""
    stages = 4 if name.endswith("-split") else 3
    config = replace(
        named(name, problem, warps=8, stages=stages), epilogue_subtiles=1 + name.endswith("-split")
    )
    return here.on_this_machine(config, Product.of(problem))[0]


def multiplied(problem: Problem, name: str, ctas: int = 4) -> float:
    """The relative error of a kernel, as `bench` would run it: no stamps."""
    product = Product.of(problem)
    work = jobs.job(config_named(name, problem), product, Device(ctas), "cpu")
    operands = inputs.matrices(product, "cpu", seed=1)
    error = reference.verify_result(name, work.launcher(operands), product, operands)
    work.check()
    return error


def stamped(problem: Problem, name: str, ctas: int = 4) -> tuple[np.ndarray, jobs.Job]:
    """The stamps of a kernel, int64 [rows, WORDS], whose result was right as well, and its job."""
    product = Product.of(problem)
    work = jobs.job(config_named(name, problem), product, Device(ctas), "cpu")
    operands = inputs.matrices(product, "cpu", seed=2)
    rows = torch.zeros(len(work.rows), stamps.WORDS, dtype=torch.int64)
    reference.verify_result(name, work.launcher(operands, rows), product, operands)
    work.check()
    return rows.numpy(), work


def recorded(problem: Problem, name: str, ctas: int = 4) -> Trace:
    """The trace of those stamps, on a device of `ctas` SMs of which the interpreter uses the first."""
    rows, work = stamped(problem, name, ctas)
    schedule = config_named(name, problem).schedule
    # One after another on SM 0 they share an SM that holds them all.
    device = Device(ctas)
    return recording.trace(rows, work.rows, schedule, problem, device, 1, {"launches": work.ctas})
