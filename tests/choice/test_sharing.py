"""What the L2 sends to thread blocks that load the same, and which kernels are launched in order for it."""

from dataclasses import replace
from itertools import product as pairs

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim import Device, Problem
from tilesim.choice.candidates import candidates
from tilesim.choice.choose import choose
from tilesim.choice.sharing import (
    LAUNCH_NS,
    Grid,
    Waves,
    dependent_launch,
    grid,
    l2_cycles,
    operand_bytes,
    sent,
    spread,
    waves,
)
from tilesim.devices.hardware import Hardware
from tilesim.gemm import kernel_of
from tilesim.kernel_config import KernelConfig
from tilesim.orders import rasterize
from tilesim.products import Product

H200 = Device.named("h200")
HARDWARE = Hardware.named("h200", "bf16")
sizes = st.sampled_from([64, 144, 512, 1280, 4096])


def kernel(schedule: str, order: str = "grouped:8", tile=(64, 128, 64)) -> KernelConfig:
    warps = 4 if tile[0] == 64 else 8
    return KernelConfig("warp-specialized", schedule, tile, order, warps, 4, overlap=True)


@given(sizes, sizes, sizes, st.integers(1, 8))
def test_neighbours_in_one_gpc_are_sent_no_more_than_thread_blocks_anywhere(m, n, k, split_count):
    problem = Problem(m, n, k, (64, 128, 64), order="grouped:8")
    blocks = np.array([float(min(132, problem.tiles * split_count))])
    in_order, anywhere = (sent(problem, blocks, split_count, 132, way) for way in (False, True))
    everything = blocks * sum(operand_bytes(problem))
    assert 0 < in_order <= everything and 0 < anywhere <= everything
    if problem.tiles >= 132:
        assert in_order <= anywhere * (1 + 1e-9)


@given(sizes, sizes, st.sampled_from([4096, 16384]), st.sampled_from(["persistent", "stream-k:64"]))
def test_dram_sends_each_operand_once_at_least_and_no_more_than_is_asked_for(m, n, k, schedule):
    config, product = kernel(schedule), Product(m, n, k)
    laid, problem = waves(config, product, H200, HARDWARE), config.problem(product)
    assert ((laid.traffic.l2_miss >= 0) & (laid.traffic.l2_miss <= 1)).all()
    assert (laid.traffic.sent > 0).all() and (laid.traffic.sent <= laid.traffic.asked).all()
    # What a full wave misses in a K-step, in as many as there are; the rest is written.
    steps = problem.k_steps * problem.tiles / max(1, laid.grid.blocks / laid.grid.split_count)
    a, b = operand_bytes(problem)
    once = problem.k_steps * (problem.tiles_m * a + problem.tiles_n * b)
    missed = steps * laid.traffic.missed[0] - m * n * product.result_bytes
    assert missed >= 0.999 * once
    if laid.grid.split_count == 1:  # Else parts of tiles are written, too.
        assert missed <= 1.001 * steps * laid.traffic.asked[0]


def test_one_gpc_is_sent_what_its_thread_blocks_share_once():
    problem = Problem(64, 64 * 16, 64, (64, 64, 64), order="grouped:8")
    a, b = operand_bytes(problem)
    assert sent(problem, np.array([16.0]), 1, 16, dependent=False) == a + 16 * b


@pytest.mark.parametrize(
    ("schedule", "size", "tile", "before"),
    [
        ("persistent", (144, 3904, 8832), (64, 128, 64), False),
        ("persistent", (144, 3904, 512), (64, 128, 64), True),
        ("persistent", (4096, 4096, 4096), (128, 256, 64), True),
        ("stream-k:132", (144, 3904, 8832), (64, 128, 64), True),
    ],
    ids=["shares", "short", "multiplies", "apart"],
)
def test_kernels_are_launched_early_but_where_sharing_is_worth_more(schedule, size, tile, before):
    assert dependent_launch(kernel(schedule, tile=tile), Product(*size), H200, HARDWARE) is before


def test_what_is_launched_in_order_takes_a_launch_more():
    product = Product(144, 3904, 8832)
    once = {
        dependent_launch(one.config, product, H200, HARDWARE): one.parts["once"]
        for one in choose(product, H200)
        if one.config.schedule == "persistent" and one.config.tile[0] >= 64
    }
    assert once[False] == pytest.approx(once[True] + LAUNCH_NS)


def test_only_kernels_that_can_be_launched_early_are():
    product = Product(512, 512, 512)
    for one in candidates(product, H200):
        assert kernel_of(one).warp_specialized or not dependent_launch(one, product, H200, HARDWARE)


def test_tiles_with_as_many_thread_blocks_each_are_walked_in_step():
    product = Product(192, 4096, 4096)
    laid = [grid(kernel(f"stream-k:{ctas}"), product, H200) for ctas in (96, 132)]
    assert [one.apart for one in laid] == [0.0, 1.0]
    whole = kernel("persistent")
    assert grid(whole, product, H200).split_count == 1
    assert grid(whole, product, H200).blocks == whole.problem(product).tiles


TEN = Device(12, busy_sms=2)


@pytest.mark.parametrize(
    ("schedule", "size", "made"),
    [
        # full, steps, rest, rest_steps, split_count, blocks, slots, written, apart
        ("persistent", (320, 640, 640), Grid(2.0, 10, 5, 10, 1, 10, 10, 3, 0.0)),
        ("persistent", (320, 512, 640), Grid(2.0, 10, 0, 10, 1, 10, 10, 2, 0.0)),
        ("persistent", (64, 384, 64), Grid(0.0, 1, 3, 1, 1, 3, 10, 1, 0.0)),
        ("split-k:3", (64, 384, 640), Grid(0.0, 4, 9, 4, 3, 9, 10, 1, 0.0)),
        ("split-k:2", (192, 256, 640), Grid(1.0, 5, 2, 5, 2, 10, 10, 2, 0.0)),
        ("stream-k:8", (128, 256, 640), Grid(1.0, 5.0, 0, 0.0, 2, 8, 10, 1.0, 0.0)),
        ("stream-k:9", (128, 256, 640), Grid(1.0, 40 / 9, 0, 0.0, 3, 9, 10, 1.0, 1.0)),
        ("stream-k:10", (64, 1920, 640), Grid(1.0, 15.0, 0, 0.0, 2, 10, 10, 1.5, 1.0)),
        ("stream-k:5", (64, 1280, 640), Grid(1.0, 20.0, 0, 0.0, 1, 5, 10, 2.0, 0.0)),
        ("stream-k-hybrid", (320, 640, 640), Grid(1.0, 25.0, 0, 0.0, 2, 10, 10, 2.5, 15 / 25)),
    ],
)
def test_work_falls_on_the_slots_that_are_free(schedule, size, made):
    kernel_of_it = "table" if schedule.startswith("split-k") else "warp-specialized"
    assert grid(replace(kernel(schedule), kernel=kernel_of_it), Product(*size), TEN) == made


def test_each_resident_of_an_sm_is_a_slot():
    config = KernelConfig("naive", "naive", (64, 64, 64), warps=8, stages=3)
    assert grid(config, Product(384, 448, 640), TEN) == Grid(1.0, 10, 12, 10, 1, 30, 30, 2, 0.0)


@given(st.integers(1, 5), st.integers(1, 9), st.sampled_from(["row-major", "grouped:2", "grouped:3"]))
def test_tiles_that_follow_each_other_lie_in_as_many_rows_and_columns_as_in_the_order(groups, columns, order):
    """Exactly within a group of rows, and in whole groups."""
    group = int(order.partition(":")[2] or 1)
    problem = Problem(groups * group, columns, 1, (1, 1, 1), order=order)
    tiles = np.append(np.arange(1, group * columns), group * columns * np.arange(1, groups + 1))
    found = np.stack(spread(problem, tiles), axis=1)
    for count, places in zip(tiles, found, strict=True):
        lie_in = np.divmod(rasterize(problem)[:count], columns)
        assert places.tolist() == [len(set(numbers)) for numbers in lie_in]


def different(kinds: int, drawn: int) -> float:
    """How many different ones there are on average among all ways to draw so many."""
    return float(np.mean([len(set(one)) for one in pairs(range(kinds), repeat=drawn)]))


@pytest.mark.parametrize(
    ("gpcs", "split_count", "rows", "columns"), [(1, 1, 2, 3), (2, 1, 2, 2), (2, 2, 2, 3), (2, 4, 4, 6)]
)
def test_a_gpc_is_sent_what_differs_among_its_thread_blocks(gpcs, split_count, rows, columns):
    """In order it has neighbours of two rows and three columns; otherwise, any."""
    problem = Problem(128, 128 * 3, 64, (64, 128, 64), order="grouped:2")
    a, b = operand_bytes(problem)
    assert (a, b) == (64 * 128, 128 * 128)
    blocks, sms = np.array([6.0 * split_count]), {1: 16, 2: 33}[gpcs]
    assert sent(problem, blocks, split_count, sms, False) == gpcs * (rows * a + columns * b)
    drawn = 6 // gpcs
    anywhere = gpcs * split_count * (different(2, drawn) * a + different(3, drawn) * b)
    assert sent(problem, blocks, split_count, sms, True) == pytest.approx(anywhere)


def test_the_l2_takes_the_longer_of_what_is_asked_for_and_what_it_sends():
    hardware = replace(HARDWARE, l2_merged_bytes_per_clock=200.0, l2_bytes_per_clock=50.0)
    assert l2_cycles(np.array([800.0, 100.0]), np.array([150.0, 150.0]), hardware).tolist() == [4.0, 3.0]


SIXTEEN = Device(18, busy_sms=2)
"""Of sixteen SMs that are free, which are those of one GPC."""
A, B = 64 * 64 * 2, 128 * 64 * 2
"""Bytes of a K-step of a tile's rows of A, and of its columns of B."""


def of_hardware(schedule: str, size: tuple[int, int, int], **changed: float) -> Waves:
    one = replace(
        kernel(schedule, "grouped:4"), kernel="table" if "split-k" in schedule else "warp-specialized"
    )
    return waves(one, Product(*size), SIXTEEN, replace(HARDWARE, **changed))


@pytest.mark.parametrize("schedule", ["persistent", "split-k:2", "split-k:3", "stream-k:16", "stream-k:15"])
@pytest.mark.parametrize("size", [(256, 256, 768), (256, 512, 768), (192, 1280, 768), (512, 1024, 768)])
def test_dram_is_read_once_if_the_l2_holds_all_and_by_each_wave_if_it_holds_nothing(schedule, size):
    m, n, k = size
    holding_all = of_hardware(schedule, size, l2_bytes=1e18)
    found, whole = holding_all.grid, holding_all.traffic
    none = of_hardware(schedule, size, l2_bytes=1e-9).traffic
    steps = np.array([found.full * found.steps, found.rest_steps * (found.rest > 0)])
    assert (steps * whole.missed).sum() == pytest.approx(2 * (m * k + k * n + m * n))
    blocks = np.array([found.blocks, found.rest or found.blocks])
    tiles = np.maximum(1.0, blocks / found.split_count)
    rows, columns = spread(kernel(schedule, "grouped:4").problem(Product(*size)), tiles)
    in_step, apart = (rows * A + columns * B) * blocks / tiles, blocks * (A + B)
    written = blocks * 64 * 128 * 2 / (k / 64)
    assert none.missed == pytest.approx((1 - found.apart) * in_step + found.apart * apart + written)
    assert none.l2_miss == pytest.approx(1)
    assert none.asked.tolist() == whole.asked.tolist() == apart.tolist()


def test_some_is_lost_where_the_l2_holds_a_wave_s_operands():
    """Four waves of 4 by 4 tiles, two of which load each operand. As much as the L2 holds is loaded between
    a wave and the next, of which half is lost, and between two of the same columns twice B's share."""
    size, steps = (512, 1024, 768), 12
    found = of_hardware("persistent", size, l2_bytes=steps * (4 * A + 4 * B)).traffic
    lost = 1 / (1 + ((4 * A + 4 * B) / (4 * A + 8 * B)) ** 4)
    first_a, first_b = (1 + 0.5) / 2, (1 + lost) / 2
    written = 16 * 64 * 128 * 2 / steps
    assert found.missed == pytest.approx(4 * A * first_a + 4 * B * first_b + written)
    assert found.l2_miss == pytest.approx(1 - (1 - first_a) * (1 - first_b))


def test_who_is_alone_along_k_finds_some_of_what_others_loaded():
    """Of 2 by 4 tiles, four load a row of A, with a fourth of all loads between two; and two, a column."""
    steps = 12
    all_loads = steps * (2 * A + 4 * B)
    found = of_hardware("stream-k:15", (128, 512, 768), l2_bytes=all_loads / 4)
    assert found.grid.apart == 1
    of_a, of_b = (1 + 3 / 2) / 4, (1 + 1 / (1 + (1 / 2) ** 4)) / 2
    written = 128 * 512 * 2 / (8 * steps) * 15
    assert found.traffic.missed == pytest.approx(15 * (of_a * A + of_b * B) + written)
    assert found.traffic.sent == pytest.approx(15 * (A + B))


@pytest.mark.parametrize(
    ("loads", "size", "layout", "requested"),
    [
        ("tma", (64, 1024, 768), "nn", 64 + 128),
        ("tma", (32, 1024, 768), "nn", 32 + 128 + 8 * 32),
        ("tma", (32, 96, 768), "nt", 32 + 96 + 8 * 64),
        ("ptr", (32, 1024, 768), "nn", 32 + 128),
        ("ptr", (64, 1024, 96), "nn", 1.5 * 64 + 128),
        ("ptr", (64, 1024, 96), "tt", 64 + 1.5 * 128),
    ],
)
def test_rows_of_a_tile_are_requested_and_tma_fills_those_outside(loads, size, layout, requested):
    one = replace(kernel("persistent"), kernel="naive", schedule="naive", loads=loads)
    found = waves(one, Product(*size, layout=layout), SIXTEEN, HARDWARE)
    assert found.requested == 64 * 2 * requested


def test_a_kernel_is_launched_in_order_from_where_that_saves_a_launch():
    """In two full waves and a half it sends SMs that fell free at random more than neighbours."""
    config, product, device = kernel("persistent"), Product(1024, 10 * 128, 6400), Device(66, busy_sms=2)
    problem, blocks = config.problem(product), np.array([64.0, 32.0])
    at_random, in_order = (sent(problem, blocks, 1, 64, way) for way in (True, False))
    more = ((at_random - in_order) * np.array([2 * 100, 100])).sum()
    free = replace(HARDWARE, macs_per_clock=1e12, l2_merged_bytes_per_clock=1e12, clock_mhz=2000)
    for share, early in ((0.9999, False), (1.0001, True)):
        rate = more / (LAUNCH_NS * 2) * share
        assert dependent_launch(config, product, device, replace(free, l2_bytes_per_clock=rate)) == early
