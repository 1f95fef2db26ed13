"""matmul, layouts and dtypes as only a GPU has them. TRITON_INTERPRET=0 python -m pytest tests/kernels"""

import json
from contextlib import nullcontext
from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import pytest

from tilesim import Device, Problem
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

LAYOUTS = ["nn", "nt", "tn", "tt"]
DTYPES = ["bf16", "fp16", "fp32", "tf32", "fp8"]


@pytest.fixture
def op(gpu):
    """matmul, and the modules that keep what it has learnt, without that."""
    dispatch = import_module("tilesim_kernels.dispatch")
    dispatch._known.clear()
    dispatch._job.cache_clear()
    matmul = import_module("tilesim_kernels").matmul
    yield SimpleNamespace(matmul=matmul, dispatch=dispatch)
    dispatch._known.clear()


def matrix(gpu, rows, columns, dtype, trans=False, seed=0):
    torch = gpu.torch
    random = torch.Generator("cuda").manual_seed(seed)
    shape = (columns, rows) if trans else (rows, columns)
    made = torch.randn(shape, generator=random, device="cuda").to(dtype)
    return made.T if trans else made


def off(made, a, b):
    right = a.double() @ b.double()
    return float((made.double() - right).norm() / right.norm())


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
    operands = gpu.inputs.matrices(product, "cuda", 3)
    work = gpu.jobs.job(gpu.named(kernel, problem, 1, warps, 3), product, gpu.machine.device(1))
    gpu.reference.verify_result(kernel, work.launcher(operands), product, operands)


@pytest.mark.parametrize(
    ("kernel", "schedule"),
    [("warp-specialized", "persistent"), ("warp-specialized", "stream-k:36"), ("ping-pong", "persistent")],
)
def test_tiles_that_overlap_at_an_edge_store_the_same_bits(gpu, kernel, schedule):
    problem = Problem(200, 328, 4096, tile=(128, 128, 64))
    product = Product.of(problem)
    operands = gpu.inputs.matrices(product, "cuda", 3)
    config = replace(gpu.named(kernel, problem, stages=3), schedule=schedule)
    launch = gpu.jobs.job(config, product, gpu.machine.device(1)).launcher(operands)
    gpu.reference.verify_result(kernel, launch, product, operands)
    right = operands[2].clone()
    for _ in range(50):
        launch()
        assert gpu.torch.equal(operands[2], right)


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
        whole = matrix(gpu, lines + 2, length + 64, gpu.torch.bfloat16)
        part = whole[1:-1, offset : offset + length]
        slices.append(part.T if way == "t" else part)
    c = gpu.torch.empty(problem.m, problem.n, dtype=gpu.torch.bfloat16, device="cuda")
    operands = (*slices, c)
    product = Product.of(problem, layout)
    config = gpu.named(kernel, problem, warps=8, stages=3)
    config, why = gpu.here.on_this_machine(config, product, slices)
    assert bool(why) == (offset == 1 and "ptr" not in kernel)
    if why and kernel not in gpu.DEDICATED:
        with pytest.raises(gpu.KernelError, match=f"{kernel} loads by TMA alone, and these operands"):
            gpu.jobs.job(config, product, gpu.machine.device(1))
        return
    work = gpu.jobs.job(config, product, gpu.machine.device(1))
    gpu.reference.verify_result(kernel, work.launcher(operands), product, operands)


@pytest.mark.parametrize(("rows", "columns"), [(96, 200), (257, 129), (1, 5)])
def test_fp8_is_copied_to_rows_that_begin_at_whole_lines(gpu, rows, columns):
    transposed = import_module("tilesim_kernels.matmul").transposed
    x = matrix(gpu, rows, columns, gpu.torch.float8_e4m3fn)
    made = transposed(x)
    assert made.stride(0) % 128 == 0 and gpu.torch.equal(made.float(), x.T.float())


@pytest.mark.parametrize(("name", "preset"), [("NVIDIA H100 80GB HBM3", "h100"), ("NVIDIA H200", "h200")])
def test_this_gpu_is_its_preset(gpu, name, preset):
    if gpu.torch.cuda.get_device_name() != name:
        pytest.skip(f"there is no {name}")
    found = gpu.machine.gpu()
    assert (found.preset, found.sms, found.note) == (preset, 132, "")
    assert gpu.machine.device(1) == Device.named(preset)
    tuning = import_module("tilesim_kernels.tuning.choice")
    config, *_ = tuning.choices(Product(1024, 4096, 4096, layout="nt"), found)
    assert config.kernel in ("warp-specialized", "ping-pong")


@pytest.mark.parametrize("schedule", ["", "stream-k"])
@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_a_compiled_layer_and_its_gradients(gpu, op, monkeypatch, mode, schedule):
    """reduce-overhead captures a CUDA graph, which must not take a plan's tables for its own."""
    torch = gpu.torch
    if schedule:
        config = KernelConfig("table", schedule, (128, 128, 64), overlap=True)
        monkeypatch.setattr(op.dispatch, "choices", lambda *asked: [config])

    def layer(x, weight):
        return op.matmul(x, weight.T).sigmoid() + 1

    compiled = torch.compile(layer, fullgraph=True, mode=mode)
    for turn in range(4):
        results = []
        for function in (compiled, layer):
            x = matrix(gpu, 256, 320, torch.bfloat16, seed=turn).requires_grad_()
            weight = matrix(gpu, 512, 320, torch.bfloat16, seed=9).requires_grad_()
            made = function(x, weight)
            made.sum().backward()
            results.append([made.detach().clone(), x.grad.clone(), weight.grad.clone()])
        for made, right in zip(*results, strict=True):
            assert float((made - right).float().norm() / right.float().norm()) < 1e-2


def test_gradients_are_those_of_torch_and_autocast_gives_them_back_in_fp32(gpu, op):
    torch = gpu.torch
    for cast, most in ((nullcontext(), 1e-5), (torch.autocast("cuda", torch.bfloat16), 1e-2)):
        results = []
        for multiply in (op.matmul, torch.mm):
            a = matrix(gpu, 256, 320, torch.float32).requires_grad_()
            b = matrix(gpu, 320, 192, torch.float32, seed=1).requires_grad_()
            with cast:
                made = multiply(a, b)
            made.float().square().sum().backward()
            results.append([made.float(), a.grad, b.grad])
        for made, right in zip(*results, strict=True):
            assert made.dtype == right.dtype
            assert float((made - right).norm() / right.norm()) < most


def test_a_product_in_a_captured_graph_is_right_at_each_replay(gpu, op):
    torch = gpu.torch
    a, b = matrix(gpu, 512, 4096, torch.bfloat16), matrix(gpu, 4096, 512, torch.bfloat16, seed=1)
    op.matmul(a, b)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = op.matmul(a, b)
    for seed in range(2, 5):
        a.copy_(matrix(gpu, 512, 4096, torch.bfloat16, seed=seed))
        graph.replay()
        assert off(made, a, b) <= gpu.reference.TOLERANCE["bf16"]


def test_captured_launches_find_their_flags_at_zero_and_leave_them_so(gpu, op, monkeypatch):
    torch, flags = gpu.torch, import_module("tilesim_kernels.gemm.stages")
    config = KernelConfig("warp-specialized", "stream-k", (128, 128, 64), overlap=True)
    monkeypatch.setattr(op.dispatch, "choices", lambda *asked: [config] * 2)
    a, b = matrix(gpu, 512, 4096, torch.bfloat16), matrix(gpu, 4096, 512, torch.bfloat16, seed=1)
    right = op.matmul(a, b)
    torch.cuda.synchronize()
    graph, left = torch.cuda.CUDAGraph(), len(flags._left[a.device.index])
    with torch.cuda.graph(graph):
        made = [op.matmul(a, b) for _ in range(3)]
    assert left > len(flags._left[a.device.index])
    for _ in range(3):
        graph.replay()
        assert all(torch.equal(one, right) for one in made)


def test_plans_that_share_tiles_may_run_on_two_streams_at_once(gpu, op, monkeypatch):
    torch = gpu.torch
    config = KernelConfig("table", "stream-k", (128, 128, 64), overlap=True)
    monkeypatch.setattr(op.dispatch, "choices", lambda *asked: [config])
    a, b = matrix(gpu, 512, 8192, torch.bfloat16), matrix(gpu, 8192, 512, torch.bfloat16, seed=1)
    right = op.matmul(a, b)
    torch.cuda.synchronize()
    streams, made = [torch.cuda.Stream() for _ in range(2)], []
    for turn in range(40):
        with torch.cuda.stream(streams[turn % 2]):
            made.append(op.matmul(a, b))
    torch.cuda.synchronize()
    assert off(right, a, b) <= gpu.reference.TOLERANCE["bf16"]
    assert all(torch.equal(one, right) for one in made)


def test_too_many_stages_become_fewer(gpu, op, monkeypatch):
    row = {
        "tile": [128, 256, 64], "dtype": "bf16", "order": "row-major", "schedule": "naive", "loads": "tma",
        "overlap": False, "warps": 8, "stages": 9, "kernel": "own", "epilogue_subtiles": 1,
        "m": 512, "n": 512, "k": 2048, "layout": "nn",
    }  # fmt: skip
    choice = import_module("tilesim_kernels.tuning.choice")
    monkeypatch.setattr(choice, "rows", lambda name: [row])
    a, b = matrix(gpu, 512, 2048, gpu.torch.bfloat16), matrix(gpu, 2048, 512, gpu.torch.bfloat16, seed=1)
    assert off(op.matmul(a, b), a, b) <= gpu.reference.TOLERANCE["bf16"]
    ((_, run, _),) = op.dispatch._known.values()
    assert run.config.stages < 9 and run.config.tile == (128, 256, 64)


@pytest.mark.parametrize(("dtype", "layout"), [("bf16", "nn"), ("fp8", "nt"), ("tf32", "nt")])
def test_tuning_makes_a_table_that_matmul_goes_by(gpu, op, monkeypatch, tmp_path, dtype, layout):
    tuning, tuned, choice = (
        import_module(f"tilesim_kernels.tuning.{name}") for name in ("tuner", "choice", "choice")
    )
    product, few = Product(512, 512, 512, dtype, layout), tuning.candidates
    monkeypatch.setattr(tuning, "candidates", lambda *asked: list(few(*asked))[:6])
    table = tuning.tune(product, samples=5)
    (row,) = table["rows"]
    assert row["us"] > 0 and row["cublas_us"] > 0 and row["candidates"] > 0
    path = tmp_path / "table.json"
    path.write_text(json.dumps(table), "utf-8")
    assert tuned.read(path) == table
    monkeypatch.setenv(choice.TABLE, str(path))
    choice.rows.cache_clear()
    try:
        found = choice.choices(product, gpu.machine.gpu())
    finally:
        choice.rows.cache_clear()
    assert found[0] == tuned.chosen(row, product)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_timed_beside_cublas(gpu, dtype):
    bench = import_module("tilesim_kernels").bench
    problem = Problem(512, 512, 512, tile=(128, 128, 32), dtype=dtype)
    report = bench(problem, kernels=["naive-tma", "cublas"], stages=2, warmup=1, samples=3)
    assert [row["kernel"] for row in report["rows"]] == ["naive-tma", "cublas"]


def test_operands_on_two_devices_are_refused(gpu, op):
    a = matrix(gpu, 16, 16, gpu.torch.float32)
    with pytest.raises(RuntimeError, match="A is on cuda:0 and B on cpu; both must be on one device"):
        op.matmul(a, a.cpu())
    with pytest.raises(RuntimeError, match="are on cpu; matmul needs tensors on an NVIDIA GPU"):
        op.matmul(a.cpu(), a.cpu())
