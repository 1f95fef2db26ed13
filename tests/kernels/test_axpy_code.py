"""A warp of axpy asks, waits for both answers, and only then reads the clock again: read in its PTX."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec

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
from tilesim_kernels.ideas import axpy

types = dict(x="*fp32", y="*fp32", ends="*i64", stamps="*i64", a="fp32", warps="i32", rounds="i32")
source = GluonASTSource(axpy.axpy, types | {"WORK": "constexpr"}, {(7,): getattr(axpy, sys.argv[1])})
print(compile(source, target=GPUTarget("cuda", 90, 32), options=dict(num_warps=32)).asm["ptx"])
"""
EVENTS = r"%clock64|ld\.global\.cg|st\.global|fma\.rn|\bbra (?:again|done)"


def events(tmp_path, work):
    """What the kernel does between the label `again` and `gone`, in the order of its PTX."""
    env = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    env |= {"TRITON_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", COMPILE, work], capture_output=True, text=True, env=env, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return re.findall(EVENTS, done.stdout.partition("again:")[2].partition("gone:")[0])


LOADS = ["ld.global.cg"] * 2 + ["fma.rn"] * 4 + ["bra done"]


@pytest.mark.parametrize(
    "work, stamps", [("EACH_ROUND", ["st.global"]), ("ENDS_ONLY", [])], ids=["stamped", "not stamped"]
)
def test_the_clock_is_read_before_the_loads_and_after_the_branch_that_waits_for_them(tmp_path, work, stamps):
    turn = ["%clock64", *LOADS, "%clock64", "st.global", *stamps, "bra again"]
    assert events(tmp_path, work) == [*turn, "st.global", "st.global"]
