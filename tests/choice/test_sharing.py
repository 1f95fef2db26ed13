"""What the L2 sends to thread blocks that load the same, and which kernels are launched in order for it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim import Device, Problem
from tilesim.choice.candidates import candidates
from tilesim.choice.choose import choose
from tilesim.choice.sharing import LAUNCH_NS, dependent_launch, grid, operand_bytes, sent, waves
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
