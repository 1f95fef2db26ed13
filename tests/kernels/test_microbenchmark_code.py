"""A microbenchmark does one thing between its stamps: read in the PTX for a Hopper GPU."""

import json
import re

import pytest
from hopper_code import compiled

COMPILE = """
from tilesim_kernels.microbenchmarks import chase, multiply, stream, tile_loads

def ptx(kernel, warps, types, **values):
    names = kernel.arg_names
    types = {name: "constexpr" if name in values else types.get(name, "i32") for name in names}
    types["stamps"] = "*i64"
    aligned = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(names) if types[name][0] == "*"}
    source = GluonASTSource(kernel, types, {(names.index(n),): v for n, v in values.items()}, aligned)
    return compile(source, target=HOPPER, options=dict(num_warps=warps)).asm["ptx"]

boxes = {
    name: f"tensordesc<bf16[{rows},64],{gl.NVMMASharedLayout.get_default_for([rows, 64], gl.bfloat16)!r}>"
    for name, rows in (("a", 128), ("b", 256))
}
stages = dict(BM=128, BN=256, STAGES=4, CHECKED=False)
made = {
    "chase, L2": ptx(chase.chase, 1, dict(start="i64"), FOLLOW=chase.FOLLOW_L2),
    "chase, L1": ptx(chase.chase, 1, dict(start="i64"), FOLLOW=chase.FOLLOW_L1),
    "chase, shared": ptx(chase.shared, 1, {}, WORK=chase.CHASE),
    "read, shared": ptx(chase.shared, 32, {}, WORK=chase.READ),
    "tma": ptx(tile_loads.load_by_tma, 1, boxes, **stages),
    "cp.async": ptx(tile_loads.load_by_cp_async, 8, dict(a="*bf16"), **stages),
}
for kind in stream.KINDS:
    made[kind] = ptx(stream.stream, 32, dict(x="*i32", y="*i32"), KIND=kind, GROUP=1)
for dtype, element in (("bf16", "bf16"), ("fp16", "fp16"), ("fp8", "fp8e4nv")):
    operands = dict(a="*" + element, b="*" + element, c="*fp32")
    made[dtype] = ptx(multiply.multiply, 8, operands, BM=128, BN=256, BK=128)
print(json.dumps(made))
"""

WORK = re.compile(
    r"\b(?:ld|st|atom|red)(?:\.volatile)?\.(?:global|shared)\S*"
    r"|\bcp\.async\.(?:bulk\.tensor|c[ag])\S*|\bwgmma\.mma_async\S*"
)


@pytest.fixture(scope="module")
def made():
    """{kernel: what it does between its first stamp and its last, in the order of its PTX}."""
    return {name: WORK.findall(between(ptx)) for name, ptx in json.loads(compiled(COMPILE)).items()}


def between(ptx):
    before, *inside, after = ptx.split("%clock64")
    assert inside and before and after
    return "".join(inside)


@pytest.mark.parametrize(
    ("kernel", "load"),
    [
        ("chase, L2", "ld.global.cg.u64"),
        ("chase, L1", "ld.global.ca.u64"),
        ("chase, shared", "ld.shared.u32"),
        ("read, shared", "ld.volatile.shared.v4.u32"),
    ],
)
def test_loads_of_one_kind_sixteen_between_two_branches(made, kernel, load):
    assert made[kernel] == [load] * 16


@pytest.mark.parametrize(("kind", "kinds"), [("read", {"ld"}), ("write", {"st"}), ("copy", {"ld", "st"})])
def test_streams_move_16_bytes_a_thread_past_the_l1(made, kind, kinds):
    moved = [one for one in made[kind] if ".global" in one]
    assert {one[:2] for one in moved} == kinds
    assert all(".v4" in one for one in moved)
    assert all(".cg" in one for one in moved if one.startswith("ld"))


def test_a_stage_is_loaded_and_nothing_else(made):
    assert {re.match(r"cp\.async\.bulk\.tensor\.2d\.shared", one)[0] for one in made["tma"]} == {
        "cp.async.bulk.tensor.2d.shared"
    }
    assert len(made["tma"]) == 4  # two boxes, before the loop and in it
    assert set(made["cp.async"]) == {"cp.async.cg.shared.global"}


@pytest.mark.parametrize(
    ("dtype", "operands"), [("bf16", "bf16.bf16"), ("fp16", "f16.f16"), ("fp8", "e4m3.e4m3")]
)
def test_tensor_cores_multiply_what_is_there(made, dtype, operands):
    assert made[dtype] and all(re.match(rf"wgmma\S+f32\.{operands}$", one) for one in made[dtype])
