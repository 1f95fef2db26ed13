"""matmul as a torch operator: what torch.mm gives, its gradients and its errors."""

import gc
import weakref
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from on_device import DEVICE, ON_GPU, few, inputs, reference, torch

from tilesim.errors import TilesimError
from tilesim.gemm import fit
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product
from tilesim_kernels import KernelError, errors, matmul
from tilesim_kernels.gemm import stages
from tilesim_kernels.launch import cublas
from tilesim_kernels.launch.job import Job
from tilesim_kernels.tuning import choice

op = import_module("tilesim_kernels.matmul")


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(op, "_known", {})
    op._job.cache_clear()


def matrix(rows, columns, dtype=torch.float32, seed=0, trans=False):
    shape = (columns, rows) if trans else (rows, columns)
    made = torch.randn(shape, generator=torch.manual_seed(seed)).to(DEVICE, dtype)
    return made.T if trans else made


def off(made, a, b):
    """|made - A·B| / |A·B| (Frobenius) with the product in float64."""
    right = a.double() @ b.double()
    return float((made.double() - right).norm() / right.norm())


@st.composite
def matrices(draw, rows, columns):
    """A float32 matrix anyhow in memory: every so many-th row and column of another, either way round."""
    steps = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    trans, offset = draw(st.booleans()), draw(st.integers(0, 3))
    shape = (columns, rows) if trans else (rows, columns)
    whole = matrix(shape[0] * steps[0] + offset, shape[1] * steps[1] + offset, seed=draw(st.integers(0, 9)))
    part = whole[offset :: steps[0], offset :: steps[1]][: shape[0], : shape[1]]
    return part.T if trans else part


@few
@given(st.data(), *[st.integers(0, 40)] * 3)
def test_any_sizes_and_strides(data, m, n, k):
    operands = data.draw(matrices(m, k)), data.draw(matrices(k, n))
    made = matmul(*operands)
    right = torch.mm(*operands)
    assert made.shape == right.shape and made.dtype == right.dtype and made.is_contiguous()
    torch.testing.assert_close(made, right, rtol=1e-4, atol=1e-4)


@pytest.fixture
def precision():
    """Sets torch's precision for products of fp32 until the test ends."""
    before = torch.get_float32_matmul_precision()
    yield torch.set_float32_matmul_precision
    torch.set_float32_matmul_precision(before)


SIZES = [(1, 1, 1), (65, 70, 35)]
if ON_GPU:
    SIZES = [(1, 1, 1), (17, 4096, 4096), (1024, 1024, 1024), (777, 1000, 4096)]


@pytest.mark.on_device
@pytest.mark.parametrize("name", ["fp16", "bf16", "fp32", "fp8", *["tf32"] * ON_GPU])
@pytest.mark.parametrize("layout", ["nn", *["nt", "tn", "tt"] * ON_GPU])
@pytest.mark.parametrize("size", SIZES)
def test_any_dtype_in_any_layout(precision, name, layout, size):
    (m, n, k), kind = size, inputs.DTYPES[name]
    a, b = matrix(m, k, kind, 0, layout[0] == "t"), matrix(k, n, kind, 1, layout[1] == "t")
    precision("high" if name == "tf32" else "highest")
    made = matmul(a, b)
    assert made.dtype == inputs.RESULTS[name]
    assert off(made, a, b) <= reference.TOLERANCE[name]


def test_fp32_is_tf32_where_torch_s_own_products_are(monkeypatch, precision):
    asked = []
    monkeypatch.setattr(
        op, "choices", lambda product, gpu: asked.append(product.dtype) or choice.choices(product, gpu)
    )
    for one in ("highest", "high", "highest"):
        precision(one)
        for kind in (torch.float32, torch.bfloat16):
            matmul(matrix(16, 16, kind), matrix(16, 16, kind))
    assert asked == ["fp32", "bf16", "tf32"]  # the third is known already


@pytest.mark.parametrize("dtype", ["fp32", "tf32", "bf16"])
def test_what_cublas_is_asked_leaves_torch_s_setting_alone(monkeypatch, precision, dtype):
    during = []
    monkeypatch.setattr(torch, "mm", lambda a, b, out: during.append(cublas.tf32()))
    for before in (True, False):
        torch.backends.cuda.matmul.allow_tf32 = before  # the other of torch's two switches
        cublas.cublas(dtype, inputs.matrices(Product(4, 4, 4, dtype), "cpu", 0))()
        assert cublas.tf32() == before
    assert during == {"fp32": [False, False], "tf32": [True, True], "bf16": [True, False]}[dtype]


def asking(*shape, seed=0, trans=False):
    return matrix(*shape, seed=seed, trans=trans).detach().requires_grad_()


@pytest.mark.on_device
@pytest.mark.parametrize(("trans_a", "trans_b"), [(False, True), (True, False)])
def test_torch_checks_the_operator(trans_a, trans_b):
    operands = asking(24, 40, trans=trans_a), asking(40, 17, seed=1, trans=trans_b)
    torch.library.opcheck(torch.ops.tilesim.matmul.default, operands)


@pytest.mark.on_device
@pytest.mark.parametrize("wanted", [(True, True), (True, False), (False, True)])
def test_gradients_and_their_gradients_are_those_of_torch(wanted):
    results = []
    for multiply in (matmul, torch.mm):
        a, b = asking(24, 40, seed=5), asking(40, 17, seed=5)
        for x, want in zip((a, b), wanted, strict=True):
            x.requires_grad_(want)
        leaves = [x for x in (a, b) if x.requires_grad]
        first = torch.autograd.grad(multiply(a, b).square().sum(), leaves, create_graph=True)
        second = torch.autograd.grad(sum(x.square().sum() for x in first), leaves)
        results.append([*first, *second])
    for made, right in zip(*results, strict=True):
        torch.testing.assert_close(made, right, rtol=1e-4, atol=1e-2)


def test_nothing_is_copied_for_gradients_or_column_major_operands(monkeypatch):
    seen = []
    monkeypatch.setattr(
        op, "multiply", lambda matrices, key: seen.append(matrices[:2]) or matrices[2].zero_()
    )
    a, b = asking(24, 40), asking(17, 40, seed=1)
    matmul(a, b.T).backward(torch.ones(24, 17))
    matmul(a.detach()[::2], b.detach().T[:, 3:9])
    own = {x.untyped_storage().data_ptr() for x in (a, b)}
    theirs = [[x.untyped_storage().data_ptr() in own for x in pair] for pair in seen]
    assert theirs == [[True, True], [False, True], [True, False], [True, True]]
    scattered = a.detach()[:, ::2]
    matmul(scattered, b.detach()[:, ::2].T)
    assert all(x.is_contiguous() for x in seen[-1])


def with_gradients(function, operands, loss):
    """function(*operands), and the gradients of its loss by each operand."""
    leaves = [x.detach().clone().requires_grad_() for x in operands]
    made = function(*leaves)
    loss(made).backward()
    return [made.detach().clone(), *(x.grad.clone() for x in leaves)]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_compiled_function_has_it_whole(backend):
    """Alone, as inductor would call a C++ compiler for what is beside it."""

    def layer(x, weight):
        return matmul(x, weight.T)

    compiled = torch.compile(layer, fullgraph=True, backend=backend)
    for rows in (24, 33):  # the second makes the size a symbol
        given = (matrix(rows, 40), matrix(17, 40, seed=1)), lambda made: made.square().sum()
        for made, right in zip(with_gradients(compiled, *given), with_gradients(layer, *given), strict=True):
            torch.testing.assert_close(made, right)


@pytest.mark.on_device
@pytest.mark.parametrize(("compiled", "kind"), [(False, torch.float16), (True, torch.bfloat16)])
def test_autocast_turns_operands_into_its_dtype_and_gradients_back(compiled, kind):
    multiply = torch.compile(matmul, fullgraph=True, backend="aot_eager") if compiled else matmul
    a, b = asking(24, 40), asking(40, 17, seed=1).to(torch.bfloat16)
    with torch.autocast(DEVICE, kind):
        made = multiply(a, b)
    made.float().sum().backward()
    assert made.dtype == kind and a.grad.dtype == torch.float32
    assert multiply(a, b.float()).dtype == torch.float32


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (matrix(3, 4), matrix(3, 4), "A is 3x4 and B is 3x4; A must have as many columns as B has rows"),
        (matrix(3, 4), matrix(4, 3)[None], "B has 3 dimensions; matmul multiplies matrices"),
        (matrix(3, 4).double(), matrix(4, 3).double(), "A is torch.float64; matmul multiplies torch.float16"),
        (matrix(3, 4).half(), matrix(4, 3), "A is torch.float16 and B is torch.float32; both must be the"),
        (matrix(3, 4).to("meta"), matrix(4, 3), "A is on meta and B on cpu"),
    ],
)
@pytest.mark.parametrize("compiled", [False, True])
def test_operands_without_a_product(a, b, sentence, compiled):
    multiply = matmul
    if compiled:  # which says the sentence among others
        multiply = torch.compile(matmul, fullgraph=True, backend="aot_eager", dynamic=False)
    with pytest.raises(RuntimeError if compiled else errors.OperandError, match=sentence):
        multiply(a, b)


def test_its_errors_are_what_callers_of_torch_and_of_tilesim_catch():
    assert all(issubclass(errors.OperandError, kind) for kind in (RuntimeError, ValueError, TilesimError))
    with pytest.raises(TypeError, match="A is a list; matmul multiplies tensors"):
        matmul([[1.0]], matrix(1, 1))


def test_without_a_gpu_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr(op, "INTERPRETED", False)
    with pytest.raises(errors.OperandError, match="are on cpu; matmul needs tensors on an NVIDIA GPU, or TR"):
        matmul(matrix(4, 4), matrix(4, 4))


def test_what_no_kernel_can_multiply_is_one_sentence(monkeypatch):
    monkeypatch.setattr(fit, "MAX_SIZE", 8)
    with pytest.raises(KernelError, match="M is 9; the kernels allow sizes up to 8"):
        matmul(matrix(9, 4), matrix(4, 4))


def test_fp8_has_no_gradient_and_autocast_leaves_it_alone():
    a = matrix(16, 16, torch.float8_e4m3fn).requires_grad_()
    with torch.autocast("cpu", torch.float16):
        made = matmul(a, a)
    assert made.dtype == torch.bfloat16
    with pytest.raises(errors.OperandError, match=r"a product of torch.float8_e4m3fn has no gradient"):
        made.sum().backward()


def test_a_kernel_that_cannot_be_launched_gives_way_for_good(monkeypatch):
    tried = []

    def job(config, *rest, **options):
        tried.append(config.stages)
        if config.stages > 1:
            raise KernelError("too many stages")
        return jobs(config, *rest, **options)

    jobs = op.job
    monkeypatch.setattr(op, "job", job)
    a, b = matrix(40, 24), matrix(24, 17)
    for _ in range(2):
        assert off(matmul(a, b), a, b) < 1e-5
    assert tried == [3, 2, 1]
    op._known.clear()
    op._job.cache_clear()
    monkeypatch.setattr(op, "choices", lambda *key: choice.choices(*key)[:2])
    with pytest.raises(KernelError, match="too many stages"):
        matmul(a, b)


def test_what_is_kept_of_one_product_multiplies_others_of_its_kind(monkeypatch):
    wide = matrix(80, 60)
    for seed in range(2):
        a, b = matrix(40, 24, seed=seed), matrix(24, 17, seed=seed + 9)
        for x in (a, a.T.contiguous().T, wide[::2, ::2][:, :24]):
            assert off(matmul(x, b), x, b) < 1e-5
    # row-major and column-major A; of the one without a dense dimension, its copy's, which is row-major
    assert len(op._known) == 2


@pytest.mark.parametrize("schedule", ["stream-k", "persistent-dynamic"])
def test_plans_have_a_workspace_of_their_own(monkeypatch, schedule):
    """What is kept for the next product holds neither operands nor partials."""
    product = Product(70, 36, 72, "fp32")
    chosen = KernelConfig("table", schedule, (32, 32, 32), warps=8, stages=3, overlap=True)
    monkeypatch.setattr(op, "choices", lambda *key: [chosen])
    a, b = matrix(70, 72), matrix(72, 36, seed=1)
    results = [matmul(a, b) for _ in range(2)]
    assert off(results[0], a, b) < 1e-5
    assert torch.equal(*results)
    launchers = [op._job(chosen, product, None).launcher((a, b, results[0])) for _ in range(2)]
    for launch in launchers:
        launch()
    left = weakref.ref(a), weakref.ref(b), weakref.ref(results[0])
    del a, b, results, launchers, launch
    gc.collect()
    assert [ref() for ref in left] == [None] * 3


def test_launches_of_a_job_share_a_workspace_where_they_follow_one_another(monkeypatch):
    """On one stream they do; on two, or in a graph, which may run beside others, they must not."""
    capturing, stream = [False], [1]
    monkeypatch.setattr(op, "INTERPRETED", False)
    monkeypatch.setattr(op, "capturing", lambda: capturing[0])
    driver = SimpleNamespace(active=SimpleNamespace(get_current_stream=lambda index: stream[0]))
    monkeypatch.setattr(op.triton.runtime, "driver", driver)
    work = Job(np.empty(0), 1, launcher=lambda *operands: None, workspace=lambda: {"flags": torch.zeros(1)})
    one = op.workspace(work, 0)
    assert op.workspace(work, 0) is one
    stream[0] = 2
    assert op.workspace(work, 0) is not one
    stream[0], capturing[0] = 1, True
    others = [op.workspace(work, 0) for _ in range(2)]
    assert others[0] is not one and others[0] is not others[1]


@pytest.mark.parametrize(("rows", "columns"), [(96, 200), (257, 129), (1, 5)])
def test_fp8_is_copied_to_rows_that_begin_at_whole_lines(gpu, rows, columns):
    x = matrix(rows, columns, torch.float8_e4m3fn)
    made = op.transposed(x)
    assert made.stride(0) % 128 == 0 and torch.equal(made.float(), x.T.float())


@pytest.mark.parametrize("schedule", ["", "stream-k"])
@pytest.mark.parametrize("mode", ["default", "reduce-overhead"])
def test_a_compiled_layer_and_its_gradients(gpu, monkeypatch, mode, schedule):
    """reduce-overhead captures a CUDA graph, which must not take a plan's tables for its own."""
    if schedule:
        config = KernelConfig("table", schedule, (128, 128, 64), overlap=True)
        monkeypatch.setattr(op, "choices", lambda *asked: [config])

    def layer(x, weight):
        return matmul(x, weight.T).sigmoid() + 1

    compiled = torch.compile(layer, fullgraph=True, mode=mode)
    for turn in range(4):
        given = matrix(256, 320, torch.bfloat16, seed=turn), matrix(512, 320, torch.bfloat16, seed=9)
        results = [with_gradients(function, given, torch.sum) for function in (compiled, layer)]
        for made, right in zip(*results, strict=True):
            assert float((made - right).float().norm() / right.float().norm()) < 1e-2


def test_gradients_are_those_of_torch_and_autocast_gives_them_back_in_fp32(gpu):
    given = (matrix(256, 320), matrix(320, 192, seed=1)), lambda made: made.float().square().sum()
    for enabled, most in ((False, 1e-5), (True, 1e-2)):
        cast = torch.autocast("cuda", torch.bfloat16, enabled)
        results = [with_gradients(cast(multiply), *given) for multiply in (matmul, torch.mm)]
        for made, right in zip(*results, strict=True):
            assert made.dtype == right.dtype
            assert float((made - right).float().norm() / right.float().norm()) < most


def test_a_product_in_a_captured_graph_is_right_at_each_replay(gpu):
    a, b = matrix(512, 4096, torch.bfloat16), matrix(4096, 512, torch.bfloat16, seed=1)
    matmul(a, b)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = matmul(a, b)
    for seed in range(2, 5):
        a.copy_(matrix(512, 4096, torch.bfloat16, seed=seed))
        graph.replay()
        assert off(made, a, b) <= reference.TOLERANCE["bf16"]


def test_captured_launches_find_their_flags_at_zero_and_leave_them_so(gpu, monkeypatch):
    config = KernelConfig("warp-specialized", "stream-k", (128, 128, 64), overlap=True)
    monkeypatch.setattr(op, "choices", lambda *asked: [config] * 2)
    a, b = matrix(512, 4096, torch.bfloat16), matrix(4096, 512, torch.bfloat16, seed=1)
    right = matmul(a, b)
    torch.cuda.synchronize()
    graph, left = torch.cuda.CUDAGraph(), len(stages._left[a.device.index])
    with torch.cuda.graph(graph):
        made = [matmul(a, b) for _ in range(3)]
    assert left > len(stages._left[a.device.index])
    for _ in range(3):
        graph.replay()
        assert all(torch.equal(one, right) for one in made)


def test_plans_that_share_tiles_may_run_on_two_streams_at_once(gpu, monkeypatch):
    config = KernelConfig("table", "stream-k", (128, 128, 64), overlap=True)
    monkeypatch.setattr(op, "choices", lambda *asked: [config])
    a, b = matrix(512, 8192, torch.bfloat16), matrix(8192, 512, torch.bfloat16, seed=1)
    right = matmul(a, b)
    torch.cuda.synchronize()
    streams, made = [torch.cuda.Stream() for _ in range(2)], []
    for turn in range(40):
        with torch.cuda.stream(streams[turn % 2]):
            made.append(matmul(a, b))
    torch.cuda.synchronize()
    assert off(right, a, b) <= reference.TOLERANCE["bf16"]
    assert all(torch.equal(one, right) for one in made)


def test_too_many_stages_become_fewer(gpu, monkeypatch):
    row = {
        "tile": [128, 256, 64], "dtype": "bf16", "order": "row-major", "schedule": "naive", "loads": "tma",
        "overlap": False, "warps": 8, "stages": 9, "kernel": "own", "epilogue_subtiles": 1,
        "m": 512, "n": 512, "k": 2048, "layout": "nn",
    }  # fmt: skip
    monkeypatch.setattr(choice, "rows", lambda name: [row])
    a, b = matrix(512, 2048, torch.bfloat16), matrix(2048, 512, torch.bfloat16, seed=1)
    assert off(matmul(a, b), a, b) <= reference.TOLERANCE["bf16"]
    ((_, run, _),) = op._known.values()
    assert run.config.stages < 9 and run.config.tile == (128, 256, 64)


def test_operands_on_two_devices_are_refused(gpu):
    a = matrix(16, 16, torch.float32)
    with pytest.raises(RuntimeError, match="A is on cuda:0 and B on cpu; both must be on one device"):
        matmul(a, a.cpu())
    with pytest.raises(RuntimeError, match="are on cpu; matmul needs tensors on an NVIDIA GPU"):
        matmul(a.cpu(), a.cpu())
