"""Every kernel against a float64 product, at sizes that fit no tile, by Triton's interpreter."""

import pytest
from on_device import DEDICATED, inputs, multiplied, reference, torch

from tilesim import Problem
from tilesim.products import Product
from tilesim_kernels import KernelError

RAGGED = [(1, 1, 1), (40, 72, 72), (33, 67, 35)]
"""One element; tiles and K-steps that are cut on each side; and lines that TMA cannot load."""


@pytest.mark.parametrize("name", DEDICATED)
@pytest.mark.parametrize("size", RAGGED)
def test_any_size(name, size):
    multiplied(Problem(*size, tile=(32, 64, 32)), name)


@pytest.mark.parametrize("ctas", [1, 5, 6, 100])
def test_any_number_of_thread_blocks(ctas):
    """One, fewer than tiles, one for each tile, and more."""
    multiplied(Problem(48, 64, 32, tile=(16, 32, 32), dtype="fp32"), "persistent-tma-overlap", ctas)


def nearly(a, b, c):
    torch.mm(a, b, out=c)
    c[47, 39] += 0.1


def lazy(a, b, c):
    c[:, :39] = (a @ b)[:, :39]


@pytest.mark.parametrize(("run", "says"), [(nearly, "nearly gets 48x40x24 fp32 nn wrong"), (lazy, "nan")])
def test_the_gate_sees_one_element_that_is_wrong_or_not_written(run, says):
    product = Product(48, 40, 24, "fp32")
    a, b, c = operands = inputs.matrices(product, "cpu", seed=3)
    c.copy_(a @ b)  # a right result from before does not help
    with pytest.raises(KernelError, match=says):
        reference.verify_result(run.__name__, lambda: run(*operands), product, operands)
