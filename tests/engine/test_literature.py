"""Figures that others published and that ideal costs reproduce to the last digit."""

import numpy as np
import pytest

from tilesim import Costs, Device, Problem, plan, simulate

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
    assert trace.busy_share == utilization
    assert trace.makespan == waves * problem.k_steps * 1000


def test_split_k_of_two_reaches_90_percent():
    """Stream-K figure 2a."""
    trace = simulate("split-k:2", Problem(**STREAM_K, tile=(128, 128, 4)), Device(4), Costs.ideal())
    assert (len(trace.spans), trace.waves, trace.utilization) == (18, 5, 0.9)
    assert trace.makespan == 5 * 16_000


def test_stream_k_reaches_100_percent():
    """Stream-K figure 2b: 288 K-steps, 72 for each of 4 CTAs."""
    trace = simulate("stream-k:4", Problem(**STREAM_K, tile=(128, 128, 4)), Device(4), Costs.ideal())
    steps = np.bincount(trace.spans["cta"], trace.spans["k1"] - trace.spans["k0"])
    assert steps.tolist() == [72, 72, 72, 72]
    assert (trace.makespan, trace.utilization, trace.busy_share) == (72_000, 1.0, 1.0)


@pytest.mark.parametrize(
    ("m", "n", "k", "ctas"), [(256, 3584, 8192, 108), (1024, 1024, 1024, 64), (128, 128, 16384, 8)]
)
def test_stream_k_chooses_its_grid_size(m, n, k, ctas):
    """Stream-K figure 8: the paper's three examples on an A100 of 108 SMs."""
    problem = Problem(m, n, k, tile=(128, 128, 32), dtype="fp16")
    assert plan("stream-k", problem, Device.named("a100")).ctas == ctas
