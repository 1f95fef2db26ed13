"""strided_sum by Triton's interpreter: the same sum for any columns, and a wrong one is refused."""

import numpy as np
import pytest
from on_device import torch

from tilesim_kernels import KernelError
from tilesim_kernels.bench import strided_sum
from tilesim_kernels.ideas.strided_sum import BLOCK, launch

CELLS = 4096


@pytest.mark.parametrize("loads", [1, 4])
@pytest.mark.parametrize("columns", [1, 2, 64, 1024])
def test_each_block_sums_the_cells_of_its_threads(columns, loads):
    x = torch.randint(8, (CELLS,), generator=torch.Generator().manual_seed(0)).float()
    sums = torch.full((CELLS // BLOCK,), float("nan"))
    launch(x, sums, columns, loads)
    down = x.numpy().reshape(-1, columns).T.reshape(columns, loads, -1)  # [columns, loads, rows / loads]
    taken = down.sum(axis=1).reshape(-1, BLOCK).sum(axis=1)
    assert sums[: len(taken)].tolist() == taken.tolist()
    assert strided_sum.checked_sum(x, sums, columns, loads) == x.sum()


def test_a_sum_that_leaves_out_a_cell_is_refused(monkeypatch):
    def forgetful(x, sums, columns, loads):
        launch(x, sums, columns, loads)
        sums[0] -= 1

    monkeypatch.setattr(strided_sum, "launch", forgetful)
    x, sums = torch.ones(CELLS), torch.empty(CELLS // BLOCK)
    with pytest.raises(KernelError, match="with 2 columns and 1 loads, the sum is 4095 instead of 4096"):
        strided_sum.checked_sum(x, sums, 2)


def test_sums_of_a_block_are_exact_in_fp32():
    assert (strided_sum.MOST - 1) * BLOCK * max(strided_sum.LOADS) < 2**24
    cases = [BLOCK * loads * columns for columns in strided_sum.COLUMNS for loads in strided_sum.LOADS]
    assert strided_sum.CELLS % np.lcm.reduce(cases) == 0
