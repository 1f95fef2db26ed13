"""Any plan on the one kernel that reads it from a table."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from on_device import DEVICE, ON_GPU, config_named, device_of, here, inputs, jobs, reference, torch

from tilesim import SCHEDULES, Device, Plan, Problem, plan
from tilesim.errors import PlanError
from tilesim.kernel_config import KernelConfig
from tilesim.plans import segments
from tilesim.products import Product
from tilesim_kernels import KernelError
from tilesim_kernels.gemm import table
from tilesim_kernels.launch import plan_table
from tilesim_kernels.measure import record as recording

EVERY = [name if name != "split-k" else "split-k:3" for name in SCHEDULES]
EVERY += ["stream-k:77" if ON_GPU else "stream-k:3", "stream-k-hybrid:1"]
TILE = (128, 256, 64) if ON_GPU else (16, 64, 16)
CASES = [("tma", (40, 136, 40), True, "bf16"), ("ptr", (33, 67, 33), False, "fp32")]
"""Nine tiles, two waves and a rest for four thread blocks, and six, of three K-steps, ragged on each side."""
WHOLE = (2048, 2304, 1000)
"""Of more tiles than a GPU has SMs, which it takes to hold stamps against the plan there."""
if ON_GPU:
    sizes = [("tma", (1000, 776, 1336)), ("ptr", (999, 777, 333)), ("ptr", (1000, 776, 1336)), ("tma", WHOLE)]
    kinds = [(True, "bf16"), (True, "fp16"), (False, "bf16"), (False, "fp16")]
    CASES = [(*size, *kind) for size in sizes for kind in kinds]
PROBLEM = Problem(40, 72, 56, tile=TILE, dtype="fp32", order="grouped:3")
HALVES = Problem(1024, 1024, 1024) if ON_GPU else PROBLEM


@pytest.mark.on_device
@pytest.mark.parametrize("schedule", EVERY)
@pytest.mark.parametrize(("loads", "size", "overlap", "dtype"), CASES)
def test_every_schedule_at_ragged_sizes_is_the_same_to_the_bit(schedule, loads, size, overlap, dtype):
    """Without stamps and with them, which say that each thread block does what the plan says."""
    problem = Problem(*size, tile=TILE, dtype=dtype, order="grouped:3")
    product, device = Product.of(problem), device_of(4)
    config = KernelConfig("table", schedule, problem.tile, problem.order, 8, 3, loads, overlap)
    config, _ = here.on_this_machine(config, product)
    work = jobs.job(config, product, device, DEVICE)
    stamps, results = torch.zeros(len(work.rows), 16, dtype=torch.int64, device=DEVICE), []
    for given in (None, None, stamps) if ON_GPU else (None, stamps):
        operands = inputs.matrices(product, DEVICE, seed=1)
        reference.verify_result(schedule, work.launcher(operands, given), product, operands)
        work.check()
        results.append(operands[2])
    assert all(torch.equal(results[0], other) for other in results[1:])
    if ON_GPU and size != WHOLE:
        return
    meta = {"launches": work.ctas}
    spans = recording.trace(stamps.cpu().numpy(), work.rows, schedule, problem, device, 1, meta).spans
    assert_planned(spans, plan(schedule, problem, device))
    assert ON_GPU or only_owners_wait(spans)


def assert_planned(spans, made):
    """Each thread block did what the plan says; who draws what from a queue is up to the run."""
    spans = spans[np.lexsort((spans["start"], spans["cta"]))]
    names = ["cta", "tile", "k0", "k1"]
    if len(made.shared):
        whole = np.append(made.segments, made.shared)
        assert sorted(spans[names[1:]].tolist()) == sorted(whole[names[1:]].tolist())
    else:
        assert spans[names].tolist() == made.segments[names].tolist()
    assert (spans["cycles"] > 0).all()


def only_owners_wait(spans):
    """Whether each split tile has one owner, which waits for the last of its partials, and no other waits."""
    owner = spans["fixup"] > spans["drain"]
    for tile in np.unique(spans["tile"]):
        of_tile = spans["tile"] == tile
        others, waited = spans["done"][of_tile & ~owner], spans["ready"][of_tile & owner]
        if len(waited) != (of_tile.sum() > 1) or (waited <= others.max()).any():
            return False
    return True


@pytest.mark.on_device
@pytest.mark.parametrize("overlap", [True, False])
def test_a_partial_that_never_comes_ends_in_an_error_and_the_next_launch_is_right(overlap):
    config = replace(config_named("table:split-k:2", HALVES), overlap=overlap)
    made, product = plan("split-k:2", HALVES, device_of(5)), Product.of(HALVES)
    uploaded = plan_table.upload(made, HALVES, DEVICE)
    operands = inputs.matrices(product, DEVICE, seed=6)
    launch = table.launch(config, product, uploaded, operands, timeout_ns=50_000_000)
    right = uploaded.table.clone()
    lost = int(np.flatnonzero(made.segments["tile"] == 3)[0])
    uploaded.table[lost, 4] = plan_table.NO_PARTIAL  # its block believes that it has the whole tile
    launch()
    with pytest.raises(KernelError, match="tile 3 waited for a partial that never came"):
        uploaded.check()
    uploaded.check()
    assert not uploaded.flags.any()
    uploaded.table.copy_(right)
    reference.verify_result("split-k", launch, product, operands)
    uploaded.check()


def test_a_plan_that_can_deadlock_is_refused_before_it_runs():
    def stuck(problem, device):
        ctas, tiles = problem.tiles, np.arange(problem.tiles)
        return Plan(segments(tiles, tiles, 0, 1), ctas, segments(-1, tiles, 1, problem.k_steps))

    SCHEDULES.register(stuck)
    with pytest.raises(PlanError, match="tile"):
        jobs.job(config_named("table:stuck", PROBLEM), Product.of(PROBLEM), Device(2), "cpu")


SPLIT = Plan(segments([0, 1, 1, 2], [4, 4, 1, 4], [0, 2, 0, 5], [2, 5, 6, 6]), 3)
"""Of tiles of six K-steps in three columns: one that three thread blocks sum, and one that is whole."""
THREE_COLUMNS = Problem(64, 96, 192, tile=(32, 32, 32))


def test_a_plan_in_memory_has_what_each_thread_block_reads_and_two_rows_to_read_ahead():
    made = plan_table.upload(SPLIT, THREE_COLUMNS, "cpu")
    assert made.table.shape == (4 + 2, 8) and not made.table[4:].any()
    assert made.offsets.tolist() == [0, 1, 3, 4] and made.k_steps.tolist() == [2, 9, 1]
    assert made.partials.shape == (2, 32 * 32) and made.flags.tolist() == [0, 0, 0]
    assert (made.ctas, made.rows, made.queue_start, made.most_segments, made.ctas_per_sm) == (3, 4, 4, 2, 1)
    made.flags[0] = 1
    own = made.workspace()
    assert own["partials"].shape == (2, 1024) and own["queue_head"].tolist() == [0]
    own["fault"][0] = 5
    assert own["flags"].tolist() == [0, 0, 5] and made.flags.tolist() == [1, 0, 0]
    assert plan_table.upload(Plan(SPLIT.rows[2:3], 3), THREE_COLUMNS, "cpu").workspace() == {}


def test_partials_take_half_of_the_memory_at_most(monkeypatch):
    large = Problem(2**16, 3 * 2**15, 6, tile=(2**15, 2**15, 1))
    of_gpu = SimpleNamespace(total_memory=2 * 2 * 4 * 2**30 - 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda: of_gpu)
    with pytest.raises(KernelError, match=r"2 partials, which take 8\.6 GB; at most half"):
        plan_table.upload(SPLIT, large, "cuda")
