"""What one load of a warp moves: properties, and the counters of a GPU."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.ideas import coalescing
from tilesim.ladder.reports import report


@st.composite
def warps(draw):
    """(addresses, width): up to 32 threads anywhere, aligned as hardware asks."""
    width = draw(st.sampled_from([1, 2, 4, 8, 16]))
    places = draw(st.lists(st.integers(0, 2**20), min_size=1, max_size=coalescing.WARP))
    return width * np.array(places), width


@given(warps())
def test_a_load_moves_every_sector_that_a_thread_needs_once(warp):
    addresses, width = warp
    asked = {byte for first in addresses.tolist() for byte in range(first, first + width)}
    sectors, lines = ({byte // unit for byte in asked} for unit in (coalescing.SECTOR, coalescing.LINE))
    moved = coalescing.moved(addresses, width)
    assert (moved.sectors, moved.lines, moved.used) == (len(sectors), len(lines), len(asked))
    assert moved.moved == 32 * len(sectors)


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
