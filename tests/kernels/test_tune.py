"""Which kernels tune tries, and what it makes of their times; the times themselves need a GPU."""

import json
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
from tilesim.gemm import kernel_of
from tilesim.gemm.fit import limits_of, why_not
from tilesim.kernel_config import KernelConfig
from tilesim.products import LAYOUTS, Product
from tilesim_kernels import KernelError
from tilesim_kernels.tuning import choice as table
from tilesim_kernels.tuning import products as drawing
from tilesim_kernels.tuning import tune as tuning
from tilesim_kernels.tuning import tuner

sizes = st.one_of(st.integers(1, 300), st.sampled_from([512, 1000, 4096, 16384, 100_000]))
GPU = Device.named("h200")


@given(
    sizes, sizes, sizes, st.sampled_from(list(inputs.DTYPES)), st.sampled_from(LAYOUTS),
    st.sampled_from(["tma", "ptr"]),
)  # fmt: skip
def test_every_candidate_is_legal_and_fits_and_there_is_one(m, n, k, dtype, layout, loads):
    product, limits = Product(m, n, k, dtype, layout), limits_of("h200")
    found = list(candidates(product, GPU, loads))
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
            assert plan(config.schedule, tiled, GPU).check(tiled, GPU.slots) is None


PRODUCT = Product(32, 32, 32, "fp32")
CANDIDATES = [KernelConfig("naive", "naive", (32, 32, 32), warps=4, stages=stages) for stages in (1, 2, 3)]
MACHINE = {"gpu": "an interpreter"}


@pytest.fixture
def bench(monkeypatch):
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
        (tuning, "require_gpu", lambda: None),
        (tuning, "facts", lambda: dict(MACHINE)),
        (tuning, "this_gpu", lambda ctas: Device(4)),
        (tuning, "candidates", lambda product, *rest: CANDIDATES),
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


def test_the_fastest_wins_and_is_a_row_that_matmul_can_read(bench, tmp_path):
    done = []
    made = tuning.tune(PRODUCT, replace(PRODUCT, layout="tn"), samples=3, progress=done.append)
    assert made["machine"] == MACHINE and "3 of the fastest" in made["method"]
    assert sum(done) == 2 * tuning.PROGRESS_UNITS
    assert [row["layout"] for row in made["rows"]] == ["nn", "tn"]
    for row in made["rows"]:
        assert row["config"] == str(CANDIDATES[1])
        assert (row["us"], row["cublas_us"], row["candidates"]) == (7.0, 6.0, 3)
    (tmp_path / "t.json").write_text(json.dumps(made), "utf-8")
    assert table.read(tmp_path / "t.json") == made
    assert table.chosen(made["rows"][0], PRODUCT) == CANDIDATES[1]


def test_what_cannot_run_is_left_out(bench, monkeypatch):
    """Be it a kernel, or cuBLAS."""

    def refuse():
        raise RuntimeError("not in this layout")

    bench[2] = None
    monkeypatch.setattr(tuner, "cublas", lambda dtype, operands: refuse)
    (row,) = tuning.tune(PRODUCT, samples=3)["rows"]
    assert (row["config"], row["candidates"], row["cublas_us"]) == (str(CANDIDATES[2]), 2, None)
    bench[1] = bench[3] = None
    with pytest.raises(KernelError, match="none of 3 kernels can compute"):
        tuning.tune(PRODUCT, samples=3)


def test_a_wrong_result_is_an_error_however_fast(bench):
    bench[2] = 0
    with pytest.raises(KernelError, match=r"naive naive 32x32x32 .* gets 32x32x32 fp32 nn wrong"):
        tuning.tune(PRODUCT, samples=3)
    with pytest.raises(KernelError, match="the dtype is int8"):
        tuning.tune(replace(PRODUCT, dtype="int8"))


def test_an_earlier_table_keeps_its_other_rows(bench):
    before = tuning.tune(PRODUCT, replace(PRODUCT, m=48), samples=3)
    bench[1] = 1.0
    after = tuning.tune(PRODUCT, samples=3, table=before)
    assert [(row["m"], row["us"]) for row in after["rows"]] == [(32, 1.0), (48, 7.0)]
    with pytest.raises(KernelError, match="made on Other GPU and this is an interpreter"):
        tuning.tune(PRODUCT, table={**before, "machine": {"gpu": "Other GPU"}})


def test_all_times_are_kept_to_judge_the_model(bench, monkeypatch, tmp_path):
    monkeypatch.setattr(tuning, "compile_all", lambda *rest: {(CANDIDATES[0], "fp32:nn")})
    bench[3] = 0
    report = tuning.all_times([PRODUCT], budget_s=60, samples=3)
    assert report["failed"][0][1:] == ["fp32:nn", "the GPU failed"] and len(report["wrong"]) == 1
    (tmp_path / "m.json").write_text(json.dumps(report), "utf-8")
    (one,) = measurement.read(tmp_path / "m.json")
    assert (one.product, one.us, one.cublas_us) == (PRODUCT, {CANDIDATES[1]: 7.0}, 6.0)


def test_products_are_drawn_from_a_seed_and_a_fifth_of_them_is_held_out():
    found = drawing.drawn(30, 7)
    assert found == drawing.drawn(60, 7)[:30] != drawing.drawn(30, 8)
    assert [kind for *_, kind in found[:4]] == ["bf16:nn", "bf16:nt", "fp8:nt", "bf16:nn"]
    assert all(m % 16 == n % 16 == k % 16 == 0 and n * k < drawing.MOST_WEIGHTS for m, n, k, _ in found)
    every = {(p.m, p.n, p.k) for p in drawing.products(drawing.DRAWN_KINDS)}
    assert len(every) == len(drawing.SHAPES) + sum(count for count, _ in drawing.DRAWS)
    assert drawing.held_out() <= every and 0.15 < len(drawing.held_out()) / len(every) < 0.25
