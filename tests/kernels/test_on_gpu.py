"""What only a GPU can show. On a Hopper GPU: TRITON_INTERPRET=0 python -m pytest tests/kernels"""

import os
import subprocess
import sys
from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tilesim import Problem
from tilesim.analysis.memory_system import MemorySystem
from tilesim.products import Product

KINDS = [
    "naive-tma", "persistent-tma", "persistent-tma-overlap", "table:persistent", "table:persistent+alone",
    "table:persistent-dynamic", "table:stream-k", "table:stream-k-hybrid",
]  # fmt: skip
WAVES = Problem(11 * 128, 30 * 256, 512, order="grouped:8")
"""Two and a half waves on an H200."""

PAUSES = [10_000, 40_000, 100_000]
"""Cycles. Every growth is over the first, which is longer than what can hide under a pause."""

TENSOR_CORE_FLOPS = 4096
"""Of a Hopper SM in a cycle, dense bf16: NVIDIA H100 whitepaper V1.04, table 2."""

ALWAYS = {"after entry": "prologue", "after start": "main loop", "before drain": "main loop"}
OVERLAPPING = ALWAYS | {"after drain": "epilogue"}
PLACES = [
    (kernel, place, part)
    for kernels, places in {
        ("naive-tma", "naive-ptr"): OVERLAPPING | {"after done": "launch"},
        ("persistent-tma", "persistent-ptr", "table:persistent+alone", "table:persistent-dynamic"):
            OVERLAPPING | {"after done": "gap"},
        ("persistent-tma-overlap", "table:persistent", "table:persistent-contiguous"): OVERLAPPING,
        ("table:split-k:2",):
            ALWAYS | {"before ready": "wait", "after ready": "fix-up", "after fixup": "store"},
    }.items()
    for kernel in kernels
    for place, part in places.items()
]  # fmt: skip


@pytest.mark.parametrize(("kernel", "place", "part"), PLACES)
def test_a_pause_is_seen_in_its_own_interval_and_in_no_other(gpu, kernel, place, part):
    """Inserted into the shipped kernel at `place`, it makes `part` longer by its length, by either clock."""
    grew = {part, "cycles"} if part == "main loop" else {part}
    for cycles, ns, growth in gpu.growth(kernel, WAVES, gpu.PAUSES[place], PAUSES):
        print(f"{cycles} cycles, {ns:.0f} ns:", {name: round(by) for name, by in growth.items()})
        for name, by in growth.items():
            length = cycles if name == "cycles" else ns
            assert abs(by - length * (name in grew)) <= 400 + 0.005 * length, name


@pytest.mark.parametrize("k", [512, 4096])
@pytest.mark.parametrize("kernel", KINDS)
def test_durations_add_up_to_the_kernel_s_own_time(gpu, kernel, k):
    problem = Problem(4096, 4096, k, order="grouped:8")
    times, traces = gpu.timed(kernel, problem, launches=11)
    shares = np.array([trace.makespan / 1000 for trace in traces]) / times
    print("share of the kernel's time:", shares.round(3))
    assert (shares <= 1 + 1 / times).all()  # events tell half a microsecond
    assert shares.max() >= 0.8  # where the host is late, its delay is in the events' time
    for trace in traces:
        spans, last = gpu.in_order(trace)
        for before, after in (("issue", "start"), ("start", "drain"), ("drain", "done")):
            assert (spans[before] < spans[after]).all()
        follows = np.flatnonzero(~last)
        assert (spans["drain"][follows] < spans["start"][follows + 1]).all()
        exact = last | np.append(spans["done"][:-1] <= spans["start"][1:], True)
        lengths = spans["drain"] - spans["issue"] + np.where(exact, spans["done"] - spans["drain"], 0)
        at = spans["sm"] * trace.device.ctas_per_sm + spans["slot"]
        life = [spans["done"][at == slot].max() - spans["issue"][at == slot].min() for slot in np.unique(at)]
        assert lengths.sum() == np.sum(life)


@pytest.mark.parametrize("kernel", KINDS)
def test_no_main_loop_is_faster_than_the_tensor_cores(gpu, kernel):
    m, n, k = WAVES.tile
    least = 2 * m * n * k / TENSOR_CORE_FLOPS
    _, traces = gpu.timed(kernel, WAVES, launches=5)
    for trace in traces:
        steps = trace.spans["k1"] - trace.spans["k0"]
        print("cycles over the least:", (trace.spans["cycles"] / (least * steps)).round(3))
        assert trace.spans["cycles"].sum() >= least * steps.sum()
        # the first warpgroup, which stamps, can be ahead of the others by its share of a K-step
        assert (trace.spans["cycles"] >= least * (steps - 0.5)).all()


def test_the_two_clocks_agree(gpu):
    """Cycles over ns is one clock, on an H200 within 4 % the same for all SMs; it falls under load."""
    _, traces = gpu.timed("naive-tma", Problem(4096, 4096, 4096), launches=5)
    for trace in traces:
        sm, ns = trace.spans["sm"], trace.spans["drain"] - trace.spans["start"]
        ghz = np.bincount(sm, trace.spans["cycles"])[np.unique(sm)] / np.bincount(sm, ns)[np.unique(sm)]
        print(f"GHz: {ghz.min():.3f} to {ghz.max():.3f}")
        assert np.ptp(ghz) <= 0.08 * np.median(ghz)


@pytest.mark.parametrize("schedule", ["naive", "persistent", "persistent-dynamic"])
def test_a_run_beside_a_kernel_that_holds_sms_keeps_off_them(gpu, schedule):
    trace = gpu.recording.record(schedule, WAVES, kernel="table", busy_sms=20, warmup=1, repeats=3)
    used, free = set(trace.spans["sm"].tolist()), set(trace.device.free_sms)
    assert trace.device.busy_sms == 20 and used == free and len(free) == trace.device.sms - 20
    assert trace.tick_ns == gpu.machine.tick_ns()


@pytest.mark.parametrize("schedule", ["persistent", "stream-k", "persistent-dynamic"])
def test_a_plan_for_more_residents_than_fit_is_an_error(gpu, schedule):
    problem = Problem(4096, 4352, 512)
    with pytest.raises(gpu.KernelError, match="counts on 2 thread blocks per SM, and an SM held 1 at once"):
        gpu.recording.record(schedule, problem, kernel="table", ctas_per_sm=2, warmup=1, repeats=3)


def test_the_reduction_ladder_is_measured(gpu):
    made = gpu.sums.reductions(1, 2**20 + 1, warmup=1, samples=3)
    names = [*(step.name for step in gpu.reductions.STEPS), "torch.sum", "copy"]
    every = [(n, name) for n in (1, 2**20 + 1) for name in names]
    assert [(row["n"], row["name"]) for row in made["rows"]] == every
    for row in made["rows"]:
        assert 0 < row["p20"] <= row["us"] <= row["p80"] and row["gb_per_s"] > 0 and row["why"]
        assert row["share_of_copy"] == 1 or row["name"] != "copy"


def test_a_vector_that_does_not_fit_is_one_sentence(gpu):
    with pytest.raises(gpu.KernelError, match=r"needed 4 times, to copy them as well; this GPU has"):
        gpu.sums.reductions(2**37)


MICRO = 2**20


@pytest.mark.parametrize("order", ["anywhere", "in pages"])
def test_a_pointer_chase_ends_where_so_many_hops_lead(gpu, order):
    chain = gpu.chase.Chain(8 * MICRO // gpu.chase.LINE, order, gpu.torch.Generator("cuda").manual_seed(1))
    for hops in (16, 4096, len(chain.visits)):
        assert chain.follow(hops).cycles > 200 * hops  # no load came out of the L1, which takes 42
    assert (chain.time_hops(100) > 200).all()
    chain.memory[chain.visits[chain.at + 7], 0] += gpu.chase.LINE
    with pytest.raises(gpu.KernelError, match="a pointer chase of 16 hops over 65536 lines ended at a wrong"):
        chain.follow(16)


@pytest.mark.parametrize("kind", ["read", "write", "copy"])
@pytest.mark.parametrize("neighbours", [True, False])
@pytest.mark.parametrize(("blocks", "round", "together"), [(1, 3, 1), (12, 5, 4), (132, 2, 132)])
def test_streams_touch_every_value(gpu, kind, blocks, round, together, neighbours):
    asked = gpu.stream.Stream(kind, blocks, 7, round, together, neighbours)
    made = gpu.stream.Streamed(asked, gpu.torch.Generator("cuda").manual_seed(1))
    made.launch()
    made.check()
    made.y[-1] += 1
    if kind == "read":
        with pytest.raises(gpu.KernelError, match=f"a read of {asked.footprint} bytes has a wrong checksum"):
            made.launch()
    else:
        with pytest.raises(gpu.KernelError, match=f"a {kind} left 1 of {len(made.y)} values wrong"):
            made.check()


@pytest.mark.parametrize("by", ["tma", "cp.async"])
@pytest.mark.parametrize(("tile", "stages"), [((32, 32), 1), ((64, 64), 6), ((128, 128), 5), ((128, 256), 4)])
def test_each_stage_of_a_tile_is_loaded(gpu, by, tile, stages):
    words = gpu.torch.randint(-(2**15), 2**15, (16 * MICRO,), dtype=gpu.torch.int16, device="cuda")
    made = gpu.tile_loads.TileLoading(gpu.tile_loads.TileLoads(by, tile, stages, 24, 5, 12), words)
    for loads in (1, stages, 3 * stages + 1, 17):
        made.check(loads)
    for place in (0, -1):
        made.words[place] += 1
        with pytest.raises(gpu.KernelError, match=f"tiles of {128 * sum(tile)} bytes loaded by {by} are wro"):
            made.check(17)
        made.words[place] -= 1


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp8"])
def test_products_of_the_microbenchmark_are_exact(gpu, dtype):
    random = gpu.torch.Generator("cuda").manual_seed(1)
    for tile, warps in (((128, 256, 128), 8), ((128, 128, 128), 4), ((64, 64, 128), 4)):
        gpu.multiply.Multiplying(dtype, tile, warps).check(random)


def test_the_memory_system_is_measured(gpu):
    """The order of what cannot be otherwise; what was loaded is compared in each launch."""
    found = MemorySystem.of(gpu.memory(repeats=1))
    assert found.shared_latency.cycles < found.l2_latency.cycles < found.dram_latency.cycles
    assert found.read_gb_per_s["L2"] > found.read_gb_per_s["DRAM"]
    assert found.macs_per_clock["bf16"] <= TENSOR_CORE_FLOPS / 2 < found.macs_per_clock["fp8"]


LOST = """
import sys
import on_gpu
from tilesim.cli import main

def sample(*asked, whole=on_gpu.recording.sample):
    on_gpu.write_to[(1,)](64)
    return whole(*asked)

on_gpu.recording.sample = sample
sys.argv[0] = "tilesim"
main()
"""


def test_a_gpu_that_is_lost_in_mid_run_is_one_sentence(gpu, tmp_path):
    made = tmp_path / "run.npz"
    asked = ["record", "persistent", "--m", "512", "--n", "512", "--k", "512", "-o", str(made)]
    root = Path(__file__).parents[2]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(root / "tests")])}
    command = [sys.executable, "-c", LOST, *asked]
    run = subprocess.run(command, env=env, cwd=root, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stderr
    said, *torch_warns = run.stderr.splitlines()
    assert said.startswith("error: the GPU failed during the measurement (") and not run.stdout
    assert "illegal memory access" in said and all(line.startswith("[W") for line in torch_warns)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kernel", "tile"),
    [("warp-specialized", (128, 128, 64)), ("ping-pong", (128, 128, 64)), ("skinny", (16, 64, 64))],
)
def test_launched_while_its_predecessor_ends_a_kernel_reads_what_that_wrote(gpu, kernel, tile):
    """A chain of products, each of the one before."""
    problem = Problem(512, 512, 512, tile=tile)
    product = Product.of(problem)
    a, b, _ = gpu.inputs.matrices(product, "cuda", seed=5)
    b /= 512**0.5
    config = gpu.config_named(kernel, problem, warps=None, stages=None)
    work = gpu.jobs.job(config, product, gpu.machine.device(1))
    links = [a, *(gpu.torch.empty_like(a) for _ in range(40))]
    launches = [work.launcher((x, b, y)) for x, y in pairwise(links)]
    launches[0]()  # compiled
    for y in links[1:]:
        y.fill_(float("nan"))
    for launch in launches:
        launch()
    for x, y in pairwise(links):
        assert gpu.reference.relative_error((x, b, y)) < gpu.reference.TOLERANCE["bf16"]


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp32", "tf32", "fp8"])
def test_every_dtype_is_timed_beside_cublas(gpu, dtype):
    problem = Problem(512, 512, 512, tile=(128, 128, 32), dtype=dtype)
    bench = import_module("tilesim_kernels").bench
    report = bench(problem, kernels=["naive-tma", "cublas"], stages=2, warmup=1, samples=3)
    assert [row["kernel"] for row in report["rows"]] == ["naive-tma", "cublas"]
