"""A warp of axpy asks, waits for both answers, and only then reads the clock again: read in its PTX."""

import re

import pytest
from hopper_code import compiled

COMPILE = """
from tilesim_kernels.bench import latency_hiding as axpy

types = dict(x="*fp32", y="*fp32", ends="*i64", stamps="*i64", a="fp32", warps="i32", rounds="i32")
source = GluonASTSource(axpy.axpy, types | {"WORK": "constexpr"}, {(7,): getattr(axpy, sys.argv[1])})
print(compile(source, target=HOPPER, options=dict(num_warps=32)).asm["ptx"])
"""
EVENTS = r"%clock64|ld\.global\.cg|st\.global|fma\.rn|\bbra (?:again|done)"


def events(work):
    """What the kernel does between the label `again` and `gone`, in the order of its PTX."""
    return re.findall(EVENTS, compiled(COMPILE, work).partition("again:")[2].partition("gone:")[0])


LOADS = ["ld.global.cg"] * 2 + ["fma.rn"] * 4 + ["bra done"]


@pytest.mark.parametrize(
    "work, stamps", [("EACH_ROUND", ["st.global"]), ("ENDS_ONLY", [])], ids=["stamped", "not stamped"]
)
def test_the_clock_is_read_before_the_loads_and_after_the_branch_that_waits_for_them(work, stamps):
    turn = ["%clock64", *LOADS, "%clock64", "st.global", *stamps, "bra again"]
    assert events(work) == [*turn, "st.global", "st.global"]
