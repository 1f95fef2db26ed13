"""What ships in tilesim/data and was measured on a GPU: complete, consistent, and true to the plans."""

import json
from pathlib import Path

import numpy as np
import pytest

import tilesim
from tilesim import Trace, plan

DATA = Path(tilesim.__file__).parent / "data"
TRACES = sorted((DATA / "traces").glob("*.npz"))
TIMINGS = sorted((DATA / "timings").glob("*.json"))

SIZES = [(1024,) * 3, (2048,) * 3, (4096,) * 3, (8192,) * 3, (4096, 4096, 512), (8192, 8192, 512)]
ORDERS = ["row-major", "grouped:8"]
KERNELS = {
    "naive-ptr", "naive-tma", "persistent-ptr", "persistent-tma",
    "persistent-ptr-overlap", "persistent-tma-overlap", "cublas",
}  # fmt: skip
MACHINE = {"gpu", "driver", "cuda", "torch", "triton", "date"}
HOPPER_FLOPS_PER_CYCLE = 4096  # of an SM, dense bf16: NVIDIA H100 whitepaper V1.04, table 2
H200_PEAK_TFLOPS = 989


@pytest.fixture(params=TRACES, ids=lambda path: path.stem)
def trace(request):
    return Trace.load(request.param)


def test_the_matched_pair_ships_at_both_sizes():
    names = {path.stem for path in TRACES}
    for size in ("4096x4096x512", "4096x4096x4096"):
        assert {f"h200-naive-{size}", f"h200-persistent-{size}"} <= names


def test_a_trace_says_where_it_comes_from(trace):
    assert trace.origin == "measured"
    assert set(trace.meta) >= MACHINE
    assert trace.meta["gpu"] == "NVIDIA H200" and trace.device.name == "h200"
    assert trace.meta["kernel"].startswith(trace.schedule)
    assert trace.meta["relative_error"] < 5e-3


def test_each_thread_block_did_what_the_plan_says(trace):
    made = plan(trace.schedule, trace.problem, trace.device)
    by_cta = trace.spans[np.lexsort((trace.spans["start"], trace.spans["cta"]))]
    for column in ("cta", "tile", "k0", "k1"):
        assert by_cta[column].tolist() == made.segments[column].tolist()


def test_every_time_is_on_the_tick(trace):
    assert trace.tick_ns > 1
    for name in ("issue", "start", "drain", "done"):
        assert (trace.spans[name] % trace.tick_ns == 0).all()


def test_recording_cost_at_most_three_percent(trace):
    assert trace.makespan / 1000 < trace.meta["recorded_us"] < 1.03 * trace.meta["kernel_us"]


def test_no_main_loop_is_faster_than_the_tensor_cores(trace):
    """Nor much slower: start and drain stand where the tensor cores start and stop."""
    m, n, k = trace.problem.tile
    least = 2 * m * n * k / HOPPER_FLOPS_PER_CYCLE * trace.problem.k_steps
    assert least < trace.spans["cycles"].mean() < 1.7 * least * trace.device.ctas_per_sm


def test_cycles_and_time_agree_on_the_clock(trace):
    mhz = 1000 * trace.spans["cycles"].sum() / (trace.spans["drain"] - trace.spans["start"]).sum()
    assert mhz == pytest.approx(trace.meta["sm_mhz"], rel=1e-3)
    assert 1000 < mhz < 1985


@pytest.mark.parametrize("size", ["4096x4096x512", "4096x4096x4096"])
def test_the_pair_differs_in_schedule_and_overlap_alone(size):
    one, other = (Trace.load(DATA / "traces" / f"h200-{name}-{size}.npz") for name in ("naive", "persistent"))
    assert one.problem == other.problem and one.device == other.device
    assert (one.meta["kernel"], other.meta["kernel"]) == ("naive-tma", "persistent-tma-overlap")
    for key in ("warps", "stages", *MACHINE):
        assert one.meta[key] == other.meta[key]


@pytest.mark.parametrize("path", TIMINGS, ids=lambda path: path.stem)
def test_every_kernel_was_timed_at_every_size(path):
    report = json.loads(path.read_text("utf-8"))
    assert set(report["machine"]) == MACHINE and report["method"]
    seen = {((row["m"], row["n"], row["k"]), row["order"], row["kernel"]) for row in report["rows"]}
    assert seen == {(size, order, kernel) for size in SIZES for order in ORDERS for kernel in KERNELS}
    assert len(report["rows"]) == len(seen)
    for row in report["rows"]:
        assert 0 < row["p20"] <= row["us"] <= row["p80"] < 1.1 * row["p20"]
        assert row["relative_error"] < 5e-3
        flops = 2 * row["m"] * row["n"] * row["k"]
        assert row["tflops"] == pytest.approx(flops / row["us"] / 1e6, abs=0.06)
        assert row["tflops"] < H200_PEAK_TFLOPS
        assert row["kernel"] == "cublas" or row["loads"] in row["kernel"]
