"""What fits a kernel and a GPU: exactly at each limit, and one beyond it."""

from dataclasses import replace

import pytest

from tilesim import Device
from tilesim.gemm import kernels
from tilesim.gemm.fit import BARRIER_BYTES, Limits, limits_of, residents, stages_that_fit, why_not
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product

NAIVE = KernelConfig("naive", "naive", (16, 16, 16))
SPECIALIZED = KernelConfig("warp-specialized", "persistent", (128, 128, 64), warps=8, stages=4)


@pytest.mark.parametrize("name", ["m", "n", "k"])
def test_sizes_go_up_to_2_30(name):
    for size, too_large in ((2**30, False), (2**30 + 1, True)):
        why = why_not(NAIVE, replace(Product(1, 1, 1), **{name: size}))
        assert why.startswith(f"{name.upper()} is {size}; ") == too_large
    assert not why_not(NAIVE, Product(2**30, 1, 1))


@pytest.mark.parametrize(
    ("matrix", "tile", "product"),
    [
        ("A", (16, 16, 16), Product(1, 1, 2**27)),
        ("B", (16, 16, 32), Product(1, 2**26, 1)),
        ("C", (32, 16, 16), Product(1, 2**26, 1)),
    ],
)
def test_rows_of_a_tile_have_fewer_than_2_31_elements(matrix, tile, product):
    config = replace(NAIVE, tile=tile)
    assert f" rows of {matrix} have 2147483648 elements" in why_not(config, product)
    assert not why_not(config, replace(product, n=max(1, product.n - 1), k=max(1, product.k - 1)))


@pytest.mark.parametrize("side", range(3))
def test_sides_of_tiles_are_powers_of_two_from_16(side):
    for size, allowed in ((8, False), (16, True), (17, False), (24, False), (32, True)):
        tile = tuple(size if place == side else 16 for place in range(3))
        assert why_not(replace(NAIVE, tile=tile), Product(1, 1, 1)).startswith(
            f"tile_{'mnk'[side]} is {size}; "
        ) == (not allowed)


def test_stages_fit_to_the_last_byte_of_shared_memory():
    product = Product(512, 512, 512)
    needed = kernels()["warp-specialized"].shared_bytes(SPECIALIZED, product)
    enough = Limits(needed + BARRIER_BYTES, 2**20, ("tma", "warpgroup-mma"))
    assert enough.shared_bytes() == needed
    assert not why_not(SPECIALIZED, product, enough)
    less = replace(enough, block_bytes=enough.block_bytes - 1)
    assert f"for 4 stages of 128x128x64, and this GPU has {needed - 1}" in why_not(SPECIALIZED, product, less)
    assert [stages_that_fit(SPECIALIZED, product, needed - short) for short in (0, 1)] == [4, 3]
    assert stages_that_fit(SPECIALIZED, product, 1000) == 0


def test_thread_blocks_share_an_sm_s_memory_beside_what_is_reserved_for_each():
    """Of an H200: 227 KiB for a thread block and 228 KiB for an SM."""
    limits = limits_of("h200")
    assert (limits.block_bytes, limits.sm_bytes) == (227 * 1024, 228 * 1024)
    assert [limits.shared_bytes(blocks) for blocks in (1, 2, 4)] == [226 * 1024, 112 * 1024, 55 * 1024]
    assert limits == limits_of("")


def test_what_a_gpu_lacks_is_named():
    product, bare = Product(512, 512, 512), replace(limits_of("h200"), features=())
    assert why_not(NAIVE, product, bare) == "naive needs tma, which this GPU lacks"
    assert "needs tma and warpgroup-mma" in why_not(SPECIALIZED, product, bare)
    assert not why_not(replace(NAIVE, loads="ptr"), product, bare)


def test_wgmma_reads_fp8_along_k_alone():
    for layout, allowed in (("nt", True), ("nn", False)):
        assert (not why_not(SPECIALIZED, Product(512, 512, 512, "fp8", layout))) == allowed


@pytest.mark.parametrize(
    ("tile", "warps", "stages", "fit"),
    [
        ((16, 16, 16), 1, 1, 32),  # thread blocks of an SM
        ((64, 64, 64), 8, 3, 3),  # 48 KiB of stages each, and a tile of C
        ((128, 128, 64), 4, 1, 2),  # 128 accumulators of a thread and 56 registers more
        ((128, 256, 64), 8, 3, 1),
        ((64, 64, 128), 8, 3, 2),  # 226 KiB with the barriers of two, of 228
    ],
)
def test_as_many_thread_blocks_run_on_an_sm_as_it_has_room_for_if_each_has_one_tile(tile, warps, stages, fit):
    device, product = Device.named("h200"), Product(4096, 4096, 4096)
    config = replace(NAIVE, tile=tile, warps=warps, stages=stages)
    assert residents(config, product, device) == residents(config, product, Device(4)) == fit
    assert residents(replace(config, kernel="persistent", schedule="persistent"), product, device) == 1
    assert residents(replace(config, stages=40), product, device) < fit
    config = replace(SPECIALIZED, schedule="naive", tile=(192, 64, 64), warps=4, stages=1)
    assert residents(config, Product(1, 1, 1), Device.named("h200")) == 1  # 384 threads of 88 registers
