"""Orders behind an L2: properties of what tiles share, and what a GPU's counters say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim import Device, Problem, orders
from tilesim.ideas.l2_order import batch_reads, blocks, traced
from tilesim.ladder.reports import report

ORDERS = ("row-major", "column-major", "grouped:2", "grouped:8", "morton", "hilbert")
GPU = Device.named("h200")
SIDE = st.integers(1, 12)


@given(SIDE, SIDE, SIDE, st.sampled_from(ORDERS), st.integers(1, 144))
def test_what_is_needed_are_the_rows_and_columns_that_tiles_lie_in(tiles_m, tiles_n, k_blocks, order, count):
    visited = orders.rasterize(Problem(tiles_m, tiles_n, k_blocks, tile=(1, 1, 1), order=order))[:count]
    rows = {tile // tiles_n for tile in visited.tolist()}
    columns = {tile % tiles_n for tile in visited.tolist()}
    needed = blocks(visited, tiles_n, k_blocks)
    assert needed[0].tolist() == [k_blocks, k_blocks] and (np.diff(needed, axis=0) >= 0).all()
    assert needed[-1].tolist() == [k_blocks * len(rows), k_blocks * len(columns)]


@pytest.mark.parametrize(("order", "total"), [(orders.row_major(9, 9), 90), (orders.grouped(9, 9, 3), 54)])
def test_nine_tiles_of_triton_s_tutorial_need_90_and_54_blocks(order, total):
    assert blocks(order[:9], 9, 9)[-1].sum() == total


@pytest.mark.parametrize("order", ["row-major", "grouped:8", "hilbert"])
@pytest.mark.parametrize("size", [(4096, 4096, 512), (1000, 3000, 777)])
def test_hbm_sends_each_byte_once_and_no_more_than_is_asked_for(order, size):
    problem = Problem(*size, order=order)
    found = traced(problem, GPU)
    asked, sent = found.asked.sum(), found.hbm_bytes
    assert asked == pytest.approx(problem.requested_bytes)
    rows, columns, steps = problem.tiles_m, problem.tiles_n, problem.k_steps
    m, n, k = problem.tile
    once = 2 * k * steps * (rows * m + columns * n)  # padding of edge tiles counts
    assert 0.99 * once <= sent <= asked


def test_the_hit_rate_is_what_hbm_did_not_send():
    found = traced(Problem(4096, 4096, 4096, order="grouped:8"), GPU)
    assert found.hit_rate(0) == 0
    at_last = found.hit_rate(found.trace.makespan)
    assert at_last == pytest.approx(1 - found.hbm_bytes / found.asked.sum())
    assert 0 < found.hit_rate(found.trace.makespan / 20) < at_last


def test_an_order_matters_where_the_l2_cannot_hold_a_and_b():
    def sent(k, order):
        return traced(Problem(8192, 8192, k, order=order), GPU).hbm_bytes

    long, short = (
        {order: sent(k, order) for order in ("row-major", "grouped:8", "hilbert")} for k in (8192, 512)
    )
    assert max(short.values()) < 1.01 * min(short.values())
    assert long["hilbert"] < long["grouped:8"] < 0.7 * long["row-major"]


@pytest.mark.parametrize("row", report("l2_order")["rows"], ids=lambda row: f"{row['order']}-{row['k']}")
def test_the_counters_of_a_gpu_say_about_the_same(row):
    problem = Problem(row["m"], row["n"], row["k"], tuple(row["tile"]), row["dtype"], row["order"])
    found = traced(problem, GPU)
    assert row["arrived_bytes"] == pytest.approx(problem.requested_bytes, rel=1e-3)
    # A kernel reads its table too, and C's tiles push operands out: some MB.
    assert row["dram_read_bytes"] == pytest.approx(found.hbm_bytes, rel=0.1, abs=25e6)


@pytest.mark.parametrize("order", ["row-major", "grouped:4", "grouped:8", "grouped:16", "hilbert"])
def test_batches_read_what_the_gpu_counted(order):
    (row,) = (one for one in report("l2_order")["rows"] if (one["k"], one["order"]) == (8192, order))
    product = Problem(row["m"], row["n"], row["k"], tile=tuple(row["tile"]), order=order)
    assert batch_reads(product, GPU.sms).sum() == pytest.approx(row["dram_read_bytes"], rel=0.002)
