"""Chains of functions and a product's epilogue by Triton's interpreter, their gate and machine code."""

import json

import pytest
from hopper_code import compiled
from hypothesis import given
from hypothesis import strategies as st
from on_device import few, torch

from tilesim import Problem
from tilesim_kernels.bench import fusion as bench
from tilesim_kernels.bench import fusion_kernels as kernels


@pytest.mark.parametrize("name", ["eager", "fused"])
@few
@given(elements=st.integers(1, 3000), functions=st.integers(1, 40))
def test_any_chain_on_any_vector(name, elements, functions):
    """It writes nothing but its own tensors."""
    x = torch.randn(elements, generator=torch.Generator().manual_seed(functions))
    before = x.clone()
    work = kernels.WAYS[name](functions, x, torch.empty(elements), torch.empty(elements))
    assert bench.verified_work(name, work, kernels.chain(x.double(), functions), bench.TOLERANCE) < 1e-6
    assert torch.equal(x, before)


def test_long_chains_stay_in_range():
    x = torch.linspace(-4, 4, 1000, dtype=torch.float64)
    assert (kernels.chain(x, 1024) - x).abs().max() < 0.2


@pytest.mark.parametrize("name", [name for name in kernels.PRODUCT_WAYS if name != "torch.compile"])
@pytest.mark.parametrize("size", [(64, 64, 32), (72, 80, 40), (1, 5, 3)])
def test_bias_and_relu_after_a_product_or_in_its_epilogue(name, size):
    problem = Problem(*size, tile=(16, 32, 32), dtype="fp32")
    given = kernels.operands(problem, "cpu", seed=1)
    work = kernels.PRODUCT_WAYS[name](problem, given)
    assert bench.verified_work(name, work, kernels.product_of(given), 1e-5) <= 1e-5


def test_a_machine_on_which_nothing_compiles_says_why(monkeypatch):
    def fails(*_):
        raise RuntimeError("no C compiler\nwas found")

    make = torch.ones
    monkeypatch.setattr(torch, "ones", lambda *size, device: make(*size))
    monkeypatch.setattr(bench, "compiled", fails)
    assert bench._not_compiling().endswith("makes no kernel on this machine: no C compiler was found")
    monkeypatch.setattr(bench, "compiled", kernels.fused)
    assert bench._not_compiling() == ""


def test_a_chain_counts_all_its_kernels(monkeypatch):
    asked = (("eager", 1000, 2), ("fused", 1000, 2), ("torch.compile", 1000, 2), ("fused", 1000, 1024))
    counts = [dict.fromkeys(bench.METRICS, kernel) for kernel in (1, 2, 4)]

    def profiled(name, wanted, kernels, metrics, options):
        assert (name, wanted, kernels) == ("fusion", [("eager", 1000, 2), ("fused", 1000, 2)], 3)
        assert options == ("--cache-control", "none")
        return counts

    monkeypatch.setattr(bench, "profiled", profiled)
    assert bench.counted(asked) == [dict.fromkeys(bench.METRICS, 3), counts[2], {}, {}]
    counts = [{}] * 3
    assert bench.counted(asked) == [{}] * 4


COMPILE = """
from tilesim_kernels.bench.fusion_kernels import BLOCK, PERIOD, SCALES, SHIFTS, WARPS, one_kernel

made = {}
for functions in (2, 8):
    rounds, rest = divmod(functions, PERIOD)
    about = dict(ROUNDS=rounds, REST=rest, SCALES=SCALES, SHIFTS=SHIFTS, BLOCK=BLOCK)
    types = dict(x="*fp32", y="*fp32", n="i32") | dict.fromkeys(about, "constexpr")
    aligned = {(argument,): [["tt.divisibility", 16]] for argument in range(3)}
    source = ASTSource(one_kernel, types, about, aligned)
    code = compile(source, target=HOPPER, options=dict(num_warps=WARPS))
    made[functions] = code.asm["sass"]
print(json.dumps(made))
"""


def test_two_functions_are_one_instruction_between_a_load_and_a_store():
    """So that a function is a FLOP at the rate by which a peak is counted; and loads are 16 bytes wide."""
    a_thread = kernels.BLOCK // (32 * kernels.WARPS)
    for functions, sass in json.loads(compiled(COMPILE)).items():
        words = sass.split()
        assert words.count("FFMA") == int(functions) // 2 * a_thread
        assert words.count("FMUL") == words.count("FADD") == 0
        assert words.count("LDG.E.128") == words.count("STG.E.128") == a_thread * 4 // 16
