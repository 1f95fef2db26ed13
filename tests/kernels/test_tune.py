"""Which kernels tune tries, and what it makes of their times; the times themselves need a GPU."""

import json
from contextlib import nullcontext
from dataclasses import asdict, replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interpreter import inputs, jobs, torch, variants

from tilesim import Device, Problem
from tilesim.choice.candidates import Candidate, candidates
from tilesim.choice.kernels import WARP_SPECIALISED
from tilesim.cli.commands import tune as command_line
from tilesim.variants import Variant
from tilesim_kernels import KernelError
from tilesim_kernels.launch import hopper, layouts
from tilesim_kernels.tuning import exhaustive, table
from tilesim_kernels.tuning import tune as tuning

sizes = st.one_of(st.integers(1, 300), st.sampled_from([512, 1000, 4096, 16384, 100_000]))
GPU = Device.named("h200")


@given(
    sizes, sizes, sizes, st.sampled_from(list(inputs.DTYPES)), st.sampled_from(layouts.LAYOUTS),
    st.sampled_from(["tma", "ptr"]),
)  # fmt: skip
def test_every_candidate_is_legal_and_fits_and_there_is_one(m, n, k, dtype, layout, loads):
    """By the rules of the kernels themselves, which the candidates' table repeats without torch."""
    problem = Problem(m, n, k, dtype=dtype)
    found = [(one.variant, one.problem) for one in candidates(problem, GPU, layout, loads)]
    assert len(set(found)) == len(found) > 0
    for variant, tiled in found:
        variants.check(tiled)
        assert variants.checked_variant(**asdict(variant)) == variant
        assert (tiled.m, tiled.n, tiled.k, tiled.dtype) == (m, n, k, dtype)
        assert variant.loads == loads
        stage = (tiled.tile_m + tiled.tile_n) * tiled.tile_k * inputs.DTYPES[dtype].itemsize
        c = tiled.tile_m * tiled.tile_n * inputs.RESULTS[dtype].itemsize // variant.epilogue_subtiles
        groups = 1
        if variant.kernel in WARP_SPECIALISED:
            assert hopper.can_multiply(variant, tiled)
            assert hopper.smem_bytes(variant, tiled) <= hopper.SMEM_BYTES
            groups = hopper.groups(tiled)
        else:
            assert stage * variant.stages + c * variant.overlap <= hopper.SMEM_BYTES
        assert 1 <= variant.stages <= max(tiled.k_steps, 1)
        assert tiled.tile_m * tiled.tile_n <= 128 * 32 * variant.warps * groups
        assert tiled.tile_m < max(2 * m, 17) and tiled.tile_n < max(2 * n, 17)
        if variant.kernel == "planned":
            assert jobs.plan(variant.schedule, tiled, GPU).check(tiled, GPU.slots) is None


def test_the_command_line_offers_the_layouts_that_there_are():
    assert command_line.LAYOUTS == layouts.LAYOUTS


PROBLEM = Problem(64, 64, 64, dtype="fp32")
TILE = (32, 32, 32)
CANDIDATES = [
    (Variant("naive", "tma", False, 4, stages), replace(PROBLEM, tile=TILE)) for stages in (1, 2, 3)
]
MACHINE = {"gpu": "an interpreter"}


@pytest.fixture
def bench(monkeypatch):
    """tune on the interpreter, with the µs of each candidate by its stages, and of cuBLAS as given here."""
    us = {1: 9.0, 2: 7.0, 3: 8.0, "cublas": 6.0}

    def sample(rotations, warmup, samples):
        return {name: np.full(samples, us[rotation.graph]) for name, rotation in rotations.items()}

    def job(variant, problem, device):
        if us[variant.stages] is None:
            raise KernelError("out of shared memory")
        made = jobs.job(variant, problem, device, "cpu")
        tried.append(variant.stages)

        def launcher(operands):
            run = made.launcher(operands)
            launch = lambda: run() or (operands[2].zero_() if us[variant.stages] == 0 else None)  # noqa: E731
            launch.graph = variant.stages
            return launch

        return replace(made, launcher=launcher)

    tried = []
    for name, value in {
        "require_gpu": lambda: None,
        "facts": lambda: dict(MACHINE),
        "this_gpu": lambda ctas: Device(4),
        "gpu_memory": nullcontext,
        "working_gpu": nullcontext,
        "sets_beyond_l2": lambda problem: 2,
        "matrices": lambda problem, device, seed, layout: inputs.matrices(problem, "cpu", seed, layout),
        "candidates": lambda problem, *rest: [
            Candidate(variant, replace(problem, tile=TILE), 1) for variant, _ in CANDIDATES
        ],
        "sample": sample,
        "job": job,
        "capture": lambda launches: getattr(launches[0], "graph", "cublas"),
    }.items():
        monkeypatch.setattr(tuning, name, value)
    properties = SimpleNamespace(shared_memory_per_block_optin=10**5)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda: properties)
    return us


def test_the_fastest_wins_and_is_a_row_that_matmul_can_read(bench, tmp_path):
    done = []
    made = tuning.tune(PROBLEM, layouts=["nn", "tn"], samples=3, progress=done.append)
    assert made["machine"] == MACHINE and "3 of the best" in made["method"]
    assert sum(done) == 2 * tuning.PROGRESS_UNITS
    assert [row["layout"] for row in made["rows"]] == ["nn", "tn"]
    for row in made["rows"]:
        assert (row["stages"], row["us"], row["cublas_us"], row["candidates"]) == (2, 7.0, 6.0, 3)
    (tmp_path / "t.json").write_text(json.dumps(made), "utf-8")
    assert table.read(tmp_path / "t.json") == made
    assert table.chosen(made["rows"][0], 64, 64, 64) == CANDIDATES[1]


def test_what_cannot_run_is_left_out(bench):
    bench[2] = None
    (row,) = tuning.tune(PROBLEM, samples=3)["rows"]
    assert (row["stages"], row["candidates"]) == (3, 2)
    bench[1] = bench[3] = None
    with pytest.raises(KernelError, match="none of 3 kernels can compute"):
        tuning.tune(PROBLEM, samples=3)


def test_a_wrong_result_is_an_error_however_fast(bench):
    bench[2] = 0
    with pytest.raises(KernelError, match=r"naive-tma in tiles of 32x32x32 gets 64x64x64 in fp32 wrong"):
        tuning.tune(PROBLEM, samples=3)


def test_an_earlier_table_keeps_its_other_rows(bench):
    before = tuning.tune(PROBLEM, replace(PROBLEM, m=48), samples=3)
    bench[1] = 1.0
    after = tuning.tune(PROBLEM, samples=3, table=before)
    assert [(row["m"], row["us"]) for row in after["rows"]] == [(48, 7.0), (64, 1.0)]
    with pytest.raises(KernelError, match="made on Other GPU and this is an interpreter"):
        tuning.tune(PROBLEM, table={**before, "machine": {"gpu": "Other GPU"}})


def test_cublas_may_not_know_how(bench, monkeypatch):
    def refuse():
        raise RuntimeError("not in this layout")

    monkeypatch.setattr(tuning, "cublas", lambda dtype, operands: refuse)
    assert tuning.tune(PROBLEM, samples=3)["rows"][0]["cublas_us"] is None


def test_wrong_layouts_and_problems_out_of_reach(bench):
    with pytest.raises(KernelError, match="the layout is 'rows'; it must be one of nn, nt, tn, tt"):
        tuning.tune(PROBLEM, layouts=["rows"])
    with pytest.raises(KernelError, match="the problem's dtype is int8"):
        tuning.tune(replace(PROBLEM, dtype="int8"))


def test_products_are_drawn_from_a_seed_and_a_fifth_of_them_is_held_out():
    found = exhaustive.drawn(30, 7)
    assert found == exhaustive.drawn(60, 7)[:30] != exhaustive.drawn(30, 8)
    assert [kind for *_, kind in found[:4]] == ["bf16:nn", "bf16:nt", "fp8:nt", "bf16:nn"]
    assert all(m % 16 == n % 16 == k % 16 == 0 and n * k < exhaustive.MOST_WEIGHTS for m, n, k, _ in found)
    every = {(p.m, p.n, p.k) for p, _ in exhaustive.products(exhaustive.DRAWN_KINDS)}
    assert len(every) == len(exhaustive.SHAPES) + sum(count for count, _ in exhaustive.DRAWS)
    assert exhaustive.held_out() <= every and 0.15 < len(exhaustive.held_out()) / len(every) < 0.25
