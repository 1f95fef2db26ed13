"""A spinning block reads the clock first and last: read in the machine code for a Hopper GPU."""

import re

import pytest
from hopper_code import compiled

COMPILE = """
from tilesim_kernels.probes.spin import spin

kb, warps, cluster = map(int, sys.argv[1:])
types = dict(stamps="*i64", cycles="i32", extra="i32", KB="constexpr", WARPS="constexpr", HELD="constexpr")
source = GluonASTSource(spin, types, {(3,): kb, (4,): warps, (5,): 0}, {(0,): [["tt.divisibility", 16]]})
made = compile(source, target=HOPPER, options=dict(num_warps=warps, num_ctas=cluster))
print(made.metadata.shared)
print(made.asm["ptx"])
"""

EVENTS = r"%clock64|st\.global|st\.shared|stmatrix|\bbra\b|\bret;"


def made(*launch):
    """(bytes of shared memory, what the kernel does in the order of its PTX, runs of the same one joined)."""
    shared, _, ptx = compiled(COMPILE, *map(str, launch)).partition("\n")
    found = re.findall(EVENTS, ptx)
    return int(shared), [event for i, event in enumerate(found) if i == 0 or event != found[i - 1]]


@pytest.mark.parametrize("launch", [(0, 1, 1), (200, 8, 1), (0, 32, 4)], ids=str)
def test_all_that_a_block_does_is_between_its_stamps(launch):
    shared, events = made(*launch)
    assert shared == 1024 * launch[0]
    # first stamp, its store, the loop, last stamp, its store
    usual = ["%clock64", "st.global", "%clock64", "bra", "%clock64", "st.global", "ret;"]
    assert [event for event in events if event not in ("stmatrix", "st.shared")] == usual
    assert events[0] == "%clock64"
