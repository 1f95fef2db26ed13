"""Warps that walk, and residents that were counted: what is made of stamps, and where the clock is read."""

import re

import numpy as np
import on_device  # noqa: F401, before Triton
import pytest
from hopper_code import compiled

from tilesim_kernels import KernelError
from tilesim_kernels.bench import execution_model
from tilesim_kernels.bench import execution_model as residents
from tilesim_kernels.probes import warp_walk

COMPILE = """
from tilesim_kernels.probes.warp_walk import WALK, walk

types = dict(stamps="*i64", data="*fp32", out="*fp32", ASM="constexpr")
source = GluonASTSource(walk, types, {(3,): WALK}, {(0,): [["tt.divisibility", 16]]})
print(compile(source, target=HOPPER, options=dict(num_warps=8)).asm["ptx"])
"""


def test_the_clock_is_read_after_what_each_part_made_was_looked_at():
    events = re.findall(r"%clock64|ld\.volatile|fma\.rn|bra over|bar\.red", compiled(COMPILE))
    joined = [event for i, event in enumerate(events) if i == 0 or event != events[i - 1]]
    load, multiply = ["ld.volatile", "bra over", "%clock64"], ["fma.rn", "bra over", "%clock64"]
    assert joined == ["%clock64", *load, *multiply, *load, *multiply, "bar.red", "bra over", "%clock64"]


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
    kb = [one for _, registers, one in residents.sweep() if not registers and one]
    assert {37, 38, 56, 57, 113, 114} <= set(kb)
    assert all(registers * threads <= 65536 for threads, registers, _ in residents.sweep())
