"""Warps that walk, and residents that were counted: what is made of stamps."""

import numpy as np
import on_device  # noqa: F401, before Triton
import pytest

from tilesim_kernels import KernelError
from tilesim_kernels.bench import execution_model
from tilesim_kernels.probes import warp_walk


def test_the_reference_multiplies_what_was_loaded():
    data = np.zeros((1, warp_walk.LINE_WORDS))
    fixed = warp_walk.TERM / (1 - warp_walk.FACTOR)
    data[0, :32] = fixed
    made = warp_walk.reference(data)
    assert made == pytest.approx(np.full((1, 32), fixed))
    with pytest.raises(KernelError, match="a warp is off by"):
        warp_walk._check(made + 1e-3, made)


def test_the_block_of_median_length_is_kept():
    cycles = np.zeros((3, 2, 6), int)
    cycles[:, :, -1] = [[30, 30], [10, 10], [20, 20]]
    cycles[:, 1, -2] = [5, 7, 9]
    kept = execution_model.typical_walk(cycles)
    assert kept["cycles"] == cycles[2].tolist() and kept["apart"]["median"] == 7 and kept["blocks"] == 3


def test_the_sweep_has_pairs_of_which_the_second_needs_a_byte_too_much():
    kb = [one for _, registers, one in execution_model.sweep() if not registers and one]
    assert {37, 38, 56, 57, 113, 114} <= set(kb)
    assert all(registers * threads <= 65536 for threads, registers, _ in execution_model.sweep())
