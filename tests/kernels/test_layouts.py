"""Operands of every dtype, row- and column-major, dense and as slices."""

from dataclasses import replace
from itertools import product as pairs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from on_device import DEDICATED, DEVICE, ON_GPU, device_of, few, inputs, jobs, reference, torch

from tilesim import Device, Problem
from tilesim.products import LAYOUTS, Product
from tilesim_kernels import KernelError
from tilesim_kernels.launch import here
from tilesim_kernels.launch import operands as layouts
from tilesim_kernels.launch.named import named

NAMES = [*DEDICATED, "table:stream-k", "table:persistent-dynamic"]
SIZES, TILE, STEPS = [(16, 48, 32)], (16, 32, 16), {}
PAIRS = [("nn", "bf16"), ("nt", "fp16"), ("tn", "fp32"), ("tt", "tf32"), ("nn", "fp8")]
if ON_GPU:
    PAIRS = list(pairs(LAYOUTS, inputs.DTYPES))
    NAMES = [*(set(NAMES) - {"persistent-tma-overlap-split"}), "table:split-k:3"]
    SIZES, TILE = [(512, 768, 1024), (1008, 784, 1040), (333, 257, 399)], (128, 128, 64)
    STEPS = {"fp32": 32, "tf32": 32, "fp8": 128}


def multiplied(config, product, operands):
    """A kernel's launch whose product of operands, wherever they lie, was right."""
    work = jobs.job(config, product, device_of(4), DEVICE)
    launch = work.launcher(operands)
    reference.verify_result(config.name, launch, product, operands)
    work.check()
    return launch


def here_named(name, problem, operands):
    """The kernel of that name as it runs here, and why it does not load these operands by TMA."""
    config = named(name, problem, warps=8, stages=2 if ON_GPU else 3)
    if ON_GPU:
        config = replace(config, epilogue_subtiles=1)
    return here.on_this_machine(config, Product.of(problem), operands[:2])


@pytest.mark.on_device
@pytest.mark.parametrize(("layout", "dtype"), PAIRS)
@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_kernel_multiplies_every_dtype_in_every_layout(name, layout, dtype):
    """The interpreter, for which a block's dtype and its layout are matters apart, runs each dtype in one."""
    for size in SIZES:
        tile = (*TILE[:2], STEPS.get(dtype, TILE[2]))
        problem = Problem(*size, tile=tile, dtype=dtype, order="grouped:3")
        product = Product.of(problem, layout)
        operands = inputs.matrices(product, DEVICE, 3)
        assert layouts.layout(*operands[:2]) == layout
        config, why = here_named(name, problem, operands)
        assert bool(why) == (size[0] % 2 == 1 and "ptr" not in name)
        launch = multiplied(config, product, operands)
        right = operands[2].clone()
        if ON_GPU:
            launch()
            assert torch.equal(operands[2], right)


@st.composite
def views(draw, rows, columns):
    """A float32 matrix with a dense dimension: part of a larger one, either way round, at any offset."""
    trans = draw(st.booleans())
    shape = (columns, rows) if trans else (rows, columns)
    before, after = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    whole = torch.randn(shape[0], before + shape[1] + after, generator=torch.manual_seed(0))
    if draw(st.booleans()):
        whole = whole[:1].expand(shape[0], -1)  # lines that are one and the same
    part = whole[:, before : before + shape[1]]
    return part.T if trans else part


@st.composite
def products(draw):
    m, n, k = (draw(st.integers(1, 40)) for _ in range(3))
    return draw(views(m, k)), draw(views(k, n))


@few
@given(products(), st.sampled_from(NAMES))
@example((torch.ones(33, 1), torch.ones(1, 40)), "naive-tma")
def test_operands_are_read_where_they_lie(operands, name):
    a, b = operands
    problem = Problem(a.shape[0], b.shape[1], a.shape[1], tile=TILE, dtype="fp32")
    operands = (a, b, torch.empty(problem.m, problem.n))
    config, _ = here_named(name, problem, operands)
    multiplied(config, Product.of(problem), operands)


def wide(rows, columns, ld, offset=0):
    return torch.randn(offset + rows * ld)[offset:].as_strided((rows, columns), (ld, 1))


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        (wide(64, 64, 68), wide(64, 64, 72), ""),
        (wide(64, 61, 68).T[:, :], wide(64, 64, 68), ""),
        (wide(64, 64, 66), wide(64, 64, 64), "A's lines begin 264 bytes apart"),
        (wide(64, 64, 64), wide(64, 64, 66).T, "B's lines begin 264 bytes apart"),
        (wide(64, 64, 64), wide(64, 64, 64, offset=1), "B's address is no multiple of 16 bytes"),
        (wide(1, 64, 64).expand(64, 64), wide(64, 64, 64), "A's lines begin 0 bytes apart"),
        (wide(64, 64, 64), wide(64, 61, 64), "N = 61 makes rows of 244 bytes"),
    ],
)
def test_tma_gives_way_to_pointers_where_lines_are_not_aligned(a, b, reason):
    problem = Problem(a.shape[0], b.shape[1], a.shape[1], tile=TILE, dtype="fp32")
    config, why = here.on_this_machine(named("naive-tma", problem), Product.of(problem), (a, b))
    assert config.loads == ("ptr" if reason else "tma")
    assert why.startswith(reason) and bool(why) == bool(reason)


def test_what_has_no_lines_and_what_is_too_long_is_refused():
    problem = Problem(16, 16, 16, tile=(16, 16, 16), dtype="fp32")
    right = torch.zeros(16, 16)
    work = jobs.job(named("naive-ptr", problem), Product.of(problem), Device(1), "cpu")
    scattered = torch.zeros(32, 32)[::2, ::2]
    for operands in ((scattered, right, right), (right, scattered, right), (right, right, right.T)):
        with pytest.raises(KernelError, match=r"strides are .*; A and B need a dense dimension, and C dense"):
            work.launcher(operands)
    far = torch.empty_strided((16, 16), (2**28, 1), device="meta")
    with pytest.raises(KernelError, match="16 lines of A span 2\\^31 elements or more"):
        work.launcher((far, right, right))


@pytest.mark.parametrize("dtype", ["bf16", "fp16"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("kernel", "warps", "tile"),
    [
        ("warp-specialized", 8, (128, 256, 64)),
        ("warp-specialized", 8, (128, 128, 64)),
        ("warp-specialized", 4, (64, 128, 64)),
        ("warp-specialized", 4, (64, 96, 64)),
        ("warp-specialized", 8, (128, 160, 64)),
        ("warp-specialized", 4, (192, 192, 64)),
        ("ping-pong", 8, (128, 128, 64)),
        ("ping-pong", 8, (64, 256, 64)),
        ("skinny", 4, (64, 64, 128)),
    ],
)
@pytest.mark.parametrize("size", [(512, 768, 1024), (1008, 784, 1040)])
def test_kernels_without_stamps_multiply_in_every_layout(gpu, kernel, warps, tile, layout, dtype, size):
    problem = Problem(*size, tile=tile, dtype=dtype, order="grouped:3")
    product = Product.of(problem, layout)
    multiplied(named(kernel, problem, 1, warps, 3), product, inputs.matrices(product, "cuda", 3))


@pytest.mark.parametrize(
    ("kernel", "schedule"),
    [("warp-specialized", "persistent"), ("warp-specialized", "stream-k:36"), ("ping-pong", "persistent")],
)
def test_tiles_that_overlap_at_an_edge_store_the_same_bits(gpu, kernel, schedule):
    problem = Problem(200, 328, 4096, tile=(128, 128, 64))
    product = Product.of(problem)
    operands = inputs.matrices(product, "cuda", 3)
    config = replace(named(kernel, problem, stages=3), schedule=schedule)
    launch = multiplied(config, product, operands)
    right = operands[2].clone()
    for _ in range(50):
        launch()
        assert torch.equal(operands[2], right)


@pytest.mark.parametrize(
    "kernel", ["naive-tma", "naive-ptr", "persistent-tma-overlap", "warp-specialized", "ping-pong"]
)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("offset", [0, 1, 8])
def test_slices_of_larger_matrices_are_read_where_they_lie(gpu, kernel, layout, offset):
    problem = Problem(304, 264, 520, tile=(128, 128, 64), order="grouped:3")  # lines of multiples of 16 bytes
    shapes = ((problem.m, problem.k), (problem.k, problem.n))
    slices = []
    for (rows, columns), way in zip(shapes, layout, strict=True):
        lines, length = (columns, rows) if way == "t" else (rows, columns)
        whole = torch.randn(lines + 2, length + 64, device="cuda").bfloat16()
        part = whole[1:-1, offset : offset + length]
        slices.append(part.T if way == "t" else part)
    c = torch.empty(problem.m, problem.n, dtype=torch.bfloat16, device="cuda")
    operands = (*slices, c)
    product = Product.of(problem, layout)
    config = named(kernel, problem, warps=8, stages=3)
    config, why = here.on_this_machine(config, product, slices)
    assert bool(why) == (offset == 1 and "ptr" not in kernel)
    if why and kernel not in DEDICATED:
        with pytest.raises(KernelError, match=f"{kernel} loads by TMA alone, and these operands"):
            multiplied(config, product, operands)
    else:
        multiplied(config, product, operands)
