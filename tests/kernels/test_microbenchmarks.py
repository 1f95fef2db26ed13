"""What microbenchmarks load and how long it took, as far as it shows without a GPU."""

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from on_device import few, torch

from tilesim_kernels import KernelError
from tilesim_kernels.microbenchmarks import chase, stamping, stream, tile_loads


def generator(seed):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("order", chase.ORDERS)
def test_each_line_holds_the_address_of_the_next_and_is_visited_once(order):
    """In pages, a page is done before the next, and in a page they are in no order."""
    each = chase.PAGE // chase.LINE
    chain = chase.Chain(2 * each, order, generator(1))
    base = at = chain.memory.data_ptr()
    first, seen = chain.visits[0], []
    at += chase.LINE * int(first)
    for _ in range(len(chain.visits)):
        seen.append((at - base) // chase.LINE)
        at = ctypes.c_int64.from_address(at).value
    assert seen == chain.visits.tolist() and at == base + chase.LINE * int(first)
    assert sorted(seen) == list(range(2 * each)) and abs(np.diff(seen)).mean() > each / 5
    pages = np.diff(np.array(seen) // each)
    assert (np.count_nonzero(pages) == 1) == (order == "in pages")


STAMP = [3, 5, 100, 905, 600, 7]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({3: 0}, "1 of the thread blocks launched wrote no stamp"),
        ({3: 5}, "a clock of this GPU stopped or went backward"),
        ({4: 99}, "a clock of this GPU stopped or went backward"),
    ],
)
def test_stamps_that_cannot_be(changed, sentence):
    wrong = [changed.get(i, value) for i, value in enumerate(STAMP)]
    with pytest.raises(KernelError, match=sentence):
        stamping.read_stamps(np.array([STAMP, wrong]))


def test_two_blocks_of_one_sm_are_one_span_of_its_clock():
    found = stamping.read_stamps(np.array([STAMP, [3, 105, 150, 1005, 650, -9]]))
    assert (found.ns, found.cycles, found.residents, found.checksum) == (550, 1000, 2, -2)
    coarse = np.array([[3, 5, 100, 905, 100, 7]])  # the timer did not advance
    assert stamping.read_stamps(coarse).sm_mhz == 0


def loaded(groups, together, count, round):
    """The tiles that a launch loads: in step i, a group's is its own of round i % round."""
    return [(i % round) * groups + group for group in range(groups) for i in range(count)] * together


@few
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 9), st.integers(1, 5))
def test_the_sum_of_what_a_stream_reads(groups, together, steps, round):
    asked = stream.Stream("read", groups * together, steps, round, together)
    made = stream.Streamed(asked, generator(1))
    tiles = made.x.view(-1, stream.TILE).sum(dim=1).tolist()
    assert made.sum == sum(tiles[tile] for tile in loaded(groups, together, steps, round))
    assert asked.footprint == made.x.nbytes and asked.moved == 4 * stream.TILE * groups * together * steps


@few
@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 9), st.integers(1, 5))
def test_the_sum_of_what_stages_hold(groups, together, loads, round):
    asked = tile_loads.TileLoads("cp.async", (32, 64), 2, groups * together, round, together)
    words = torch.randint(-(2**15), 2**15, (2**18,), dtype=torch.int16, generator=generator(1))
    made = tile_loads.TileLoading(asked, words)
    stages = words[: asked.footprint // 2].view(-1, asked.stage_bytes // 2).sum(dim=1).tolist()
    found = stamping.sum_of_rounds(made.sums, loads, together)
    assert found == sum(stages[stage] for stage in loaded(groups, together, loads, round))


def test_a_copy_moves_each_byte_twice():
    asked = [stream.Stream(kind, 6, 5, 4) for kind in stream.KINDS]
    assert [one.moved for one in asked] == [6 * 5 * stream.TILE_BYTES * i for i in (1, 1, 2)]
    assert [one.footprint for one in asked] == [6 * 4 * stream.TILE_BYTES * i for i in (1, 1, 2)]
