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
from tilesim.choice.sharing import Grid, dependent_launch, grid, operand_bytes, sent, spread, waves
from tilesim.devices.hardware import Hardware
from tilesim.gemm import kernel_of
from tilesim.kernel_config import KernelConfig
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
    assert once[False] == pytest.approx(once[True] + 1100)


def test_only_kernels_that_can_be_launched_early_are():
    product = Product(512, 512, 512)
    for one in candidates(product, H200):
        assert kernel_of(one).warp_specialized or not dependent_launch(one, product, H200, HARDWARE)


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


SIXTEEN = Device(18, busy_sms=2)
"""Of sixteen SMs that are free, which are those of one GPC."""
A, B = 64 * 64 * 2, 128 * 64 * 2
"""Bytes of a K-step of a tile's rows of A, and of its columns of B."""


def waves_of(schedule: str, size: tuple[int, int, int], l2_bytes: float):
    name = "table" if "split-k" in schedule else "warp-specialized"
    one = replace(kernel(schedule, "grouped:4"), kernel=name)
    return waves(one, Product(*size), SIXTEEN, replace(HARDWARE, l2_bytes=l2_bytes))


@pytest.mark.parametrize("schedule", ["persistent", "split-k:2", "split-k:3", "stream-k:16", "stream-k:15"])
@pytest.mark.parametrize("size", [(256, 256, 768), (256, 512, 768), (192, 1280, 768), (512, 1024, 768)])
def test_dram_is_read_once_if_the_l2_holds_all_and_by_each_wave_if_it_holds_nothing(schedule, size):
    (m, n, k), whole = size, waves_of(schedule, size, l2_bytes=1e18)
    found, none = whole.grid, waves_of(schedule, size, l2_bytes=1e-9).traffic
    steps = np.array([found.full * found.steps, found.rest_steps * (found.rest > 0)])
    assert (steps * whole.traffic.missed).sum() == pytest.approx(2 * (m * k + k * n + m * n))
    blocks = np.array([found.blocks, found.rest or found.blocks])
    tiles = np.maximum(1.0, blocks / found.split_count)
    rows, columns = spread(kernel(schedule, "grouped:4").problem(Product(*size)), tiles)
    in_step, apart = (rows * A + columns * B) * blocks / tiles, blocks * (A + B)
    written = blocks * 64 * 128 * 2 / (k / 64)
    assert none.missed == pytest.approx((1 - found.apart) * in_step + found.apart * apart + written)
    assert none.l2_miss == pytest.approx(1) and none.asked.tolist() == apart.tolist()


def test_some_is_lost_where_the_l2_holds_as_much_as_is_loaded_in_between():
    """Of 8 by 8 tiles, 4 by 4 at a time: half of A, and less of B, of which a row of tiles comes in between.
    And of 2 by 4 tiles whose thread blocks are apart along K: each row of A is loaded by four, with a fourth
    of all loads in between, and each column of B by two."""
    found = waves_of("persistent", (512, 1024, 768), 12 * (4 * A + 4 * B)).traffic
    first_a, first_b = (1 + 1 / 2) / 2, (1 + 1 / (1 + ((4 * A + 4 * B) / (4 * A + 8 * B)) ** 4)) / 2
    assert found.missed == pytest.approx(4 * A * first_a + 4 * B * first_b + 16 * 64 * 128 * 2 / 12)
    assert found.l2_miss == pytest.approx(1 - (1 - first_a) * (1 - first_b))
    found = waves_of("stream-k:15", (128, 512, 768), 12 * (2 * A + 4 * B) / 4).traffic
    of_a, of_b = (1 + 3 / 2) / 4, (1 + 1 / (1 + (1 / 2) ** 4)) / 2
    assert found.missed == pytest.approx(15 * (of_a * A + of_b * B + 64 * 128 * 2 / 12))
    assert found.sent == pytest.approx(15 * (A + B))


@pytest.mark.parametrize(
    ("loads", "size", "layout", "requested"),
    [
        ("tma", (32, 96, 768), "nt", 32 + 96 + 8 * 64),
        ("ptr", (32, 1024, 768), "nn", 32 + 128),
        ("ptr", (64, 1024, 96), "nn", 1.5 * 64 + 128),
        ("tma", (64, 1024, 96), "tt", 64 + 1.5 * 128),
    ],
)
def test_rows_of_a_tile_are_requested_and_tma_fills_those_outside(loads, size, layout, requested):
    one = replace(kernel("persistent"), kernel="naive", schedule="naive", loads=loads)
    found = waves(one, Product(*size, layout=layout), SIXTEEN, HARDWARE)
    assert found.requested == 64 * 2 * requested
