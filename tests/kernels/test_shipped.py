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


@pytest.fixture(scope="module")
def traces():
    return {path.stem: Trace.load(path) for path in TRACES}


def wrong(traces, right):
    """The names of those that are not right."""
    return [name for name, trace in traces.items() if not right(trace)]


def test_the_matched_pair_ships_at_both_sizes():
    names = {path.stem for path in TRACES}
    for size in ("4096x4096x512", "4096x4096x4096"):
        assert {f"h200-naive-{size}", f"h200-persistent-{size}"} <= names


def test_a_trace_says_where_it_comes_from(traces):
    def right(trace):
        meta, names = trace.meta, (trace.origin, trace.meta["gpu"], trace.device.name)
        kernel = meta["kernel"].startswith((trace.schedule, "planned"))
        known = set(meta) >= MACHINE and meta["relative_error"] < 5e-3
        return known and kernel and names == ("measured", "NVIDIA H200", "h200")

    assert not wrong(traces, right)


def test_each_thread_block_did_what_the_plan_says(traces):
    def right(trace):
        made = plan(trace.schedule, trace.problem, trace.device)
        by_cta = trace.spans[np.lexsort((trace.spans["start"], trace.spans["cta"]))]
        if len(made.shared):
            return all(sorted(by_cta[name]) == sorted(made.shared[name]) for name in ("tile", "k0", "k1"))
        return all(
            by_cta[name].tolist() == made.segments[name].tolist() for name in ("cta", "tile", "k0", "k1")
        )

    assert not wrong(traces, right)


def test_a_queue_is_handed_out_in_its_order(traces):
    queued = []

    def right(trace):
        made = plan(trace.schedule, trace.problem, trace.device)
        if not len(made.shared):
            return True
        queued.append(trace)
        place = np.empty(trace.problem.tiles, np.int64)
        place[made.shared["tile"]] = np.arange(len(made.shared))
        spans = trace.spans[np.argsort(trace.spans["start"], kind="stable")]
        drawn = (place[spans["tile"][spans["cta"] == cta]] for cta in np.unique(spans["cta"]))
        return all((np.diff(places) > 0).all() for places in drawn)

    assert not wrong(traces, right)
    assert queued


def test_only_the_owners_of_cut_tiles_wait_and_never_for_nothing(traces):
    def right(trace):
        spans = trace.spans
        cut = np.bincount(spans["tile"], minlength=trace.problem.tiles)[spans["tile"]] > 1
        owns = spans["fixup"] > spans["drain"]
        owners = spans[owns]
        arrived = np.zeros(trace.problem.tiles, np.int64)
        np.maximum.at(arrived, spans["tile"][~owns], spans["done"][~owns])
        # the flag is raised before its writer stamps that it was, by up to a tick and the stamp
        waited = owners["ready"] >= arrived[owners["tile"]] - 4 * trace.tick_ns
        return not (owns & ~cut).any() and len(owners) == len(np.unique(spans["tile"][cut])) and waited.all()

    assert not wrong(traces, right)


def test_every_time_is_on_the_tick(traces):
    def right(trace):
        times = np.concatenate([trace.spans[name] for name in ("issue", "start", "drain", "done")])
        return trace.tick_ns > 1 and not (times % trace.tick_ns).any()

    assert not wrong(traces, right)


def test_a_run_is_shorter_than_its_kernel_with_the_launch(traces):
    # the kept launch is one of many, whose median recorded_us is
    assert not wrong(traces, lambda trace: trace.makespan / 1000 < 1.02 * trace.meta["recorded_us"])


@pytest.mark.parametrize("size", ["4096x4096x512", "4096x4096x4096"])
def test_recording_costs_at_most_three_percent(size, traces):
    recorded = {name: trace for name, trace in traces.items() if "tile" not in name and size in name}
    assert len(recorded) >= 8
    assert not wrong(recorded, lambda trace: trace.meta["recorded_us"] < 1.03 * trace.meta["kernel_us"])


def test_recording_costs_at_most_five_percent_with_wide_tiles_and_fourteen_with_narrow(traces):
    def right(trace):
        most = 1.05 if trace.problem.tile_n == 256 else 1.14
        return trace.meta["recorded_us"] <= most * trace.meta["kernel_us"]

    assert not wrong(traces, right)


def test_the_launch_and_the_first_load_are_told_apart(traces):
    def right(trace):
        launch, first = trace.meta.get("launch_ns", {"p50": 130})["p50"], trace.meta["prologue_ns"]["p50"]
        enough = trace.meta["launches"] >= len(np.unique(trace.spans["cta"]))
        return 130 <= launch <= 600 and 800 < first < 4000 and enough

    assert not wrong(traces, right)


def test_no_main_loop_is_faster_than_the_tensor_cores(traces):
    """Nor much slower: start and drain stand where the tensor cores start and stop."""

    def right(trace):
        m, n, k = trace.problem.tile
        steps = trace.spans["k1"] - trace.spans["k0"]
        least = 2 * m * n * k / HOPPER_FLOPS_PER_CYCLE * steps.mean()
        return least < trace.spans["cycles"].mean() < 2 * least * trace.device.ctas_per_sm

    assert not wrong(traces, right)


def test_cycles_and_time_agree_on_the_clock(traces):
    def right(trace):
        mhz = 1000 * trace.spans["cycles"].sum() / (trace.spans["drain"] - trace.spans["start"]).sum()
        return mhz == pytest.approx(trace.meta["sm_mhz"], rel=1e-3) and 1000 < mhz < 1985

    assert not wrong(traces, right)


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
