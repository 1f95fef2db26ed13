"""MemoryTrips: chunks go to their functions and back, once for each kernel."""

import numpy as np
import pytest

from tilesim_scenes.mobjects.models.pipelines.memory_trips import CHUNKS, MemoryTrips

NAMES = ("HBM", "L2", "SMs")


def trips(functions: int = 4, kernels: int = 4, **rest) -> MemoryTrips:
    return MemoryTrips(NAMES, functions, kernels, each=100.0, width=12, height=4, **rest)


def inside(chunks, box) -> list[bool]:
    left, right = box.get_left()[0], box.get_right()[0]
    return [left < chunk[0].get_center()[0] < right for chunk in chunks]


def filled(shown: MemoryTrips) -> list[float]:
    """The share of each chunk that is filled."""
    return [chunk[1].width / chunk[0].width for chunk in shown.chunks]


@pytest.mark.parametrize("kernels", [1, 4])
def test_after_each_kernel_all_chunks_are_home_with_its_functions_applied(kernels):
    shown = trips(kernels=kernels)
    for done in range(1, kernels + 1):
        shown.show(done * 100 - 1e-6)
        assert all(inside(shown.chunks, shown.hbm))
        assert filled(shown) == pytest.approx([done / kernels] * CHUNKS)


def test_halfway_a_chunk_is_at_its_kernel_s_function():
    shown = trips().show(250)
    gate = shown.gates[2][0].get_center()[0]
    at = [chunk[0].get_center()[0] for chunk in shown.chunks]
    assert min(abs(np.array(at) - gate)) < 1e-6
    assert [gate[0].get_fill_opacity() for gate in shown.gates] == [0, 0, 1, 0]


def test_one_kernel_fills_a_chunk_function_by_function_within_the_sms():
    shown, seen = trips(kernels=1), []
    for t in np.linspace(0, 100, 200):
        shown.show(float(t))
        share, there = filled(shown)[0], inside(shown.chunks, shown.sms.box)[0]
        assert there or share < 0.001 or share > 0.999
        seen.append(share)
    assert seen == sorted(seen) and seen[0] < 0.001 and seen[-1] > 0.999


def test_what_stays_in_the_l2_comes_from_hbm_once():
    shown = trips(stays=True)
    assert all(inside(shown.chunks, shown.hbm))
    for done in (1, 4):
        assert all(inside(shown.show(100 * done - 1e-6).chunks, shown.l2))
    for t in np.linspace(100, 399, 100):
        assert not any(inside(shown.show(float(t)).chunks, shown.hbm))


def test_names_are_those_asked_for():
    assert [len(gate) for gate in trips(shown=(0, 3)).gates] == [2, 1, 1, 2]
