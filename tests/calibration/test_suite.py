"""The runs that show what a GPU can do: as large as its SMs and its L2 ask for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.calibration.suite import suite

H200 = {"sms": 132, "l2_mb": 50, "peak_tflops": {"bf16": 989}, "shared_kib_per_block": 227}


def runs(**changes):
    return {run.name: run for run in suite(H200 | changes)}


def test_sizes_follow_from_the_sms():
    made = runs()
    sizes = {name: (run.problem.tiles_m, run.problem.tiles_n) for name, run in made.items()}
    assert sizes["naive-wide-short"] == (8, 75) and sizes["naive-square-short"] == (8, 149)
    assert sizes["naive-wide-long"] == (8, 27) and sizes["naive-square-long"] == (8, 54)
    assert sizes["stream-k-wide-few"] == (4, 8) and sizes["stream-k-square-few"] == (4, 16)
    assert sizes["l2-apart"] == (8, 264) and sizes["l2-merged"] == (48, 66)
    assert sizes["dram"] == (1, 264) and sizes["l2-latency"] == (48, 66) and sizes["dram-latency"] == (8, 16)


@given(st.integers(1, 300), st.integers(4, 200))
def test_what_is_to_stay_in_the_l2_fills_half_of_it_at_most(sms, l2_mb):
    for name in ("l2-apart", "l2-merged", "l2-latency"):
        problem = runs(sms=sms, l2_mb=l2_mb)[name].problem
        held = 2 * (problem.m + problem.n) * problem.k
        longer = held * (problem.k_steps + 1) / problem.k_steps
        assert 4 <= problem.k_steps <= 16
        assert problem.k_steps == 4 or held <= l2_mb * 1e6 / 2
        assert problem.k_steps == 16 or longer > l2_mb * 1e6 / 2


def test_lengths_of_k_follow_from_what_a_run_shows():
    lengths = {name: run.problem.k for name, run in runs().items()}
    words = {"-short": 512, "-long": 4096, "-few": 8192, "dram": 2048, "dram-latency": 4096}
    for name, k in lengths.items():
        if not name.startswith("l2"):
            assert k == next(k for word, k in words.items() if name.endswith(word) or name == word), name


def test_residents_stages_and_kernels_are_those_that_show_it():
    made = runs()
    assert {name for name, run in made.items() if run.ctas_per_sm == 2} == {
        *(name for name in made if "-square-" in name), "l2-apart", "l2-merged", "dram",
    }  # fmt: skip
    assert {name: run.stages for name, run in made.items() if run.stages} == dict.fromkeys(
        ("l2-latency", "dram-latency"), 2
    )
    assert {run.ctas_per_sm for run in made.values()} == {1, 2}
    assert {name for name, run in made.items() if run.kernel == "table"} == {
        name for name in made if name.startswith("stream-k")
    }
    assert not [name for name in made if name.startswith("naive-alone")]


@pytest.mark.parametrize("kib", [99, 159, 160, 227])
def test_small_tiles_are_for_little_shared_memory(kib):
    sides = {max(run.problem.tile[:2]) for run in suite(H200 | {"shared_kib_per_block": kib})}
    assert (max(sides) == 256) == (kib >= 160)


@pytest.mark.parametrize("kib", [99, 227])
def test_tiles_are_powers_of_two_and_k_is_whole_k_steps(kib):
    for run in suite(H200 | {"shared_kib_per_block": kib}):
        assert all(side & (side - 1) == 0 for side in run.problem.tile)
        assert run.problem.k % run.problem.tile_k == 0


@pytest.mark.parametrize(
    ("peaks", "dtype"),
    [({"fp32": 1, "fp16": 2}, "fp16"), ({"fp16": 2, "bf16": 2}, "bf16"), ({"int8": 4}, "int8")],
)
def test_kernels_run_in_the_first_dtype_that_the_gpu_has(peaks, dtype):
    assert {run.problem.dtype for run in suite(H200 | {"peak_tflops": peaks})} == {dtype}


def test_a_gpu_of_few_sms_has_runs_of_one_tile_at_least():
    assert min(run.problem.tiles for run in suite(H200 | {"sms": 1})) >= 1
