"""The kernels as the tests run them: by Triton's interpreter. Importing this skips where it cannot run."""

import os
import sys

import numpy as np
import pytest

from tilesim import Device, Problem, Trace
from tilesim.cli._rooms import room

told = os.environ.get("TRITON_INTERPRET") == "1"
assert told or "triton" not in sys.modules, "Triton was imported before it was told to interpret"
os.environ["TRITON_INTERPRET"] = "1"
torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")
room("kernels")

if triton.__version__.startswith("3.6.") and tuple(map(int, np.__version__.split(".")[:2])) >= (2, 4):
    pytest.skip("the interpreter of Triton 3.6 cannot loop with NumPy 2.4", allow_module_level=True)

from tilesim_kernels import _clock, _inputs, _launch, _record, _reference  # noqa: E402


def multiplied(problem: Problem, name: str, ctas: int = 4) -> float:
    """The relative error of a kernel, as `bench` would run it: no stamps."""
    what, _ = _launch.on_this_machine(_launch.VARIANTS[name], problem)
    operands = _inputs.matrices(problem, "cpu", seed=1)
    return _reference.gate(name, _launch.launcher(what, problem, operands, ctas), problem, operands)


def stamped(problem: Problem, name: str, ctas: int = 4) -> np.ndarray:
    """The stamps of a kernel, int64 [tiles, 8], whose result was right as well."""
    what, _ = _launch.on_this_machine(_launch.VARIANTS[name], problem)
    operands = _inputs.matrices(problem, "cpu", seed=2)
    stamps = torch.zeros(problem.tiles, _clock.WORDS, dtype=torch.int64)
    _reference.gate(name, _launch.launcher(what, problem, operands, ctas, stamps), problem, operands)
    return stamps.numpy()


def recorded(problem: Problem, name: str, ctas: int = 4) -> Trace:
    """The trace of those stamps, on a device of `ctas` SMs of which the interpreter uses the first."""
    what = _launch.VARIANTS[name]
    return _record.trace(stamped(problem, name, ctas), what, problem, Device(ctas), 1, {})
