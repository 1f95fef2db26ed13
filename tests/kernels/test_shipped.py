"""What ships in tilesim/data and was measured on a GPU: complete, consistent, and true to the plans."""

import json
from pathlib import Path

import numpy as np
import pytest

import tilesim
from tilesim import Trace, plan

DATA = Path(tilesim.__file__).parent / "data"
TRACES = sorted([*(DATA / "traces").glob("*.npz"), *(DATA / "held_out").glob("*.npz")])
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
    assert trace.meta["kernel"].startswith((trace.schedule, "planned"))
    assert trace.meta["relative_error"] < 5e-3


def test_each_thread_block_did_what_the_plan_says(trace):
    made = plan(trace.schedule, trace.problem, trace.device)
    by_cta = trace.spans[np.lexsort((trace.spans["start"], trace.spans["cta"]))]
    for column in ("cta", "tile", "k0", "k1"):
        if not len(made.shared):
            assert by_cta[column].tolist() == made.segments[column].tolist()
        elif column != "cta":
            assert sorted(by_cta[column]) == sorted(made.shared[column])


def test_a_queue_is_handed_out_in_its_order(trace):
    made = plan(trace.schedule, trace.problem, trace.device)
    if len(made.shared):
        place = np.empty(trace.problem.tiles, np.int64)
        place[made.shared["tile"]] = np.arange(len(made.shared))
        for cta in np.unique(trace.spans["cta"]):
            drawn = trace.spans[trace.spans["cta"] == cta]
            assert (np.diff(place[drawn[np.argsort(drawn["start"])]["tile"]]) > 0).all()


def test_only_the_owners_of_cut_tiles_wait_and_never_for_nothing(trace):
    spans = trace.spans
    split = np.bincount(spans["tile"], minlength=trace.problem.tiles)[spans["tile"]] > 1
    owns = spans["fixup"] > spans["drain"]
    assert not (owns & ~split).any()
    owners = spans[owns]
    assert len(owners) == len(np.unique(spans["tile"][split]))
    arrived = np.zeros(trace.problem.tiles, np.int64)
    np.maximum.at(arrived, spans["tile"][~owns], spans["done"][~owns])
    # the flag is raised before its writer stamps that it was, by up to a tick and the stamp
    assert (owners["ready"] >= arrived[owners["tile"]] - 4 * trace.tick_ns).all()


def test_every_time_is_on_the_tick(trace):
    assert trace.tick_ns > 1
    for name in ("issue", "start", "drain", "done"):
        assert (trace.spans[name] % trace.tick_ns == 0).all()


def test_a_run_is_shorter_than_its_kernel_with_the_launch(trace):
    # the kept launch is one of many, whose median recorded_us is
    assert trace.makespan / 1000 < 1.02 * trace.meta["recorded_us"]


RECORDED = [
    pytest.param(path, id=path.stem)
    for path in TRACES
    if "tile" not in path.stem and ("4096x4096x512" in path.stem or "4096x4096x4096" in path.stem)
]


@pytest.mark.parametrize("path", RECORDED)
def test_recording_costs_at_most_three_percent(path):
    meta = Trace.load(path).meta
    assert meta["recorded_us"] < 1.03 * meta["kernel_us"]


def test_recording_was_tried_on_enough():
    assert all(sum(size in p.id for p in RECORDED) >= 8 for size in ("4096x4096x512", "4096x4096x4096"))


def test_the_launch_and_the_first_load_are_told_apart(trace):
    if "launch_ns" in trace.meta:
        assert 130 <= trace.meta["launch_ns"]["p50"] <= 600
    assert 800 < trace.meta["prologue_ns"]["p50"] < 4000
    assert trace.meta["launches"] >= len(np.unique(trace.spans["cta"]))


def test_no_main_loop_is_faster_than_the_tensor_cores(trace):
    """Nor much slower: start and drain stand where the tensor cores start and stop."""
    m, n, k = trace.problem.tile
    steps = trace.spans["k1"] - trace.spans["k0"]
    least = 2 * m * n * k / HOPPER_FLOPS_PER_CYCLE * steps.mean()
    assert least < trace.spans["cycles"].mean() < 2 * least * trace.device.ctas_per_sm


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
