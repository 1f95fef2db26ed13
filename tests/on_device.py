"""The kernels as the tests run them: by Triton's interpreter, or on a GPU with TRITON_INTERPRET=0.

Which of the two holds for a process. Importing this skips where the kernels cannot run.
"""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import settings

from tilesim import Device, Problem
from tilesim.cli.packages import load
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

told = "TRITON_INTERPRET" in os.environ
assert told or "triton" not in sys.modules, "Triton was imported before it was told to interpret"
ON_GPU = os.environ.setdefault("TRITON_INTERPRET", "1") == "0"
DEVICE = "cuda" if ON_GPU else "cpu"
torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
load("kernels")

numpy_version = tuple(map(int, np.__version__.split(".")[:2]))
if not ON_GPU and triton.__version__.startswith("3.6.") and numpy_version >= (2, 4):
    pytest.skip("the interpreter of Triton 3.6 cannot loop with NumPy 2.4", allow_module_level=True)

from tilesim_kernels.gemm import jobs, stamps  # noqa: E402
from tilesim_kernels.launch import here  # noqa: E402
from tilesim_kernels.launch import operands as inputs  # noqa: E402
from tilesim_kernels.launch.named import DEDICATED, TABLE_DRIVEN, named  # noqa: E402
from tilesim_kernels.measure import machine, reference  # noqa: E402

few = settings(max_examples=max(1, settings.default.max_examples * 3 // 10))
"""As many examples as the interpreter has time for: 15 of the usual 50, and in longer profiles more."""


def device_of(ctas: int) -> Device:
    """The GPU, or what the interpreter stands for."""
    return machine.device(1) if ON_GPU else Device(ctas)


def config_named(name: str, problem: Problem, warps: int | None = 8, stages: int | None = 3) -> KernelConfig:
    """The kernel of a name as `bench` takes it, table:SCHEDULE among them, that runs this problem here.

    A table-driven one whose name ends in +alone does not overlap.
    """
    name, _, alone = name.partition("+")
    split = name.endswith("-split")
    config = named(name, problem, warps=warps, stages=4 if split else stages)
    if name in DEDICATED or name.startswith(TABLE_DRIVEN):
        config = replace(config, overlap=config.overlap and not alone, epilogue_subtiles=1 + split)
    return here.on_this_machine(config, Product.of(problem))[0]


def multiplied(problem: Problem, config: str | KernelConfig, ctas: int = 4, layout: str = "nn") -> float:
    """The relative error of a kernel, or of one of that name, as `bench` would run it: no stamps."""
    if isinstance(config, str):
        config = config_named(config, problem)
    product = Product.of(problem, layout)
    operands = inputs.matrices(product, DEVICE, seed=1)
    config, _ = here.on_this_machine(config, product, operands[:2])
    work = jobs.job(config, product, device_of(ctas), DEVICE)
    error = reference.verify_result(config.name, work.launcher(operands), product, operands)
    work.check()
    return error


def stamped(problem: Problem, name: str, ctas: int = 4) -> tuple[np.ndarray, jobs.Job]:
    """The stamps of a kernel, int64 [rows, WORDS], whose result was right as well, and its job."""
    product = Product.of(problem)
    work = jobs.job(config_named(name, problem), product, device_of(ctas), DEVICE)
    operands = inputs.matrices(product, DEVICE, seed=2)
    rows = torch.zeros(len(work.rows), stamps.WORDS, dtype=torch.int64, device=DEVICE)
    reference.verify_result(name, work.launcher(operands, rows), product, operands)
    work.check()
    return rows.cpu().numpy(), work
