"""Which kernel is taken for a shape, by a table, the model or none, and how `tilesim tune` makes a table."""

import json
import math
import sys
import warnings
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from on_device import inputs, jobs, torch

from tilesim import Device, plan
from tilesim.choice import measurement
from tilesim.choice.candidates import candidates
from tilesim.choice.choose import choose
from tilesim.devices.gpus import Gpu, identified, named
from tilesim.gemm import kernel_of
from tilesim.gemm.fit import limits_of, why_not
from tilesim.kernel_config import KernelConfig
from tilesim.products import LAYOUTS, Product
from tilesim_kernels import KernelError
from tilesim_kernels.tuning import choice, products, tuner

ROW = {
    "m": 4096, "n": 4096, "k": 4096, "dtype": "bf16", "layout": "nn", "tile": [128, 256, 64],
    "order": "grouped:8", "schedule": "persistent", "loads": "tma", "overlap": True, "warps": 8, "stages": 3,
    "kernel": "own", "epilogue_subtiles": 1, "us": 180.5, "cublas_us": 190,
}  # fmt: skip
SOME, OTHER = (Gpu(f"{name} GPU", "", 100, f"nobody knows {name} GPU") for name in ("Some", "Other"))
TABLE = {"machine": {"gpu": "Some GPU"}, "method": "by hand", "rows": [ROW]}
SHIPPED = sorted((choice.files("tilesim") / "data/tuned").iterdir())


def write(path, values):
    path.write_text(json.dumps(values), "utf-8")
    return path


@pytest.fixture
def own_table(tmp_path, monkeypatch):
    """Writes a table and names it in the environment."""

    def name(values):
        monkeypatch.setenv(choice.TABLE, str(write(tmp_path / "table.json", values)))

    choice.rows.cache_clear()
    choice._warn.cache_clear()
    yield name
    choice.rows.cache_clear()


def test_a_measured_shape_gets_its_kernel_and_then_fewer_stages(own_table):
    own_table(TABLE)
    product = Product(4096, 4096, 4096)
    found = choice.choices(product, SOME)
    assert found[0] == choice.chosen(ROW, product)
    assert [config.stages for config in found[:3]] == [3, 2, 1]
    assert found[3:] == choice.choices(product, None)


rows = st.builds(
    lambda m, n, k, dtype, layout: {**ROW, "m": m, "n": n, "k": k, "dtype": dtype, "layout": layout},
    *[st.sampled_from([64, 128, 1024, 4096, 16384])] * 3,
    st.sampled_from(["bf16", "fp8"]),
    st.sampled_from(["nn", "nt"]),
)


@given(st.lists(rows, min_size=1, max_size=8), rows)
def test_the_nearest_is_of_its_dtype_and_if_possible_its_layout(measured, wanted):
    """And no other such row differs from the product in fewer factors."""
    found = choice.nearest(measured, Product(*(wanted[name] for name in choice.PRODUCT)))
    rivals = [row for row in measured if row["dtype"] == wanted["dtype"]]
    if not rivals:
        assert found is None
        return
    rivals = [row for row in rivals if row["layout"] == wanted["layout"]] or rivals

    def factor(row):
        return math.prod(max(row[name] / wanted[name], wanted[name] / row[name]) for name in "mnk")

    assert found in rivals
    assert factor(found) == pytest.approx(min(map(factor, rivals)))


def test_fp16_takes_what_was_measured_for_bf16_and_fp32_does_not(own_table):
    own_table(TABLE)
    config, *_ = choice.choices(Product(2048, 2048, 2048, "fp16", "nt"), SOME)
    assert config.schedule == "persistent" and config.tile == (128, 256, 64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config, *_ = choice.choices(Product(2048, 2048, 2048, "fp32", "nt"), SOME)
    assert config.schedule == "naive"


H200 = named("h200")


def test_a_shape_that_the_table_lacks_gets_what_the_model_once_ranks_first(monkeypatch):
    product = Product(96, 4096, 4096, layout="nt")
    ranked = choose(product, Device.named("h200"))
    found = choice.choices(product, H200)
    assert found[0] == ranked[0].config
    assert {config.tile for config in found} >= {one.config.tile for one in ranked[:3]}
    anywhere = choice.choices(product, None)
    assert found[-len(anywhere) :] == anywhere
    monkeypatch.setattr("tilesim.choice.choose.choose", lambda *asked: pytest.fail("asked again"))
    assert choice.choices(product, H200) == found


def test_what_the_model_has_no_kernel_for_gets_one_that_runs_anywhere():
    product = Product(64, 64, 64, "fp8")
    assert choice.choices(product, named("a100")) == choice.choices(product, None)


def test_a_known_shape_loads_no_model_and_another_does(monkeypatch):
    assert not hasattr(choice, "choose")
    monkeypatch.setitem(sys.modules, "tilesim.choice.choose", None)  # which raises where it is imported
    assert choice.choices(Product(4096, 4096, 4096), H200)
    with pytest.raises(ImportError, match="choose"):
        choice.choices(Product(4095, 4096, 4096), H200)


def told_once(gpu, product, words):
    """The choices for a product on a GPU, which is said to be unknown at the first call alone."""
    with pytest.warns(UserWarning, match=words):
        found = choice.choices(product, gpu)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choice.choices(product, gpu) == found
    return found


def test_an_unknown_gpu_gets_kernels_that_run_anywhere(own_table):
    product, words = Product(64, 64, 64), "nobody knows Other GPU, so matmul takes kernels that run anywhere"
    assert told_once(OTHER, product, words) == choice.choices(product, None)


@given(*[st.integers(1, 2**20)] * 3, st.sampled_from(["fp16", "bf16", "fp32", "tf32", "fp8"]))
def test_what_runs_anywhere_is_legal_and_ends_in_little_shared_memory(m, n, k, dtype):
    product = Product(m, n, k, dtype)
    found = choice.choices(product, None)
    for config in found:
        assert not why_not(config, product) and config.stages >= 1
    (tile_m, tile_n, tile_k), itemsize = found[-1].tile, 4
    assert itemsize * (tile_m + tile_n) * tile_k * found[-1].stages <= 48 * 1024


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_each_row_of_a_shipped_table_is_a_kernel_with_a_plan(path):
    shipped = choice.read(path)
    assert set(shipped["machine"]) == {"gpu", "driver", "cuda", "torch", "triton", "date"}
    assert shipped["method"]
    seen = [tuple(row[name] for name in choice.PRODUCT) for row in shipped["rows"]]
    assert len(set(seen)) == len(seen) > 0
    for row in shipped["rows"]:
        product = Product(*(row[name] for name in choice.PRODUCT))
        config = choice.chosen(row, product)
        assert choice.choices(product, named(shipped["machine"]["gpu"]))[0] == config
        if kernel_of(config).recordable:
            assert jobs.job(config, product, Device(132), "cpu").ctas > 0


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"schedule": "persistant"}, "did you mean 'persistent'"),
        ({"warps": 5}, "warps is 5"),
        ({"stages": 3_000_000}, "stages is 3000000; it must be a whole number from 0 to 64"),
        ({"tile": [96, 32, 32]}, "tile_m is 96"),
        ({"dtype": "int8"}, "the dtype is int8"),
        ({"layout": "rows"}, "layout is 'rows'; choose from nn, nt, tn, tt"),
        ({"us": 10**15}, "us is 1000000000000000; it must be a number above 0, up to 1000000000000"),
        ({"m": 2**50}, "m is 1125899906842624"),
    ],
)
def test_a_row_that_cannot_be(tmp_path, wrong, sentence):
    path = write(tmp_path / "t.json", {**TABLE, "rows": [ROW, {**ROW, **wrong}]})
    with pytest.raises(KernelError, match=sentence) as raised:
        choice.read(path)
    assert str(raised.value).startswith(f"{path} is not a table of `tilesim tune`")


@pytest.mark.parametrize("name", sorted(ROW.keys() - {"epilogue_subtiles"}))
def test_a_row_that_lacks_something(tmp_path, name):
    path = write(tmp_path / "t.json", {**TABLE, "rows": [{key: ROW[key] for key in ROW if key != name}]})
    with pytest.raises(KernelError, match=f"of `tilesim tune`: .*(field '{name}' is|lacks {name})"):
        choice.read(path)


@pytest.mark.parametrize("change", [{"machine": {"gpu": 3}}, {"rows": {}}, {"rows": [3]}])
def test_a_file_that_is_no_table(tmp_path, change):
    path = write(tmp_path / "t.json", TABLE | change)
    with pytest.raises(KernelError, match=f"{path} is not a table of `tilesim tune`: "):
        choice.read(path)


def test_a_table_in_the_environment_comes_before_the_one_shipped(own_table):
    gpu = choice.read(SHIPPED[0])["machine"]["gpu"]
    assert len(choice.rows(named(gpu))) > 1
    choice.rows.cache_clear()
    own_table({**TABLE, "machine": {"gpu": gpu}})
    assert choice.rows(named(gpu)) == [ROW]


def test_a_gpu_that_is_near_a_preset_gets_its_kernels(own_table):
    near = identified("Mine", "9.0", {"sms": 114, "memory_gb": 80, "memory_gb_per_s": 3352})
    assert near.preset == "h100"
    words = "does not know the Mine and takes it for an H100 with 114 SMs"
    found = told_once(near, Product(96, 4096, 4096, layout="nt"), words)
    assert kernel_of(found[0]).warp_specialized


@pytest.mark.parametrize(("name", "preset"), [("NVIDIA H100 80GB HBM3", "h100"), ("NVIDIA H200", "h200")])
def test_this_gpu_is_its_preset(gpu, name, preset):
    if torch.cuda.get_device_name() != name:
        pytest.skip(f"there is no {name}")
    found = gpu.machine.gpu()
    assert (found.preset, found.sms, found.note) == (preset, 132, "")
    assert gpu.machine.device(1) == Device.named(preset)
    config, *_ = choice.choices(Product(1024, 4096, 4096, layout="nt"), found)
    assert config.kernel in ("warp-specialized", "ping-pong")


@pytest.mark.parametrize(("dtype", "layout"), [("bf16", "nn"), ("fp8", "nt"), ("tf32", "nt")])
def test_tuning_makes_a_table_that_matmul_goes_by(gpu, own_table, monkeypatch, dtype, layout):
    product, candidates = Product(512, 512, 512, dtype, layout), tuner.candidates
    monkeypatch.setattr(tuner, "candidates", lambda *asked: list(candidates(*asked))[:6])
    table = tuner.tune(product, samples=5)
    (row,) = table["rows"]
    assert row["us"] > 0 and row["cublas_us"] > 0 and row["candidates"] > 0
    own_table(table)
    assert choice.choices(product, gpu.machine.gpu())[0] == choice.chosen(row, product)


sizes = st.one_of(st.integers(1, 300), st.sampled_from([512, 1000, 4096, 16384, 100_000]))


@given(
    sizes, sizes, sizes, st.sampled_from(list(inputs.DTYPES)), st.sampled_from(LAYOUTS),
    st.sampled_from(["tma", "ptr"]),
)  # fmt: skip
def test_every_candidate_is_legal_and_fits_and_there_is_one(m, n, k, dtype, layout, loads):
    product, limits = Product(m, n, k, dtype, layout), limits_of("h200")
    found = list(candidates(product, Device.named("h200"), loads))
    assert len(set(found)) == len(found) > 0
    for config in found:
        assert not why_not(config, product, limits)
        assert config.loads == loads and KernelConfig.parse(str(config)) == config
        kernel, tiled = kernel_of(config), config.problem(product)
        assert kernel.shared_bytes(config, product) <= limits.shared_bytes()
        assert 1 <= config.stages <= max(tiled.k_steps, 1)
        tile_m, tile_n, _ = config.tile
        assert tile_m * tile_n <= 128 * 32 * config.warps * kernel.groups(config)
        assert tile_m < max(2 * m, 17) and tile_n < max(2 * n, 17)
        if config.kernel == "table":
            assert plan(config.schedule, tiled, Device.named("h200")).check(tiled, 132) is None


PRODUCT = Product(32, 32, 32, "fp32")
CANDIDATES = [KernelConfig("naive", "naive", (32, 32, 32), warps=4, stages=stages) for stages in (1, 2, 3)]
MACHINE = {"gpu": "an interpreter"}


@pytest.fixture
def tuned(monkeypatch):
    """tune on the interpreter, with the µs of each candidate by its stages, and of cuBLAS as given here."""
    us = {1: 9.0, 2: 7.0, 3: 8.0, "cublas": 6.0}

    def sample(rotations, warmup, samples):
        return {name: np.full(samples, us[rotation.graph]) for name, rotation in rotations.items()}

    def job(config, product, device):
        if us[config.stages] is None:
            raise KernelError("out of shared memory")
        made = jobs.job(config, product, device, "cpu")

        def launcher(operands):
            run = made.launcher(operands)
            launch = lambda: run() or (operands[2].zero_() if us[config.stages] == 0 else None)  # noqa: E731
            launch.graph, launch.bound_to = config.stages, lambda other, workspace: launcher(other)
            return launch

        return replace(made, launcher=launcher)

    for module, name, value in (
        (tuner, "require_gpu", lambda: None),
        (tuner, "facts", lambda: dict(MACHINE)),
        (tuner, "candidates", lambda product, *rest: CANDIDATES),
        (tuner, "this_gpu", lambda ctas: Device(4)),
        (tuner, "gpu_memory", nullcontext),
        (tuner, "working_gpu", nullcontext),
        (tuner, "sets_beyond_l2", lambda product: 2),
        (tuner, "matrices", lambda product, device, seed: inputs.matrices(product, "cpu", seed)),
        (tuner, "sample", sample),
        (tuner, "job", job),
        (tuner, "capture", lambda launches: getattr(launches[0], "graph", "cublas")),
    ):
        monkeypatch.setattr(module, name, value)
    properties = SimpleNamespace(shared_memory_per_block_optin=10**5)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda: properties)
    return us


def test_the_fastest_wins_and_is_a_row_that_matmul_can_read(tuned, tmp_path):
    done = []
    made = tuner.tune(PRODUCT, replace(PRODUCT, layout="tn"), samples=3, progress=done.append)
    assert made["machine"] == MACHINE and "3 of the fastest" in made["method"]
    assert sum(done) == 2 * tuner.PROGRESS_UNITS
    assert [row["layout"] for row in made["rows"]] == ["nn", "tn"]
    for row in made["rows"]:
        assert row["config"] == str(CANDIDATES[1])
        assert (row["us"], row["cublas_us"], row["candidates"]) == (7.0, 6.0, 3)
    (tmp_path / "t.json").write_text(json.dumps(made), "utf-8")
    assert choice.read(tmp_path / "t.json") == made
    assert choice.chosen(made["rows"][0], PRODUCT) == CANDIDATES[1]


def test_what_cannot_run_is_left_out(tuned, monkeypatch):
    """Be it a kernel, or cuBLAS."""

    def refuse():
        raise RuntimeError("not in this layout")

    tuned[2] = None
    monkeypatch.setattr(tuner, "cublas", lambda dtype, operands: refuse)
    (row,) = tuner.tune(PRODUCT, samples=3)["rows"]
    assert (row["config"], row["candidates"], row["cublas_us"]) == (str(CANDIDATES[2]), 2, None)
    tuned[1] = tuned[3] = None
    with pytest.raises(KernelError, match="none of 3 kernels can compute"):
        tuner.tune(PRODUCT, samples=3)


def test_a_wrong_result_is_an_error_however_fast(tuned):
    tuned[2] = 0
    with pytest.raises(KernelError, match=r"naive naive 32x32x32 .* gets 32x32x32 fp32 nn wrong"):
        tuner.tune(PRODUCT, samples=3)
    with pytest.raises(KernelError, match="the dtype is int8"):
        tuner.tune(replace(PRODUCT, dtype="int8"))


def test_an_earlier_table_keeps_its_other_rows(tuned):
    before = tuner.tune(PRODUCT, replace(PRODUCT, m=48), samples=3)
    tuned[1] = 1.0
    after = tuner.tune(PRODUCT, samples=3, table=before)
    assert [(row["m"], row["us"]) for row in after["rows"]] == [(32, 1.0), (48, 7.0)]
    with pytest.raises(KernelError, match="made on Other GPU and this is an interpreter"):
        tuner.tune(PRODUCT, table={**before, "machine": {"gpu": "Other GPU"}})


def test_all_times_are_kept_to_judge_the_model(tuned, monkeypatch, tmp_path):
    monkeypatch.setattr(tuner, "compile_all", lambda *rest: {(CANDIDATES[0], "fp32:nn")})
    tuned[3] = 0
    report = tuner.all_times([PRODUCT], budget_s=60, samples=3)
    assert report["failed"][0][1:] == ["fp32:nn", "the GPU failed"] and len(report["wrong"]) == 1
    (tmp_path / "m.json").write_text(json.dumps(report), "utf-8")
    (one,) = measurement.read(tmp_path / "m.json")
    assert (one.product, one.us, one.cublas_us) == (PRODUCT, {CANDIDATES[1]: 7.0}, 6.0)


def test_products_are_drawn_from_a_seed_and_a_fifth_of_them_is_held_out():
    found = products.drawn(30, 7)
    assert found == products.drawn(60, 7)[:30] != products.drawn(30, 8)
    assert [kind for *_, kind in found[:4]] == ["bf16:nn", "bf16:nt", "fp8:nt", "bf16:nn"]
    assert all(m % 16 == n % 16 == k % 16 == 0 and n * k < products.MOST_WEIGHTS for m, n, k, _ in found)
    every = {(p.m, p.n, p.k) for p in products.products(products.DRAWN_KINDS)}
    assert len(every) == len(products.SHAPES) + sum(count for count, _ in products.DRAWS)
    assert products.held_out() <= every and 0.15 < len(products.held_out()) / len(every) < 0.25
