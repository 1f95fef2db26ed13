"""What each level of tiles reads: properties, what a compiler makes of it, and what a GPU measured."""

import json
import re
from itertools import pairwise

import pytest
from hopper_code import compiled
from hypothesis import given
from hypothesis import strategies as st

from tilesim import Problem
from tilesim.devices.presets import presets
from tilesim.errors import DeviceError, ProblemError
from tilesim.ideas import tiling_hierarchy as tiling
from tilesim.ladder.reports import report
from tilesim.problems import DTYPE_BYTES

DTYPE = st.sampled_from(tiling.DTYPES)


@st.composite
def products(draw):
    """(problem, warps) that a Hopper GPU can cut."""
    dtype, down, across = draw(DTYPE), draw(st.integers(1, 2)), draw(st.sampled_from([1, 2]))
    rows, columns = 64 * down * draw(st.integers(1, 2)), across * 8 * draw(st.integers(1, 16))
    depth = tiling.DEPTH_BYTES // DTYPE_BYTES[dtype] * draw(st.integers(1, 4))
    warps = 4 * draw(st.sampled_from([1, 2]))
    return Problem(4096, 4096, 4096, tile=(rows, columns, depth), dtype=dtype), warps


@given(products())
def test_pieces_of_a_level_make_up_the_one_above_and_do_no_more_for_a_byte(made):
    problem, warps = made
    try:
        found = tiling.levels(problem, warps)
    except ProblemError:
        return
    _, tile, group, instruction = found
    assert tile.flops == warps // tiling.GROUP * group.flops and group.flops % instruction.flops == 0
    for above, below in pairwise(found):
        assert above.intensity >= below.intensity and above.needs <= below.needs
    for above, below in ((tile, group), (group, instruction)):
        assert all(big % small == 0 for big, small in zip(above.shape, below.shape, strict=True))


@given(st.integers(1, 64), DTYPE)
def test_a_wgmma_divides_its_group_s_columns_and_none_that_does_is_wider(eights, dtype):
    m, n, _ = tiling.instruction(8 * eights, dtype)
    assert m == 64 and n <= 256 and 8 * eights % n == 0
    assert not any(8 * eights % wider == 0 for wider in range(n + 8, min(8 * eights, 256) + 1, 8))


ROWS = report("tiling_hierarchy")["rows"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['dtype']}-{row['tile'][1]}")
def test_a_gpu_s_wgmma_waits_for_shared_memory_as_long_as_the_model_says(row):
    """To a fifth of a percent: the rest is what begins and ends a launch."""
    rate = presets()["h200"]["macs_per_clock"][row["dtype"]]
    shape = tiling.instruction(row["tile"][1], row["dtype"])
    said = tiling.levels(Problem(*shape, tile=shape, dtype=row["dtype"]), warps=4)[-1].share
    assert row["macs_per_clock"]["p50"] / rate == pytest.approx(said, rel=0.002)


def test_the_usual_tile_comes_out_as_in_the_literature():
    """85.3 FLOP a byte in 16 bits; 1,024 of a product of 2048 whose operands come once."""
    product, tile, *_ = tiling.levels(Problem(2048, 2048, 2048))
    assert (product.intensity, tile.intensity) == (1024, pytest.approx(256 / 3))


def test_the_l2_feeds_the_usual_tile_only_where_neighbours_share():
    tile = tiling.levels(Problem(4096, 4096, 4096))[1]
    assert tile.gives < tile.needs <= tile.merged and tile.share == 1
    small = tiling.levels(Problem(4096, 4096, 4096, tile=(64, 64, 64)), warps=4)[1]
    assert small.merged < small.needs and small.share < 0.7


@pytest.mark.parametrize("device", ["a100", "nonsense"])
def test_other_gpus_have_no_wgmma(device):
    with pytest.raises(DeviceError, match=f"'{device}' has no wgmma; choose from h100, h100-pcie, h200"):
        tiling.levels(Problem(4096, 4096, 4096), device=device)


COMPILE = """
import triton
import triton.language as tl

@triton.jit
def product(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    acc = tl.zeros((BM, BN), tl.float32)
    m, n, k = tl.arange(0, BM)[:, None], tl.arange(0, BN)[None, :], tl.arange(0, BK)
    for first in range(0, K, BK):
        x = tl.load(a + m * K + (first + k)[None, :])
        y = tl.load(b + (first + k)[:, None] * BN + n)
        acc = tl.dot(x, y, acc)
    tl.store(c + m * BN + n, acc)

made = []
for element, deep, (rows, columns, warps) in json.loads(sys.argv[1]):
    types = {"a": "*" + element, "b": "*" + element, "c": "*fp32", "K": "i32"}
    types |= dict.fromkeys(("BM", "BN", "BK"), "constexpr")
    aligned = {(n,): [["tt.divisibility", 16]] for n in range(4)}
    source = ASTSource(product, types, {(4,): rows, (5,): columns, (6,): deep}, aligned)
    made.append(compile(source, target=HOPPER, options={"num_warps": warps}).asm["ptx"])
print(json.dumps(made))
"""
TILES = [(128, 256, 8), (128, 128, 4), (64, 64, 8), (128, 64, 16)]


def test_triton_cuts_a_tile_into_the_same_instructions():
    asked = [("bf16", 64, tile) for tile in TILES] + [("fp32", 32, (64, 32, 4))]
    found = json.loads(compiled(COMPILE, json.dumps(asked)))
    for (element, deep, (rows, columns, warps)), ptx in zip(asked, found, strict=True):
        dtype = "bf16" if element == "bf16" else "tf32"
        problem = Problem(4096, 4096, 4096, tile=(rows, columns, deep), dtype=dtype)
        *_, group, instruction = tiling.levels(problem, warps)
        m, n, k = instruction.shape
        issued = re.findall(r"wgmma\.mma_async\.sync\.aligned\.(m\d+n\d+k\d+)", ptx)
        assert set(issued) == {f"m{m}n{n}k{k}"}
        assert len(issued) == group.flops // instruction.flops
