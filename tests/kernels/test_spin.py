"""A spinning block reads the clock first and last: read in the machine code for a Hopper GPU."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

# not importorskip: Triton may be imported here only after it was told to interpret
pytestmark = pytest.mark.skipif(
    not (find_spec("torch") and find_spec("triton")), reason="needs torch and Triton"
)

COMPILE = """
import sys
from triton import compile
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon._runtime import GluonASTSource
from tilesim.cli.packages import load
load("kernels")
from tilesim_kernels.probes.spin import spin

kb, warps, cluster = map(int, sys.argv[1:])
types = dict(stamps="*i64", cycles="i32", extra="i32", KB="constexpr", WARPS="constexpr", HELD="constexpr")
source = GluonASTSource(spin, types, {(3,): kb, (4,): warps, (5,): 0}, {(0,): [["tt.divisibility", 16]]})
made = compile(source, target=GPUTarget("cuda", 90, 32), options=dict(num_warps=warps, num_ctas=cluster))
print(made.metadata.shared)
print(made.asm["ptx"])
"""

EVENTS = r"%clock64|st\.global|st\.shared|stmatrix|\bbra\b|\bret;"


def compiled(tmp_path, *launch):
    """(bytes of shared memory, what the kernel does in the order of its PTX, runs of the same one joined)."""
    env = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    env |= {"TRITON_CACHE_DIR": str(tmp_path), "TRITON_DEFAULT_FP_FUSION": "1"}
    command = [sys.executable, "-c", COMPILE, *map(str, launch)]
    root = Path(__file__).parents[2]
    result = subprocess.run(command, env=env, cwd=root, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    shared, _, ptx = result.stdout.partition("\n")
    found = re.findall(EVENTS, ptx)
    return int(shared), [event for i, event in enumerate(found) if i == 0 or event != found[i - 1]]


@pytest.mark.parametrize("launch", [(0, 1, 1), (200, 8, 1), (0, 32, 4)], ids=str)
def test_all_that_a_block_does_is_between_its_stamps(tmp_path, launch):
    shared, events = compiled(tmp_path, *launch)
    assert shared == 1024 * launch[0]
    # first stamp, its store, the loop, last stamp, its store
    usual = ["%clock64", "st.global", "%clock64", "bra", "%clock64", "st.global", "ret;"]
    assert [event for event in events if event not in ("stmatrix", "st.shared")] == usual
    assert events[0] == "%clock64"
