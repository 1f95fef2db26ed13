"""Stamps bracket the work: read in the PTX that Triton makes for a Hopper GPU, without having one."""

import re

import pytest
from hopper_code import compiled

COMPILE = """
from importlib import import_module
from tilesim import Problem
from tilesim_kernels.gemm.table import TIMEOUT_NS
from tilesim_kernels.launch.named import named
from tilesim_kernels.gemm.jobs import STORE_WAIT_K_STEP

name, stamps, layout, dtype = sys.argv[1], sys.argv[2] == "stamps", *sys.argv[3:]
operand, result, depth = {
    "bf16": ("bf16", "bf16", 64), "tf32": ("fp32", "fp32", 32), "fp8": ("fp8e4nv", "bf16", 128),
}[dtype]
trans_a, trans_b = (way == "t" for way in layout)
driven = {
    "table": dict(FLATTEN=True), "table-split": dict(FLATTEN=True, SPLIT=True),
    "table-alone": dict(FLATTEN=False), "table-queue": dict(FLATTEN=False, QUEUE=True),
}
of = "table:persistent" if name in driven else name
variant = named(of, Problem(4096, 4096, 4096), warps=8, stages=4 if name.endswith("tma-overlap-split") else 3)
values = dict(
    BM=128, BN=256, BK=depth, ORDER="row-major", GROUP_M=1, TMA=variant.loads == "tma", RECORD=stamps,
    FLATTEN=variant.overlap, STORE_WAIT_K_STEP=STORE_WAIT_K_STEP if variant.overlap else 0,
    EPILOGUE_SUBTILES=variant.epilogue_subtiles, SPLIT=False, QUEUE=False, WARPS=8, TIMEOUT_NS=TIMEOUT_NS,
    lda=None, ldb=None, TRANS_A=trans_a, TRANS_B=trans_b, PRECISION="tf32" if dtype == "tf32" else "ieee",
    SWAP=False, DEPENDENT_LAUNCH=False,
)
values |= driven.get(name, {})
boxes = dict(a=(depth, 128) if trans_a else (128, depth), b=(256, depth) if trans_b else (depth, 256),
             c=(128, 256 // variant.epilogue_subtiles))
module = import_module(f"tilesim_kernels.gemm.{variant.kernel}")
kernel = module.table_driven if name in driven else getattr(module, variant.kernel)
pointers = dict(stamps="*i64", partials="*fp32") | dict.fromkeys(
    ("tile_order", "table", "offsets", "k_steps", "queue_head", "flags", "fault"), "*i32"
)
types, constants, aligned = {}, {}, {}
for i, name in enumerate(kernel.arg_names):
    if name in values:
        types[name], constants[i,] = "constexpr", values[name]
    elif name in boxes and variant.loads == "tma":
        types[name] = "tensordesc<%s[%d,%d]>" % (result if name == "c" else operand, *boxes[name])
    else:
        types[name] = pointers.get(name, "i32")
        if name in boxes:
            types[name] = "*" + (result if name == "c" else operand)
        aligned[i,] = [["tt.divisibility", 16]]
source = ASTSource(kernel, types, constants, aligned)
options = dict(num_warps=variant.warps, num_stages=variant.stages)
print(compile(source, target=HOPPER, options=options).asm["ptx"])
"""

EVENTS = {
    "operands": r"mbarrier\.try_wait|cp\.async\.wait_group",
    "multiply": r"wgmma\.mma_async",
    "multiplied": r"wgmma\.wait_group\.sync\.aligned\s+0",
    "write": r"cp\.async\.bulk\.tensor\S*\.global\.shared",
    "written": r"cp\.async\.bulk\.wait_group\s+0",
    "stamp": r"%globaltimer",
}


def ptx(name, stamps=False, layout="nn", dtype="bf16"):
    """What Triton makes of a kernel for operands of that layout and dtype."""
    return compiled(COMPILE, name, "stamps" if stamps else "plain", layout, dtype)


def events(name, stamps):
    """The events in the order of the PTX, runs of the same one joined."""
    pattern = "|".join(f"(?P<{event}>{regex})" for event, regex in EVENTS.items())
    found = [str(match.lastgroup) for match in re.finditer(pattern, ptx(name, stamps))]
    return [event for i, event in enumerate(found) if i == 0 or event != found[i - 1]]


def test_stamps_are_compiled_away():
    assert "stamp" not in events("persistent-tma-overlap", stamps=False)


@pytest.mark.parametrize(
    "name",
    [
        "naive-tma", "persistent-tma", "persistent-tma-overlap", "persistent-tma-overlap-split",
        "table", "table-alone", "table-queue", "table-split",
    ],
)  # fmt: skip
def test_stamps_stand_between_what_they_separate(name):
    seen = " ".join(events(name, stamps=True))
    before = "" if name == "naive-tma" else "written stamp "
    assert before + "operands stamp multiply" in seen
    assert "multiplied stamp write" in seen
    assert seen.endswith("written stamp")


MULTIPLY = {"bf16": r"wgmma\S+bf16\.bf16", "fp8": r"wgmma\S+e4m3\.e4m3", "tf32": r"wgmma\S+tf32\.tf32"}


@pytest.mark.parametrize(("layout", "dtype"), [("tn", "bf16"), ("nt", "fp8"), ("nn", "fp8"), ("nt", "tf32")])
def test_any_layout_is_loaded_by_tma_and_multiplied_by_wgmma(layout, dtype):
    """Where wgmma needs K to be dense and it is not, the block goes through registers once more."""
    made = ptx("persistent-tma-overlap", layout=layout, dtype=dtype)
    assert re.search(MULTIPLY[dtype], made) and "cp.async.bulk.tensor" in made
    assert "ld.global" not in made
    again = len(re.findall("ld.shared", made)) > 0
    assert again == ((layout, dtype) == ("nn", "fp8"))


@pytest.mark.parametrize("layout", ["nt", "tn"])
def test_pointers_load_any_layout_ahead_16_bytes_at_a_time(layout):
    made = ptx("persistent-ptr-overlap", layout=layout)
    assert re.search(MULTIPLY["bf16"], made)
    assert "ld.global" not in made
    assert set(re.findall(r"cp\.async\.c[ag]\.shared\.global \[[^]]*\], \[[^]]*\], (\S+),", made)) == {"0x10"}
