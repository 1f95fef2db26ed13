"""How much memory operands take, how many sets of them leave the L2, and cuBLAS beside the kernels."""

from types import SimpleNamespace

import pytest
from on_device import inputs, torch

from tilesim.products import Product
from tilesim_kernels import KernelError
from tilesim_kernels.launch import cublas as of_cublas
from tilesim_kernels.launch.cublas import NAME, OFF, ON


@pytest.mark.parametrize(("dtype", "size"), [("fp8", 25 + 2 * 6), ("bf16", 2 * 31), ("tf32", 4 * 31)])
def test_a_set_is_a_b_and_c(dtype, size):
    product = Product(2, 3, 5, dtype)
    assert inputs.size_bytes(product) == size
    assert sum(x.nbytes for x in inputs.matrices(product, "cpu", 1)) == size


def gpu_with(monkeypatch, **properties):
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda: SimpleNamespace(**properties))


def test_sets_of_operands_are_three_times_the_l2_but_two_to_32(monkeypatch):
    gpu_with(monkeypatch, L2_cache_size=1000)
    counts = {94: 32, 99: 31, 100: 30, 999: 4, 1000: 3, 1499: 3, 1500: 2, 10**9: 2, 1: 32}
    assert {size: inputs.beyond_l2(size) for size in counts} == counts
    assert inputs.sets_beyond_l2(Product(2, 3, 5, "bf16")) == 32
    assert inputs.sets_beyond_l2(Product(10, 10, 10, "bf16")) == 5


def test_two_sets_have_to_fit_the_gpu(monkeypatch):
    product = Product(10**5, 10**5, 1, "fp32")
    needed = 2 * inputs.size_bytes(product)
    gpu_with(monkeypatch, total_memory=needed)
    says = r"fp32 takes 40\.0 GB, .*; this GPU has 80\.0 GB$"
    with pytest.raises(KernelError, match=says), inputs.gpu_memory(product):
        raise torch.OutOfMemoryError
    gpu_with(monkeypatch, total_memory=needed - 1)
    with pytest.raises(KernelError), inputs.gpu_memory(product):
        pytest.fail("it does not fit")


@pytest.mark.parametrize(("dtype", "precision"), [("fp32", OFF), ("tf32", ON), ("bf16", None)])
def test_cublas_multiplies_fp32_in_the_precision_that_its_name_says(monkeypatch, dtype, precision):
    """And is set as it was before when they are multiplied."""
    seen, mm, setting = [], torch.mm, SimpleNamespace(**{NAME: ON})

    def multiply(a, b, out):
        seen.append(getattr(setting, NAME))
        mm(a, b, out=out)

    monkeypatch.setattr(of_cublas, "SETTING", setting)
    monkeypatch.setattr(torch, "mm", multiply)
    a, b, c = operands = inputs.matrices(Product(8, 16, 24, dtype), "cpu", 1)
    of_cublas.cublas(dtype, operands)()
    assert torch.allclose(c, a @ b) and seen == [precision or ON]
    assert getattr(setting, NAME) == ON and of_cublas.tf32()
    setattr(setting, NAME, OFF)
    assert not of_cublas.tf32()
