"""Figures that others published and that ideal costs reproduce to the last digit."""

import pytest

from tilesim import Costs, Device, Problem, simulate

STREAM_K = {"m": 384, "n": 384, "k": 128}
"""arXiv 2301.03598, figure 1."""


@pytest.mark.parametrize(
    ("problem", "sms", "tiles", "waves", "utilization"),
    [
        pytest.param(Problem(**STREAM_K, tile=(128, 128, 4)), 4, 9, 3, 0.75, id="Stream-K figure 1a"),
        pytest.param(Problem(**STREAM_K, tile=(128, 64, 4)), 4, 18, 5, 0.9, id="Stream-K figure 1b"),
        pytest.param(Problem(133, 1, 64, tile=(1, 1, 64)), 132, 133, 2, 133 / 264, id="wave quantisation"),
    ],
)
@pytest.mark.parametrize("schedule", ["naive", "persistent", "persistent-contiguous", "persistent-dynamic"])
def test_utilization(schedule, problem, sms, tiles, waves, utilization):
    trace = simulate(schedule, problem, Device(sms), Costs.ideal())
    assert (len(trace.spans), trace.waves, trace.utilization) == (tiles, waves, utilization)
    assert trace.occupancy == utilization
    assert trace.makespan == waves * problem.k_steps * 1000


def test_one_tile_too_many_leaves_half_of_a_gpu_idle():
    trace = simulate("naive", Problem(133 * 128, 256, 64), Device(132), Costs.ideal())
    assert f"{trace.utilization:.1%}" == "50.4%"
