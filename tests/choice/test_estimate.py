"""What a kernel takes, by hand, on hardware of which all but one part is free."""

from dataclasses import replace

import pytest

from tilesim import Device
from tilesim.choice.choose import estimate, laid, parts_of
from tilesim.choice.kernel_times import KernelTimes, times_of
from tilesim.devices.hardware import SM_BYTES_PER_CLOCK, Hardware
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

FREE = 1e12
HARDWARE = Hardware(1000, 1024, 0.0, 0.0, FREE, FREE, FREE, 10**15, 0)
"""A cycle is a ns, nothing leaves the L2, and only the tensor cores take time: 1024 for TILE."""
TILE = (128, 128, 64)
TEN = Device(12, busy_sms=2)
WHOLE = KernelConfig("warp-specialized", "persistent", TILE, "grouped:4", 8, 4, overlap=True)
TIMES = KernelTimes(once=7000.0, tile_gap=300.0, write=0.5, multiplying=1.5, waiting=1.25)
NOTHING = KernelTimes(once=0.0, tile_gap=0.0, write=0.0)
SEND = 128 * 128 / SM_BYTES_PER_CLOCK
"""ns in which an SM sends a byte of each element of TILE."""


def parts(config, size, hardware=HARDWARE, times=NOTHING, device=TEN):
    return parts_of(laid(config, Product(*size), device, hardware), times)


def test_the_parts_of_whole_tiles():
    """25 tiles on ten SMs: two full waves, and a half."""
    found = parts(WHOLE, (640, 640, 640), times=TIMES)
    assert found == {
        "once": 7000.0,
        "K-steps": pytest.approx((2 + 0.5) * 10 * 1024 * 1.5),
        "tiles": pytest.approx(3 * (300 + 0.5 * SEND * 2)),
        "idle SMs": pytest.approx(0.5 * 10 * 1024 * 1.5),
        "fix-up": 0.0,
    }
    assert parts(WHOLE, (640, 512, 640), times=TIMES)["tiles"] == pytest.approx(2 * (300 + 0.5 * SEND * 2))


def test_an_estimate_says_what_takes_the_most():
    few, long = Product(128, 128, 64), Product(640, 640, 64 * 640)
    found = estimate(WHOLE, long, TEN, HARDWARE)
    assert (found.limit, found.waves, found.sms, found.residents) == ("tensor cores", 2.5, 10, 1)
    assert found.parts == parts(WHOLE, (640, 640, 64 * 640), times=times_of(WHOLE, long))
    found = estimate(WHOLE, few, TEN, HARDWARE)
    assert (found.limit, found.waves, found.sms) == ("once", 0.1, 1)


THREE = KernelConfig("naive", "naive", (64, 64, 64), warps=8, stages=3)
"""Of whose thread blocks three fit an SM."""


def test_thread_blocks_of_one_sm_take_turns_and_write_at_a_time():
    """Of 42 tiles 30 run at once, and then two on each of six SMs."""
    product, hardware = Product(384, 448, 640), replace(HARDWARE, macs_per_clock=64)
    found = parts_of(laid(THREE, product, TEN, hardware), replace(TIMES, write=0.0, multiplying=1.0))
    assert found["K-steps"] + found["idle SMs"] == pytest.approx((3 + 2) * 10 * 4096)
    assert found["idle SMs"] == pytest.approx(0.4 * 2 * 10 * 4096)
    assert found["tiles"] == pytest.approx(2 * 300 / 3) and found["once"] == 7000.0
    one = estimate(THREE, product, TEN, hardware)
    assert (one.sms, one.residents, one.waves) == (10, 3, 1.4)


@pytest.mark.parametrize(
    ("schedule", "size", "blocks", "k_steps", "written"),
    [
        ("split-k:2", (256, 256, 640), 2, 5, 1),
        ("stream-k:10", (128, 1920, 640), 2, 15, 1.5),
        ("stream-k:9", (256, 256, 576), 3, 4, 1),
    ],
)
def test_split_tiles_wait_for_each_other(schedule, size, blocks, k_steps, written):
    """All but one block store and load sums of four bytes, each a latency of DRAM after the one before."""
    config = replace(WHOLE, kernel="table" if "split-k" in schedule else WHOLE.kernel, schedule=schedule)
    hardware = replace(HARDWARE, dram_latency=500.0, clock_mhz=500)
    found = parts(config, size, hardware, replace(NOTHING, tile_gap=100.0))
    assert found["fix-up"] == pytest.approx(2 * (blocks * SEND * 4 + (blocks - 1) * 500))
    assert found["K-steps"] + found["idle SMs"] == pytest.approx(2 * k_steps * 1024)
    assert found["tiles"] == 100 * written


@pytest.mark.parametrize(
    ("schedule", "rows", "share"), [("persistent", 1, 0.82 / 0.97), ("persistent", 2, 1), ("split-k:2", 1, 1)]
)
def test_dram_reads_operands_once_and_a_single_row_of_whole_tiles_without_gaps(schedule, rows, share):
    """Where the L2 holds everything; and where DRAM is the limit no SM is idle."""
    m, n, k = 128 * rows, 128 * 25, 640
    config = replace(WHOLE, kernel="table" if "split-k" in schedule else WHOLE.kernel, schedule=schedule)
    found = parts(config, (m, n, k), replace(HARDWARE, dram_bytes_per_clock=10.0))
    assert found["K-steps"] == pytest.approx(share * 2 * (m * k + k * n + m * n) / 10)
    assert found["idle SMs"] == 0
