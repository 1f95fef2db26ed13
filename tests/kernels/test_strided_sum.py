"""strided_sum by Triton's interpreter: the same sum with every stride, and a wrong one is not timed."""

import numpy as np
import pytest
from on_device import torch

from tilesim.ideas.thread_indexing import strided_cells
from tilesim_kernels import KernelError
from tilesim_kernels.bench import thread_indexing
from tilesim_kernels.ideas.strided_sum import BLOCK, launch

COLUMNS, CELLS = 64, 4096


@pytest.mark.parametrize("stride", [1, 2, 64, CELLS])
def test_each_block_sums_the_cells_that_the_model_says(stride):
    x = torch.randint(8, (CELLS,), generator=torch.Generator().manual_seed(0)).float()
    sums = torch.full((CELLS // BLOCK,), float("nan"))
    launch(x, sums, stride)
    rows, columns = strided_cells(CELLS, COLUMNS, stride)
    taken = x.numpy()[rows * COLUMNS + columns].reshape(-1, BLOCK)
    assert sums.tolist() == taken.sum(axis=1).tolist()
    assert thread_indexing.checked_sum(x, sums, stride) == x.sum()


def test_a_sum_that_leaves_out_a_cell_is_refused(monkeypatch):
    def forgetful(x, sums, stride):
        launch(x, sums, stride)
        sums[0] -= 1

    monkeypatch.setattr(thread_indexing, "launch", forgetful)
    x, sums = torch.ones(CELLS), torch.empty(CELLS // BLOCK)
    with pytest.raises(KernelError, match="with stride 2 the sum is 4095 instead of 4096"):
        thread_indexing.checked_sum(x, sums, 2)


def test_sums_of_a_block_are_exact_in_fp32():
    assert (thread_indexing.MOST - 1) * BLOCK < 2**24
    assert thread_indexing.SIDE**2 % np.lcm.reduce([BLOCK, *thread_indexing.STRIDES]) == 0
