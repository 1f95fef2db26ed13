"""Any plan on the one kernel that reads it from a table."""

from dataclasses import replace

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
def test_a_partial_that_never_comes_ends_in_an_error_and_the_next_launch_is_right(monkeypatch, overlap):
    monkeypatch.setattr(table, "TIMEOUT_NS", 50_000_000)
    config = replace(config_named("table:split-k:2", HALVES), overlap=overlap)
    product = Product.of(HALVES)
    work, operands = jobs.job(config, product, device_of(5), DEVICE), inputs.matrices(product, DEVICE, seed=6)
    launch = work.launcher(operands)
    rows, flags = (launch.arguments[launch.kernel.arg_names.index(name)] for name in ("table", "flags"))
    right = rows.clone()
    lost = int(np.flatnonzero(work.rows["tile"] == 3)[0])
    rows[lost, 4] = table.NO_PARTIAL  # its block believes that it has the whole tile
    launch()
    with pytest.raises(KernelError, match="tile 3 waited for a partial that never came"):
        work.check()
    work.check()
    assert not flags.any()
    rows.copy_(right)
    reference.verify_result("split-k", launch, product, operands)
    work.check()


def test_a_plan_that_can_deadlock_is_refused_before_it_runs():
    def stuck(problem, device):
        ctas, tiles = problem.tiles, np.arange(problem.tiles)
        return Plan(segments(tiles, tiles, 0, 1), ctas, segments(-1, tiles, 1, problem.k_steps))

    SCHEDULES.register(stuck)
    with pytest.raises(PlanError, match="tile"):
        jobs.job(config_named("table:stuck", PROBLEM), Product.of(PROBLEM), Device(2), "cpu")
