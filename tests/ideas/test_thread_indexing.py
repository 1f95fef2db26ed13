"""Which thread takes which cell: every cell once, however the axes go, and neighbours as far as they say."""

from hypothesis import given
from hypothesis import strategies as st

from tilesim.ideas import coalescing
from tilesim.ideas.thread_indexing import Launch, addresses, cells, warps
from tilesim.ladder.reports import report

SIDE = st.integers(1, 8)
LAUNCHES = st.builds(lambda a, b, c, d: Launch((a, b), (c, d)), SIDE, SIDE, SIDE, SIDE)


@given(LAUNCHES, st.booleans())
def test_every_cell_is_taken_once(launch, swapped):
    rows, columns = cells(launch, swapped)
    high, wide = launch.grid[1] * launch.block[1], launch.grid[0] * launch.block[0]
    if swapped:
        high, wide = wide, high
    assert sorted((rows * wide + columns).ravel().tolist()) == list(range(high * wide))


@given(LAUNCHES)
def test_x_and_y_are_what_the_guide_says(launch):
    y, x = cells(launch)
    for block in range(x.shape[0]):
        by, bx = divmod(block, launch.grid[0])
        for thread in range(x.shape[1]):
            ty, tx = divmod(thread, launch.block[0])
            assert (x[block, thread], y[block, thread]) == (
                bx * launch.block[0] + tx,
                by * launch.block[1] + ty,
            )


def test_a_warp_along_a_row_moves_four_sectors_and_down_a_column_32():
    launch, swapped = Launch((2, 4), (32, 8)), Launch((1, 8), (32, 8))
    for made, flag, sectors in ((launch, False, 4), (swapped, True, 32)):
        warp = warps(addresses(*cells(made, flag), 256, 4))[0]
        assert coalescing.moved(warp, 4).sectors == sectors


def test_the_sum_is_the_same_with_every_stride_that_was_measured():
    rows = report("thread_indexing")["rows"]
    assert len({row["sum"] for row in rows}) == 1 and len({row["stride"] for row in rows}) == len(rows)
