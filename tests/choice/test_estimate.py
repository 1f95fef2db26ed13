"""What a kernel takes, by hand, on hardware of which all but one part is free."""

from dataclasses import replace

import pytest

from tilesim import Device
from tilesim.choice.estimate import FP32, LIMITS, estimate, laid, parts_of
from tilesim.choice.kernel_times import KernelTimes, times_of
from tilesim.choice.sharing import LAUNCH_NS
from tilesim.devices.hardware import LOAD_CYCLES, SM_BYTES_PER_CLOCK, Hardware
from tilesim.gemm.fit import residents
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
    long = Product(640, 640, 64 * 640)
    found = estimate(WHOLE, long, TEN, HARDWARE)
    assert (found.limit, found.waves, found.sms, found.residents) == ("tensor cores", 2.5, 10, 1)
    assert found.ns == pytest.approx(sum(found.parts.values()))
    assert found.parts == parts(WHOLE, (640, 640, 64 * 640), times=times_of(WHOLE, long))
    assert estimate(WHOLE, Product(128, 128, 64), TEN, HARDWARE).limit == "once"
    few = estimate(WHOLE, Product(640, 128, 64 * 640), TEN, HARDWARE)
    assert (few.limit, few.waves, few.sms) == ("tensor cores", 0.5, 5)
    # Ten tiles read more at a time than DRAM sends, and the one of the last wave does not.
    slow = replace(HARDWARE, dram_bytes_per_clock=55.0)
    assert estimate(WHOLE, Product(384, 896, 640), TEN, slow).limit == "DRAM"
    assert estimate(WHOLE, Product(128, 128, 640), TEN, slow).limit == "idle SMs"


def test_thread_blocks_of_one_sm_take_turns_and_write_at_a_time():
    """Three of them fit an SM; of 42 tiles 30 run at once, then two on each of six SMs."""
    config = KernelConfig("naive", "naive", (64, 64, 64), warps=8, stages=3)
    assert residents(config, Product(1, 1, 1), TEN) == 3
    hardware = replace(HARDWARE, macs_per_clock=64)
    found = parts(config, (384, 448, 640), hardware, replace(TIMES, write=0.0, multiplying=1.0))
    assert found["K-steps"] + found["idle SMs"] == pytest.approx((3 + 2) * 10 * 4096)
    assert found["idle SMs"] == pytest.approx(0.4 * 2 * 10 * 4096)
    assert found["tiles"] == pytest.approx(2 * 300 / 3) and found["once"] == 7000.0
    assert estimate(config, Product(384, 448, 640), TEN, hardware).sms == 10


@pytest.mark.parametrize(
    ("schedule", "size", "blocks", "k_steps", "written"),
    [
        ("split-k:2", (256, 256, 640), 2, 5, 1),
        ("split-k:3", (384, 128, 640), 3, 4, 1),
        ("stream-k:8", (256, 256, 640), 2, 5, 1),
        ("stream-k:10", (128, 1920, 640), 2, 15, 1.5),
        ("stream-k:9", (256, 256, 576), 3, 4, 1),
    ],
)
def test_split_tiles_wait_for_each_other(schedule, size, blocks, k_steps, written):
    """All but one block store and load sums of four bytes, each a latency of DRAM after the one before."""
    kernel = "table" if schedule.startswith("split-k") else "warp-specialized"
    config = replace(WHOLE, kernel=kernel, schedule=schedule)
    hardware = replace(HARDWARE, dram_latency=500.0, clock_mhz=500)
    found = parts(config, size, hardware, replace(NOTHING, tile_gap=100.0))
    assert found["fix-up"] == pytest.approx(2 * (blocks * SEND * FP32 + (blocks - 1) * 500))
    assert found["K-steps"] + found["idle SMs"] == pytest.approx(2 * k_steps * 1024)
    assert found["tiles"] == 100 * written


@pytest.mark.parametrize(("rows", "share"), [(1, 0.82 / 0.97), (2, 1.0)])
def test_dram_reads_each_operand_once_and_a_single_row_of_tiles_without_gaps(rows, share):
    """Where the L2 holds everything; and where DRAM is the limit no SM is idle."""
    m, n, k = 128 * rows, 128 * 25, 640
    hardware = replace(HARDWARE, dram_bytes_per_clock=10.0)
    found = parts(WHOLE, (m, n, k), hardware)
    everything = 2 * (m * k + k * n + m * n)
    assert found["K-steps"] == pytest.approx(share * everything / 10)
    assert found["idle SMs"] == 0


def test_split_tiles_of_a_single_row_have_gaps():
    config = replace(WHOLE, kernel="table", schedule="split-k:2")
    m, n, k = 128, 128 * 5, 1280
    found = parts(config, (m, n, k), replace(HARDWARE, dram_bytes_per_clock=1.0))
    assert found["K-steps"] == pytest.approx(2 * (m * k + k * n + m * n))


def test_loads_take_their_latency_and_as_long_as_an_sm_takes_to_request_them():
    """The loads of all stages but one are on their way at a time."""
    latency = replace(HARDWARE, macs_per_clock=FREE, l2_latency=30_000.0, dram_latency=30_000.0)
    bytes_of_step = 2 * 128 * 64 * 2
    found = parts(WHOLE, (640, 512, 640), latency, replace(NOTHING, waiting=1.25))
    each = (LOAD_CYCLES + 30_000 + bytes_of_step / SM_BYTES_PER_CLOCK) / 3
    assert found["K-steps"] == pytest.approx(1.25 * 2 * 10 * each)
    no_latency = replace(HARDWARE, macs_per_clock=FREE)
    found = laid(WHOLE, Product(640, 512, 640), TEN, no_latency).terms[:, 0]
    assert found[LIMITS.index("L2")] == pytest.approx(bytes_of_step / SM_BYTES_PER_CLOCK)
    three = KernelConfig("naive", "naive", (64, 64, 64), warps=8, stages=3)
    terms = laid(three, Product(384, 448, 640), TEN, no_latency).terms[LIMITS.index("L2")]
    assert terms == pytest.approx([3 * 16384 / SM_BYTES_PER_CLOCK, 2 * 16384 / SM_BYTES_PER_CLOCK])


def test_only_a_kernel_that_can_be_launched_early_takes_longer_where_it_is_not():
    sharing = replace(HARDWARE, macs_per_clock=FREE, l2_bytes_per_clock=1.0)
    early = [laid(WHOLE, Product(640, 640, 6400), TEN, one) for one in (HARDWARE, sharing)]
    assert [one.waves.dependent_launch for one in early] == [True, True]  # ten SMs are of one GPC
    device = Device(66)
    late = laid(WHOLE, Product(1280, 1280, 6400), device, sharing)
    assert not late.waves.dependent_launch and parts_of(late, TIMES)["once"] == 7000 + LAUNCH_NS
    naive = KernelConfig("naive", "naive", TILE, warps=8)
    assert parts(naive, (1280, 1280, 6400), sharing, TIMES, device)["once"] == 7000
