"""Stream-K inside a kernel: thread blocks compute what the schedule's plan says."""

import pytest
from on_device import torch, triton

from tilesim import Device, Problem, plan
from tilesim.errors import ScheduleError
from tilesim.orders import rasterize
from tilesim.schedules.stream_k import shares
from tilesim_kernels.gemm.stream_k import corner, cta_of, segment, segment_count

tl = triton.language
GPU = Device(6)
MOST = 16
SIZES = [(100, 200, 500), (300, 100, 1000), (200, 600, 300), (200, 500, 300)]
"""Fewer tiles than SMs, one wave less a few, several waves, and full waves with a rest."""


@triton.jit
def walk(out, counts, shared, tiles, k_steps, SPLIT: tl.constexpr, MOST: tl.constexpr):
    """out: int32 [thread blocks, MOST, 3], the place, k0 and k1 of each segment; counts: how many of them."""
    cta = tl.program_id(0)
    ctas = tl.num_programs(0)
    count = segment_count(cta, ctas, shared, tiles, k_steps, SPLIT)
    tl.store(counts + cta, count)
    for s in range(count):
        i, k0, k1 = segment(s, cta, ctas, shared, k_steps, SPLIT)
        at = out + (cta * MOST + s) * 3
        tl.store(at, i)
        tl.store(at + 1, k0)
        tl.store(at + 2, k1)


@pytest.mark.parametrize("schedule", ["persistent", "stream-k", "stream-k:4", "stream-k-hybrid"])
@pytest.mark.parametrize("size", SIZES)
def test_thread_blocks_compute_the_schedule_s_segments(schedule, size):
    problem = Problem(*size, tile=(64, 128, 32), order="grouped:4")
    rows = plan(schedule, problem, GPU).rows
    shared, ctas = shares(schedule, problem, GPU.sms)
    out = torch.zeros((ctas, MOST, 3), dtype=torch.int32)
    counts = torch.zeros(ctas, dtype=torch.int32)
    walk[(ctas,)](out, counts, shared, problem.tiles, problem.k_steps, shared > 0, MOST)
    order = rasterize(problem)
    walked = [
        (cta, int(order[i]), k0, k1)
        for cta, count in enumerate(counts.tolist())
        for i, k0, k1 in out[cta, :count].tolist()
    ]
    assert walked == rows[rows["cta"].argsort(kind="stable")].tolist()


@triton.jit
def number(out, shared, SPLIT: tl.constexpr):
    tl.store(out + tl.program_id(0), cta_of(tl.program_id(0), tl.num_programs(0), shared, SPLIT))


@pytest.mark.parametrize(("shared", "ctas"), [(4, 12), (3, 12), (5, 12), (20, 12), (0, 12)])
def test_programs_side_by_side_take_neighbouring_tiles_where_tiles_are_shared_evenly(shared, ctas):
    out = torch.full((ctas,), -1, dtype=torch.int32)
    number[(ctas,)](out, shared, shared > 0)
    assert sorted(out.tolist()) == list(range(ctas))
    if shared and ctas % shared == 0:
        assert out[:shared].tolist() == list(range(0, ctas, ctas // shared))
    else:
        assert out.tolist() == list(range(ctas))


@triton.jit
def begin(out, M, N, ctas, shared, SPLIT: tl.constexpr):
    """out: int32 [tiles, 2], the row and column at which each tile of 64 x 128 begins."""
    i = tl.program_id(0)
    row, column = corner(i, out, M, N, ctas, shared, 64, 128, "row-major", 1, SPLIT)
    tl.store(out + 2 * i, row)
    tl.store(out + 2 * i + 1, column)


@pytest.mark.parametrize(("ctas", "shared"), [(132, 0), (12, 6), (12, 5)])
@pytest.mark.parametrize("size", [(272, 400), (64, 128), (65, 129), (40, 100)])
def test_tiles_lie_inside_of_the_matrix_and_cover_it_where_they_are_split_alike(size, ctas, shared):
    tiles = triton.cdiv(size[0], 64), triton.cdiv(size[1], 128)
    out = torch.full((tiles[0] * tiles[1], 2), -1, dtype=torch.int32)
    begin[(len(out),)](out, *size, ctas, shared, shared > 0)
    alike = not shared or ctas % shared == 0
    covered = torch.zeros(size, dtype=torch.bool)
    for row, column in out.tolist():
        inside = row + 64 <= max(64, size[0]) and column + 128 <= max(128, size[1])
        assert inside if alike else row % 64 == column % 128 == 0
        covered[row : row + 64, column : column + 128] = True
    assert covered.all()


def test_thread_blocks_that_wait_for_each_other_must_all_run_at_once():
    with pytest.raises(ScheduleError, match="200 thread blocks that wait for each other, and 6 run"):
        shares("stream-k:200", Problem(4096, 4096, 4096, tile=(128, 128, 64)), GPU.sms)
