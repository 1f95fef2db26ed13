"""What the benchmark compares computes the same."""

import pytest
from simulation import agree

from tilesim import Problem


@pytest.mark.parametrize("problem", [Problem(1, 1, 1), Problem(128 * 20, 256 * 50, 512)])
@pytest.mark.parametrize("schedule", ["naive", "persistent"])
def test_contenders_find_the_same_times(schedule, problem):
    assert agree(schedule, problem)
