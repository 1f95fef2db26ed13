"""Every kernel against a float64 product, at sizes that fit no tile, by Triton's interpreter."""

import pytest
from on_device import DEDICATED, inputs, multiplied, reference, torch

from tilesim import Problem
from tilesim.products import Product
from tilesim_kernels import KernelError
from tilesim_kernels.launch import here
from tilesim_kernels.launch.named import named

RAGGED = [(1, 1, 1), (100, 72, 88), (33, 40, 16), (16, 200, 40), (65, 67, 35)]
ORDERS = ["row-major", "column-major", "grouped:2", "morton", "hilbert"]


@pytest.mark.parametrize("name", DEDICATED)
@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32"])
def test_any_size_in_any_dtype(name, dtype):
    for size in RAGGED:
        multiplied(Problem(*size, tile=(32, 64, 32), dtype=dtype), name)


@pytest.mark.parametrize("ctas", [1, 3, 12, 13, 100])
def test_any_number_of_thread_blocks(ctas):
    multiplied(Problem(64, 96, 32, tile=(16, 32, 32), dtype="fp32"), "persistent-tma-overlap", ctas)


def test_the_gate_sees_one_wrong_element():
    problem = Problem(48, 40, 24, tile=(16, 16, 16), dtype="fp32")
    a, b, c = operands = inputs.matrices(Product.of(problem), "cpu", seed=3)

    def nearly():
        torch.mm(a, b, out=c)
        c[47, 39] += 0.1

    with pytest.raises(KernelError, match=r"nearly gets 48x40x24 fp32 nn wrong"):
        reference.verify_result("nearly", nearly, Product.of(problem), operands)


def test_the_gate_sees_one_element_that_was_not_written():
    problem = Problem(48, 40, 24, tile=(16, 16, 16), dtype="fp32")
    a, b, c = operands = inputs.matrices(Product.of(problem), "cpu", seed=3)
    c.copy_(a @ b)  # a right result from before does not help

    def lazy():
        c[:, :39] = (a @ b)[:, :39]

    with pytest.raises(KernelError, match="nan"):
        reference.verify_result("lazy", lazy, Product.of(problem), operands)


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ((64, 64, 64), ""),
        ((64, 64, 60), "A's lines have 120 bytes"),
        ((64, 61, 64), "B's lines have 122 bytes"),
    ],
)
def test_tma_gives_way_to_pointers_where_rows_are_not_aligned(size, reason):
    problem = Problem(*size, tile=(32, 32, 32))
    config, why = here.on_this_machine(named("naive-tma", problem), Product.of(problem))
    assert config.loads == ("ptr" if reason else "tma")
    assert why.startswith(reason) and bool(why) == bool(reason)
