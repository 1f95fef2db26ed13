"""What is chosen for a product: ranks, reasons, and refusals."""

import subprocess
import sys
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilesim import Device, gemm
from tilesim.choice import candidates as tables
from tilesim.choice.candidates import ORDER, candidates
from tilesim.choice.choose import LIMITS, choose
from tilesim.devices.presets import presets
from tilesim.errors import ChoiceError, CostsError
from tilesim.gemm import kernels
from tilesim.gemm.fit import why_not
from tilesim.products import Product

H200 = Device.named("h200")
FEW = settings(max_examples=settings.default.max_examples // 3)
sizes = st.sampled_from([16, 48, 128, 200, 1024, 3072, 4096, 16384])
kinds = st.sampled_from([("bf16", "nn"), ("bf16", "nt"), ("fp8", "nt"), ("fp8", "nn"), ("fp32", "nn")])


@FEW
@given(sizes, sizes, sizes, kinds, st.integers(0, 2**32))
def test_the_ranking_is_the_same_in_whatever_order_kernels_are_listed(m, n, k, kind, seed):
    product = Product(m, n, k, *kind)
    first = choose(product, H200)
    with pytest.MonkeyPatch.context() as patch:
        shuffled = Random(seed).sample(list(kernels().items()), len(kernels()))
        patch.setattr(tables, "kernels", lambda: dict(shuffled))
        assert choose(product, H200) == first


@FEW
@given(sizes, sizes, sizes, kinds)
def test_parts_add_up_and_the_limit_is_one_of_them_or_a_term(m, n, k, kind):
    for one in choose(Product(m, n, k, *kind), H200):
        assert one.ns == pytest.approx(sum(one.parts.values()))
        assert min(one.parts.values()) >= 0
        assert one.limit in {*LIMITS, *one.parts} - {"K-steps"}
        assert 1 <= one.sms <= H200.sms


large = st.sampled_from([512, 1536, 4096, 16384])


@FEW
@given(sizes, large, large, kinds, st.sampled_from("nk"))
def test_no_kernel_of_whole_tiles_takes_less_for_more_columns_or_longer_sums(m, n, k, kind, side):
    """With tiles that are split it may: more tiles are split among fewer blocks each."""
    product = Product(m, n, k, *kind)

    def times(of):
        return {
            one.config: one.ns for one in choose(of, H200) if one.config.schedule in ("naive", "persistent")
        }

    before, after = times(product), times(replace(product, **{side: 4 * getattr(product, side)}))
    assert all(after[name] >= before[name] * (1 - 1e-9) for name in before.keys() & after.keys())


@pytest.mark.parametrize("layout", ["nt", "nn"])
def test_rows_that_break_lines_take_longer_though_there_are_fewer_bytes(layout):
    broken = choose(Product(4096, 4096, 7528, layout=layout), H200)
    times = {one.config: one.ns for one in choose(Product(4096, 4096, 7552, layout=layout), H200)}
    pairs = [(one.ns, times[one.config]) for one in broken]
    assert all(ns >= other for ns, other in pairs) and any(ns > 1.1 * other for ns, other in pairs)


def test_no_kernel_reaches_more_than_the_tensor_cores_do():
    for one in choose(Product(8192, 8192, 8192), H200):
        assert 2 * 8192**3 / one.ns / 1000 < presets()["h200"]["peak_tflops"]["bf16"]


MINE = """
from tilesim.gemm import Kernel, Tilings, operands_in_stages

MINE = Kernel(
    shared_bytes=operands_in_stages,
    schedules=("naive",),
    tilings=(Tilings("naive", ((128, 128, 1, 8),)),),
)
KERNELS = {"my-kernel": MINE}
"""


def test_a_new_kernel_is_a_file(tmp_path, monkeypatch):
    """Of its rules; that of the kernel itself is another."""
    (tmp_path / "mine.py").write_text(MINE)
    monkeypatch.setattr(gemm, "__path__", [*gemm.__path__, str(tmp_path)])
    kernels.cache_clear()
    try:
        found = list(candidates(Product(1024, 1024, 1024), H200))
        mine = [one for one in found if one.kernel == "my-kernel"]
        assert {one.tile for one in mine} == {(128, 128, 64)} and {one.order for one in mine} == {ORDER}
        assert all(not why_not(one, Product(1024, 1024, 1024)) for one in mine)
    finally:
        kernels.cache_clear()


def test_products_of_few_rows_get_tiles_of_few_rows():
    for m, most in ((16, 16), (32, 32), (64, 64)):
        assert choose(Product(m, 8192, 8192), H200)[0].config.tile[0] <= most


@pytest.mark.parametrize(
    ("k", "layout", "loads"), [(1024, "nn", "tma"), (1023, "nn", "ptr"), (1023, "tn", "tma")]
)
def test_rows_that_tma_cannot_load_are_loaded_through_pointers(k, layout, loads):
    assert {one.loads for one in candidates(Product(1024, 1024, k, layout=layout), H200)} == {loads}


def test_a_device_without_tma_gets_kernels_that_need_none():
    found = choose(Product(4096, 4096, 4096), Device.named("a100"))
    assert {one.config.loads for one in found} == {"ptr"}


def test_2_to_the_31_tiles_are_ranked():
    product = Product(2**23, 2**23, 64)
    found = choose(product, H200)
    assert found and all(one.config.problem(product).tiles <= 2**31 for one in found)


def test_what_no_kernel_computes_is_said():
    with pytest.raises(ChoiceError, match=r"no kernel here computes 64x64x64 int8 nn on NVIDIA H200$"):
        choose(Product(64, 64, 64, "int8"), H200)
    with pytest.raises(CostsError, match="datasheet has no fp8 rate"):
        choose(Product(64, 64, 64, "fp8"), Device.named("a100"))


def test_choosing_imports_neither_torch_nor_the_engine():
    code = (
        "import sys; from tilesim.choice.choose import choose; from tilesim import Device\n"
        "from tilesim.products import Product; choose(Product(64, 64, 64), Device.named('h200'))\n"
        "assert not {'torch', 'triton', 'tilesim.engine'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
