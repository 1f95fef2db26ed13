"""What one load of a warp moves: properties, and the counters of a GPU."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.ideas import coalescing
from tilesim.ladder.reports import report

WIDTH = st.sampled_from([1, 2, 4, 8, 16])


@st.composite
def warps(draw):
    """(addresses, width): up to 32 threads anywhere, aligned as hardware asks."""
    width = draw(WIDTH)
    places = draw(st.lists(st.integers(0, 2**20), min_size=1, max_size=coalescing.WARP))
    return width * np.array(places), width


@given(warps())
def test_what_is_used_is_moved_and_no_sector_comes_in_vain(warp):
    addresses, width = warp
    moved = coalescing.moved(addresses, width)
    assert 0 < moved.used <= moved.moved and moved.lines <= moved.sectors <= 4 * moved.lines
    assert moved.sectors <= len(np.unique(addresses)) and moved.used <= width * len(addresses)


@given(warps())
def test_each_byte_asked_for_lies_in_a_sector_that_is_touched(warp):
    addresses, width = warp
    asked = {
        byte // coalescing.SECTOR for first in addresses.tolist() for byte in range(first, first + width)
    }
    assert coalescing.touched(addresses).tolist() == sorted(asked)


@given(warps(), st.randoms())
def test_which_thread_takes_which_address_does_not_matter(warp, random):
    addresses, width = warp
    others = addresses.tolist()
    random.shuffle(others)
    assert coalescing.moved(np.array(others), width) == coalescing.moved(addresses, width)


@given(WIDTH, st.integers(0, 2**20))
def test_neighbours_waste_nothing_from_the_start_of_a_sector(width, sector):
    start = coalescing.SECTOR * sector
    moved = coalescing.moved(coalescing.strided(width, start=start), width)
    assert moved.moved == moved.used == coalescing.WARP * width


@given(st.integers(1, 4096), WIDTH)
def test_strides_of_a_line_and_more_take_a_line_for_each_thread(times, width):
    moved = coalescing.moved(coalescing.strided(coalescing.LINE * times), width)
    assert moved.sectors == moved.lines == coalescing.WARP and moved.used == coalescing.WARP * width


def test_threads_that_share_an_address_move_it_once():
    assert coalescing.moved(coalescing.strided(0), 4) == coalescing.Moved(sectors=1, lines=1, used=4)


def tile_loads(rows, columns, pitch, width, down):
    """Addresses by which warps read a tile of fp32 once: along its rows or, if `down`, its columns."""
    grid = np.arange(rows)[:, None] * pitch + np.arange(0, 4 * columns, width)
    return (grid.T if down else grid).reshape(-1, coalescing.WARP)


@pytest.mark.parametrize("kernel, down, width", [("uncoalesced", True, 4), ("coalesced", False, 16)])
def test_the_counters_of_a_gpu_agree_to_the_last_sector(kernel, down, width):
    """Every thread block loads a tile of A and one of B for each K-step, through pointers."""
    row = next(
        row for row in report("coalescing")["rows"] if (row["kernel"], row["dtype"]) == (kernel, "fp32")
    )
    m, n, k, (tile_m, tile_n, tile_k) = row["m"], row["n"], row["k"], row["tile"]
    steps = m // tile_m * (n // tile_n) * (k // tile_k)
    loads = [*tile_loads(tile_m, tile_k, 4 * k, width, down), *tile_loads(tile_k, tile_n, 4 * n, width, down)]
    assert row["load_requests"] == steps * len(loads)
    sectors = sum(coalescing.moved(load, width).sectors for load in loads)
    assert row["load_sectors"] == steps * sectors
