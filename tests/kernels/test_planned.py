"""Any plan on the one kernel that reads it from a table."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from on_device import (
    DEVICE,
    ON_GPU,
    config_named,
    device_of,
    here,
    inputs,
    jobs,
    recorded,
    recording,
    reference,
    stamped,
    torch,
)  # fmt: skip

import tilesim.schedules
from tilesim import SCHEDULES, Device, Plan, Problem, plan
from tilesim.errors import PlanError
from tilesim.kernel_config import KernelConfig
from tilesim.orders import rasterize
from tilesim.plans import SEGMENT, segments
from tilesim.products import Product
from tilesim_kernels import KernelError
from tilesim_kernels.gemm import table
from tilesim_kernels.launch import plan_table

NEEDS = {"split-k": ":3"}
MANY = 77 if ON_GPU else 5
EVERY = [name + NEEDS.get(name, "") for name in SCHEDULES] + [f"stream-k:{MANY}", "stream-k-hybrid:1"]
CASES = [("tma", (33, 40, 200), True), ("ptr", (65, 67, 131), False)]
if ON_GPU:
    sizes = [("tma", (1000, 776, 1336)), ("ptr", (999, 777, 333)), ("ptr", (1000, 776, 1336))]
    CASES = [(*size, overlap) for size in sizes for overlap in (True, False)]
RAGGED_TILE = (128, 256, 64) if ON_GPU else (32, 64, 16)
PROBLEM = Problem(56, 72, 104, tile=(16, 32, 16), dtype="fp32", order="grouped:3")
WHOLE = Problem(2048, 2304, 1000, order="grouped:4") if ON_GPU else PROBLEM
HALVES = Problem(1024, 1024, 1024) if ON_GPU else PROBLEM


@pytest.mark.on_device
@pytest.mark.parametrize("schedule", EVERY)
@pytest.mark.parametrize("dtype", ["bf16", "fp16" if ON_GPU else "fp32"])
def test_every_schedule_at_ragged_sizes_is_the_same_to_the_bit(schedule, dtype):
    """Without stamps and with them."""
    for loads, size, overlap in CASES:
        problem = Problem(*size, tile=RAGGED_TILE, dtype=dtype, order="grouped:3")
        product = Product.of(problem)
        config = KernelConfig("table", schedule, problem.tile, problem.order, 8, 3, loads, overlap)
        config, _ = here.on_this_machine(config, product)
        work = jobs.job(config, product, device_of(5), DEVICE)
        rows, results = torch.zeros(len(work.rows), 16, dtype=torch.int64, device=DEVICE), []
        for given in (None, None, rows) if ON_GPU else (None, rows):
            operands = inputs.matrices(product, DEVICE, seed=1)
            reference.verify_result(schedule, work.launcher(operands, given), product, operands)
            work.check()
            results.append(operands[2])
        assert all(torch.equal(results[0], other) for other in results[1:])


@pytest.mark.on_device
@pytest.mark.parametrize("schedule", EVERY)
def test_each_thread_block_does_what_the_plan_says(schedule):
    trace = recorded(WHOLE, f"table:{schedule}", ctas=5)
    made = plan(schedule, WHOLE, device_of(5))
    rows = trace.spans[np.lexsort((trace.spans["start"], trace.spans["cta"]))]
    names = ["cta", "tile", "k0", "k1"]
    if len(made.shared):  # who draws what from a queue is up to the run
        whole = np.append(made.segments, made.shared)
        assert sorted(rows[names[1:]].tolist()) == sorted(whole[names[1:]].tolist())
    else:
        assert rows[names].tolist() == made.segments[names].tolist()
    assert (rows["cycles"] > 0).all()


@pytest.mark.parametrize("schedule", ["split-k:3", "stream-k:5", "stream-k-hybrid"])
@pytest.mark.parametrize("overlap", [True, False])
def test_only_owners_wait_and_each_for_the_last_of_its_partials(schedule, overlap):
    config = replace(config_named(f"table:{schedule}", PROBLEM), overlap=overlap)
    work = jobs.job(config, Product.of(PROBLEM), Device(5), "cpu")
    operands = inputs.matrices(Product.of(PROBLEM), "cpu", seed=4)
    stamps = torch.zeros(len(work.rows), 16, dtype=torch.int64)
    reference.verify_result(schedule, work.launcher(operands, stamps), Product.of(PROBLEM), operands)
    trace = recording.trace(
        stamps.numpy(), work.rows, schedule, PROBLEM, Device(5), 1, {"launches": work.ctas}
    )
    spans = trace.spans
    split = np.bincount(spans["tile"], minlength=PROBLEM.tiles)[spans["tile"]] > 1
    owner = spans["fixup"] > spans["drain"]
    assert split.any() and owner.any() and not (owner & ~split).any()
    for span in spans[owner]:
        others = spans[(spans["tile"] == span["tile"]) & ~owner]
        assert len(others) and (others["done"] < span["ready"]).all()


def test_the_same_result_to_the_bit_whatever_was_there_before():
    work = jobs.job(config_named("table:stream-k:5", PROBLEM), Product.of(PROBLEM), Device(5), "cpu")
    results = []
    for _ in range(2):
        operands = inputs.matrices(Product.of(PROBLEM), "cpu", seed=5)
        work.launcher(operands)()
        work.check()
        results.append(operands[2])
    assert torch.equal(*results)


@pytest.mark.on_device
@pytest.mark.parametrize("overlap", [True, False])
def test_a_partial_that_never_comes_ends_in_an_error_and_the_next_launch_is_right(overlap):
    config = replace(config_named("table:split-k:2", HALVES), overlap=overlap)
    made, product = plan("split-k:2", HALVES, device_of(5)), Product.of(HALVES)
    uploaded = plan_table.upload(made, HALVES, DEVICE)
    operands = inputs.matrices(product, DEVICE, seed=6)
    launch = table.launch(config, product, uploaded, operands, timeout_ns=50_000_000)
    right = uploaded.table.clone()
    lost = int(np.flatnonzero(made.segments["tile"] == 7)[0])
    uploaded.table[lost, 4] = plan_table.NO_PARTIAL  # its block believes that it has the whole tile
    launch()
    with pytest.raises(KernelError, match="tile 7 waited for a partial that never came"):
        uploaded.check()
    uploaded.check()
    assert not uploaded.flags.any()
    uploaded.table.copy_(right)
    reference.verify_result("split-k", launch, product, operands)
    uploaded.check()


@pytest.mark.parametrize("schedule", [name for name in EVERY if "dynamic" in name or "launch" in name])
def test_the_queue_is_as_it_was_after_each_launch(schedule):
    made = plan(schedule, PROBLEM, Device(3))
    uploaded = plan_table.upload(made, PROBLEM, "cpu")
    for seed in range(3):
        operands = inputs.matrices(Product.of(PROBLEM), "cpu", seed)
        launch = table.launch(
            config_named(f"table:{schedule}", PROBLEM), Product.of(PROBLEM), uploaded, operands
        )
        reference.verify_result(schedule, launch, Product.of(PROBLEM), operands)
        assert int(uploaded.queue_head) == 0


def test_a_new_schedule_runs_without_another_edit(tmp_path, monkeypatch):
    """Its file is all there is: thread blocks take the tiles from the last to the first, in halves."""
    (tmp_path / "backwards.py").write_text(
        "import numpy as np\n"
        "from tilesim.orders import rasterize\n"
        "from tilesim.plans import Plan, segments\n"
        "def backwards(problem, device):\n"
        "    tile, half = np.repeat(rasterize(problem)[::-1], 2), problem.k_steps // 2\n"
        "    first = np.arange(len(tile)) % 2 == 0\n"
        "    k0, k1 = np.where(first, 0, half), np.where(first, half, problem.k_steps)\n"
        "    return Plan(segments(np.arange(len(tile)), tile, k0, k1), len(tile))\n"
    )
    monkeypatch.setattr(tilesim.schedules, "__path__", [*tilesim.schedules.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "tilesim.schedules.backwards", raising=False)
    trace = recorded(PROBLEM, "table:backwards", ctas=5)
    assert trace.schedule == "backwards"
    assert trace.spans["tile"].tolist() == np.repeat(rasterize(PROBLEM)[::-1], 2).tolist()


def test_a_plan_that_can_deadlock_is_refused_before_it_runs(tmp_path, monkeypatch):
    (tmp_path / "stuck.py").write_text(
        "import numpy as np\n"
        "from tilesim.plans import Plan, segments\n"
        "def stuck(problem, device):\n"
        "    ctas, tiles = problem.tiles, np.arange(problem.tiles)\n"
        "    return Plan(segments(tiles, tiles, 0, 1), ctas, segments(-1, tiles, 1, problem.k_steps))\n"
    )
    monkeypatch.setattr(tilesim.schedules, "__path__", [*tilesim.schedules.__path__, str(tmp_path)])
    monkeypatch.delitem(sys.modules, "tilesim.schedules.stuck", raising=False)
    with pytest.raises(PlanError, match="tile"):
        jobs.job(config_named("table:stuck", PROBLEM), Product.of(PROBLEM), Device(2), "cpu")


def test_the_table_gives_a_tile_s_partials_to_its_last_segment():
    rows = segments(0, [2, 0, 2, 1, 2], [0, 0, 3, 0, 5], [3, 9, 5, 9, 9])
    table, tiles = plan_table.table_of(rows, Problem(32, 48, 144, tile=(16, 16, 16)))
    assert table[:, 4].tolist() == [0, -1, 1, -1, 0]  # partial
    assert table[:, 5].tolist() == [0, 0, 0, 0, 2]  # peers
    assert tiles.tolist() == [2, 2]
    assert rows.dtype == SEGMENT and isinstance(Plan(rows, 1), Plan)


def test_stamps_of_a_queue_say_who_drew():
    stamps, work = stamped(PROBLEM, "table:persistent-dynamic", ctas=3)
    assert set(stamps[:, 0]) == {0} and len(work.rows) == PROBLEM.tiles
