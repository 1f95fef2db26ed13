"""What fits a kernel and a GPU: exactly at each limit, and one beyond it."""

from dataclasses import replace

import pytest
from recordings import DATA

from tilesim import Device
from tilesim.choice.kernel_times import TILING, shipped
from tilesim.choice.measurement import read
from tilesim.gemm import kernels
from tilesim.gemm.fit import BARRIER_BYTES, Limits, limits_of, residents, stages_that_fit, why_not
from tilesim.kernel_config import KernelConfig
from tilesim.ladder.reports import report
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
    assert limits == limits_of("") and limits.shared_bytes() == limits.shared_bytes(1)


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
        ((32, 64, 16), 4, 1, 7),  # 72 registers of a thread, and none to spare for another
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


@pytest.mark.parametrize(
    ("kernel", "tile", "dtype", "kib"),
    [
        ("naive", (128, 256, 64), "bf16", 3 * 48), ("element", (16, 16, 256), "bf16", 0),
        ("persistent", (128, 256, 64), "bf16", 3 * 48 + 32), ("table", (64, 128, 32), "fp32", 3 * 24 + 16),
        ("ping-pong", (128, 128, 128), "fp8", 3 * 32 + 32),
        ("warp-specialized", (128, 256, 64), "bf16", 3 * 48 + 32),  # half of C at a time,
        ("warp-specialized", (16, 128, 64), "bf16", 3 * 18 + 4),  # all of it,
        ("warp-specialized", (192, 192, 64), "bf16", 3 * 48 + 24),  # or two times 32 of its columns
    ],
)  # fmt: skip
def test_a_thread_block_holds_its_stages_and_what_it_writes(kernel, tile, dtype, kib):
    config = KernelConfig(kernel, "persistent", tile, stages=3, epilogue_subtiles=1 + (kernel != "ping-pong"))
    assert kernels()[kernel].shared_bytes(config, Product(1, 1, 1, dtype, "nt")) == 1024 * kib


def tried(name, product):
    """A configuration of each tile that a kernel tries, with one stage."""
    for tilings in kernels()[name].tilings:
        for m, n, lines, warps in tilings.tiles:
            tile = m, n, lines * 128 // product.operand_bytes
            yield KernelConfig(
                name, tilings.schedule, tile, "row-major", warps, 1, tilings.loads, tilings.overlap,
                tilings.epilogue_subtiles,
            )  # fmt: skip


@pytest.mark.parametrize("name", list(kernels()))
def test_every_tile_that_is_tried_can_be_computed_and_overlaps_where_its_kernel_can(name):
    for dtype in kernels()[name].dtypes:
        for one in tried(name, product := Product(8192, 8192, 8192, dtype, "nt")):
            assert why_not(one, product, limits_of("h200")) == "", one
            assert one.overlap == kernels()[name].overlap


def test_every_tile_that_was_ever_the_fastest_or_has_a_rate_of_its_own_is_tried():
    tiles = {
        (dtype, one.kernel, one.tile, one.warps)
        for dtype in ("bf16", "fp8")
        for name in kernels()
        for one in tried(name, Product(8192, 8192, 8192, dtype))
    }
    for timed in (*read(DATA / "choice/h200.json"), *read(DATA / "tuned/h200.json")):
        best = min(timed.us, key=timed.us.get)
        assert (timed.product.dtype, best.kernel, best.tile, best.warps) in tiles
    for name in shipped():
        rate = dict(zip(TILING, name, strict=False))
        if "tile" in rate:
            tile = tuple(map(int, rate["tile"].split("x")))
            assert (rate["dtype"], rate["kernel"], tile, rate["warps"]) in tiles


def test_the_defaults_of_kernels_without_stamps_are_those_of_the_ladder():
    names = ("variant", "warps", "stages", "loads")
    measured = {tuple(row.get(name) for name in names) for row in report("ladder")["rows"]}
    for name in ("element", "uncoalesced", "ping-pong", "warp-specialized"):
        kernel = kernels()[name]
        assert (name, kernel.warps, kernel.stages, kernel.loads) in measured
