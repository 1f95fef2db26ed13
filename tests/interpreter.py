"""The kernels as the tests run them: by Triton's interpreter. Importing this skips where it cannot run."""

import os
import sys

import numpy as np
import pytest
from hypothesis import settings

from tilesim import Device, Problem, Trace
from tilesim.cli.packages import load
from tilesim.variants import Variant

told = os.environ.get("TRITON_INTERPRET") == "1"
assert told or "triton" not in sys.modules, "Triton was imported before it was told to interpret"
os.environ["TRITON_INTERPRET"] = "1"
torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
load("kernels")

if triton.__version__.startswith("3.6.") and tuple(map(int, np.__version__.split(".")[:2])) >= (2, 4):
    pytest.skip("the interpreter of Triton 3.6 cannot loop with NumPy 2.4", allow_module_level=True)

from tilesim_kernels.gemm import stamps  # noqa: E402
from tilesim_kernels.launch import jobs, variants  # noqa: E402
from tilesim_kernels.launch import operands as inputs  # noqa: E402
from tilesim_kernels.measure import record as recording  # noqa: E402
from tilesim_kernels.measure import reference  # noqa: E402

few = settings(max_examples=max(1, settings.default.max_examples * 3 // 10))
"""As many examples as the interpreter has time for: 15 of the usual 50, and in longer profiles more."""


def variant_named(name: str, problem: Problem) -> Variant:
    """The variant of a kernel's name as `bench` takes it, planned:SCHEDULE among them, for this problem."""
    schedule = name.removeprefix("planned:")
    variant = variants.VARIANTS.get(name) or variants.checked_variant(schedule, "tma", True, 8, 3, "planned")
    return variants.on_this_machine(variant, problem)[0]


def multiplied(problem: Problem, name: str, ctas: int = 4) -> float:
    """The relative error of a kernel, as `bench` would run it: no stamps."""
    work = jobs.job(variant_named(name, problem), problem, Device(ctas), "cpu")
    operands = inputs.matrices(problem, "cpu", seed=1)
    error = reference.gate(name, work.launcher(operands), problem, operands)
    work.check()
    return error


def stamped(problem: Problem, name: str, ctas: int = 4) -> tuple[np.ndarray, jobs.Job]:
    """The stamps of a kernel, int64 [rows, WORDS], whose result was right as well, and its job."""
    work = jobs.job(variant_named(name, problem), problem, Device(ctas), "cpu")
    operands = inputs.matrices(problem, "cpu", seed=2)
    rows = torch.zeros(len(work.rows), stamps.WORDS, dtype=torch.int64)
    reference.gate(name, work.launcher(operands, rows), problem, operands)
    work.check()
    return rows.numpy(), work


def recorded(problem: Problem, name: str, ctas: int = 4) -> Trace:
    """The trace of those stamps, on a device of `ctas` SMs of which the interpreter uses the first."""
    rows, work = stamped(problem, name, ctas)
    schedule = variant_named(name, problem).schedule
    # One after another on SM 0 they share an SM that holds them all.
    device = Device(ctas)
    return recording.trace(rows, work.rows, schedule, problem, device, 1, {"launches": work.ctas})
