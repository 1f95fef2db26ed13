"""Stamps bracket the work: read in the PTX that Triton makes for a Hopper GPU, without having one."""

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
from triton.compiler import ASTSource
from tilesim.cli._rooms import room
room("kernels")
from tilesim_kernels._launch import KERNELS, LAG, WAIT_NS
from tilesim_kernels._variants import VARIANTS, Variant

name, stamps = sys.argv[1], sys.argv[2] == "stamps"
planned = {
    "planned": dict(OVERLAP=True), "planned-split": dict(OVERLAP=True, SPLIT=True),
    "planned-alone": dict(OVERLAP=False), "planned-queue": dict(OVERLAP=False, QUEUE=True),
}
what = VARIANTS.get(name) or Variant("persistent", overlap=planned[name]["OVERLAP"], kernel="planned")
values = dict(BM=128, BN=256, BK=64, ORDER="row-major", GROUP=1, TMA=what.loads == "tma", RECORD=stamps,
              OVERLAP=what.overlap, LAG=LAG if what.overlap else 0, SPLIT=False, QUEUE=False, WARPS=8,
              WAIT=WAIT_NS, PARTS=what.parts, lda=None, ldb=None, TRANS_A=False, TRANS_B=False,
              PRECISION="ieee")
values |= planned.get(name, {})
boxes = dict(a=(128, 64), b=(64, 256), c=(128, 256 // what.parts))
kernel = KERNELS["planned" if name in planned else what.schedule]
pointers = dict(stamps="*i64", partials="*fp32") | dict.fromkeys(
    ("visit", "table", "offsets", "steps", "ticket", "flags", "fault"), "*i32"
)
types, constants, aligned = {}, {}, {}
for i, name in enumerate(kernel.arg_names):
    if name in values:
        types[name], constants[i,] = "constexpr", values[name]
    elif name in boxes and what.loads == "tma":
        types[name] = "tensordesc<bf16[%d,%d]>" % boxes[name]
    else:
        types[name] = pointers.get(name, "*bf16" if name in boxes else "i32")
        aligned[i,] = [["tt.divisibility", 16]]
source = ASTSource(kernel, types, constants, aligned)
options = dict(num_warps=what.warps, num_stages=what.stages)
print(compile(source, target=GPUTarget("cuda", 90, 32), options=options).asm["ptx"])
"""

EVENTS = {
    "operands": r"mbarrier\.try_wait|cp\.async\.wait_group",
    "multiply": r"wgmma\.mma_async",
    "multiplied": r"wgmma\.wait_group\.sync\.aligned\s+0",
    "write": r"cp\.async\.bulk\.tensor\S*\.global\.shared",
    "written": r"cp\.async\.bulk\.wait_group\s+0",
    "stamp": r"%globaltimer",
}


def events(tmp_path, name, stamps):
    """The events in the order of the PTX, runs of the same one joined."""
    env = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    env |= {"TRITON_CACHE_DIR": str(tmp_path), "TRITON_DEFAULT_FP_FUSION": "1"}
    command = [sys.executable, "-c", COMPILE, name, "stamps" if stamps else "plain"]
    root = Path(__file__).parents[2]
    result = subprocess.run(command, env=env, cwd=root, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    pattern = "|".join(f"(?P<{event}>{regex})" for event, regex in EVENTS.items())
    found = [str(match.lastgroup) for match in re.finditer(pattern, result.stdout)]
    return [event for i, event in enumerate(found) if i == 0 or event != found[i - 1]]


def test_stamps_are_compiled_away(tmp_path):
    assert "stamp" not in events(tmp_path, "persistent-tma-overlap", stamps=False)


@pytest.mark.parametrize(
    "name",
    [
        "naive-tma", "persistent-tma", "persistent-tma-overlap", "persistent-tma-overlap-split",
        "planned", "planned-alone", "planned-queue", "planned-split",
    ],
)  # fmt: skip
def test_stamps_stand_between_what_they_separate(tmp_path, name):
    seen = " ".join(events(tmp_path, name, stamps=True))
    before = "" if name == "naive-tma" else "written stamp "
    assert before + "operands stamp multiply" in seen
    assert "multiplied stamp write" in seen
    assert seen.endswith("written stamp")
