"""Kernels that read the clock do one thing between two reads: in the PTX for a Hopper GPU."""

import json
import re

import pytest
from hopper_code import compiled

COMPILE = """
from tilesim_kernels.bench import divergence, latency_hiding, loop_unrolling
from tilesim_kernels.microbenchmarks import chase, multiply, stream, tile_loads
from tilesim_kernels.probes import spin

def ptx(kernel, warps, types, ctas=1, **values):
    names = kernel.arg_names
    types = {name: "constexpr" if name in values else types.get(name, "i32") for name in names}
    types["stamps"] = "*i64"
    aligned = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(names) if types[name][0] == "*"}
    source = GluonASTSource(kernel, types, {(names.index(n),): v for n, v in values.items()}, aligned)
    code = compile(source, target=HOPPER, options=dict(num_warps=warps, num_ctas=ctas))
    made_bytes.append(code.metadata.shared)
    return code.asm["ptx"]

boxes = {
    name: f"tensordesc<bf16[{rows},64],{gl.NVMMASharedLayout.get_default_for([rows, 64], gl.bfloat16)!r}>"
    for name, rows in (("a", 128), ("b", 256))
}
made_bytes, stages, loop = [], dict(BM=128, BN=256, STAGES=4, CHECKED=False), dict(x="*fp32", sums="*fp32")
vectors = dict(x="*fp32", y="*fp32", ends="*i64", a="fp32")
made = {
    "chase, L2": ptx(chase.chase, 1, dict(start="i64", took="*i32"), FOLLOW=chase.FOLLOW_L2),
    "chase, L1": ptx(chase.chase, 1, dict(start="i64", took="*i32"), FOLLOW=chase.FOLLOW_L1),
    "chase, shared": ptx(chase.shared, 1, {}, WORK=chase.CHASE),
    "read, shared": ptx(chase.shared, 32, {}, WORK=chase.READ),
    "tma": ptx(tile_loads.load_stages, 1, boxes, TMA=True, **stages),
    "cp.async": ptx(tile_loads.load_stages, 8, dict(a="*bf16", b="*bf16"), TMA=False, **stages),
    "axpy, stamped": ptx(latency_hiding.axpy, 32, vectors, WORK=latency_hiding.EACH_ROUND),
    "axpy": ptx(latency_hiding.axpy, 32, vectors, WORK=latency_hiding.ENDS_ONLY),
}
for kind in stream.KINDS:
    made[kind] = ptx(stream.stream, 32, dict(x="*i32", y="*i32"), KIND=kind, GROUP=1)
for dtype, element in (("bf16", "bf16"), ("fp16", "fp16"), ("fp8", "fp8e4nv")):
    operands = dict(a="*" + element, b="*" + element, c="*fp32")
    made[dtype] = ptx(multiply.multiply, 8, operands, BM=128, BN=256, BK=128)
for name, code in divergence.CODES.items():
    made[name] = ptx(divergence.diverge, 1, dict(asked="*i32", sums="*fp32"), CODE=code)
for loads in loop_unrolling.LOADS:
    for factor in (1, 4):
        code = loop_unrolling.sum_code(factor, loads, 32)
        made[f"{loads} {factor}"] = ptx(loop_unrolling.unrolled, 1, loop, CODE=code)
for chains in (1, 8):
    code = loop_unrolling.chains_code(chains)
    made[f"chains {chains}"] = ptx(loop_unrolling.unrolled, 1, loop, CODE=code)
for kb, warps, ctas in ((0, 1, 1), (200, 8, 1), (0, 32, 4)):
    made[f"spin {warps}"] = ptx(spin.spin, warps, {}, ctas, KB=kb, WARPS=warps, HELD=0)
    assert made_bytes[-1] == 1024 * kb
print(json.dumps(made))
"""


@pytest.fixture(scope="module")
def ptx():
    """The PTX of each kernel."""
    return json.loads(compiled(COMPILE))


def events(text, *patterns):
    """What a kernel does, in the order of its PTX."""
    return re.findall("|".join(patterns), text)


def joined(events):
    """Runs of the same event as one."""
    return [event for i, event in enumerate(events) if i == 0 or event != events[i - 1]]


@pytest.fixture(scope="module")
def work(ptx):
    """{kernel: what it does between its first stamp and its last}."""
    memory = r"\b(?:ld|st|atom|red)(?:\.volatile)?\.(?:global|shared)\S*"
    copies = r"\bcp\.async\.(?:bulk\.tensor|c[ag])\S*"
    inside = {name: "".join(text.split("%clock64")[1:-1]) for name, text in ptx.items()}
    return {name: events(text, memory, copies, r"\bwgmma\.mma_async\S*") for name, text in inside.items()}


def test_loads_of_one_kind_sixteen_between_two_branches(work):
    assert work["chase, L2"] == ["ld.global.cg.u64"] * 16
    assert work["chase, L1"] == ["ld.global.ca.u64"] * 16
    assert work["chase, shared"] == ["ld.shared.u32"] * 16
    assert work["read, shared"] == ["ld.volatile.shared.v4.u32"] * 16


@pytest.mark.parametrize(("kind", "kinds"), [("read", {"ld"}), ("write", {"st"}), ("copy", {"ld", "st"})])
def test_streams_move_16_bytes_a_thread_past_the_l1(work, kind, kinds):
    moved = [one for one in work[kind] if ".global" in one]
    assert {one[:2] for one in moved} == kinds
    assert all(".v4" in one and (".cg" in one or one.startswith("st")) for one in moved)


def test_a_stage_is_loaded_and_nothing_else(work):
    assert len(work["tma"]) == 4  # two boxes, before the loop and in it
    assert all(one.startswith("cp.async.bulk.tensor.2d.shared") for one in work["tma"])
    assert set(work["cp.async"]) == {"cp.async.cg.shared.global"}


def test_tensor_cores_multiply_what_is_there(work):
    for dtype, operands in (("bf16", "bf16.bf16"), ("fp16", "f16.f16"), ("fp8", "e4m3.e4m3")):
        assert work[dtype] and all(re.match(rf"wgmma\S+f32\.{operands}$", one) for one in work[dtype])


@pytest.mark.parametrize(("kernel", "stamps"), [("axpy, stamped", ["st.global"]), ("axpy", [])])
def test_axpy_reads_the_clock_after_the_branch_that_waits_for_its_loads(ptx, kernel, stamps):
    body = ptx[kernel].partition("again:")[2].partition("gone:")[0]
    loads = ["ld.global.cg"] * 2 + ["fma.rn"] * 4 + ["bra done"]
    turn = ["%clock64", *loads, "%clock64", "st.global", *stamps, "bra again"]
    found = events(body, "%clock64", r"ld\.global\.cg", r"st\.global", r"fma\.rn", r"\bbra (?:again|done)")
    assert found == [*turn, "st.global", "st.global"]


@pytest.mark.parametrize("name", ["spin 1", "spin 8", "spin 32"])
def test_all_that_a_spinning_block_does_is_between_its_stamps(ptx, name):
    found = events(ptx[name], "%clock64", r"st\.global", r"st\.shared", "stmatrix", r"\bbra\b", r"\bret;")
    # first stamp, its store, the loop, last stamp, its store
    usual = ["%clock64", "st.global", "%clock64", "bra", "%clock64", "st.global", "ret;"]
    assert found[0] == "%clock64"
    assert [one for one in joined(found) if one not in ("stmatrix", "st.shared")] == usual


def test_a_branch_has_code_of_its_own_for_each_way_and_stamps_around_it(ptx):
    text = ptx["branch"]
    assert text.count("brx.idx") == 1 and len(re.findall(r"^\s*way\d+:", text, re.M)) == 32
    addends = re.findall(r"add\.rn\.f32 x, x, (\d+)\.0;", text)
    assert [int(addend) for addend in addends] == [*range(1, 33)]
    assert text.count("%clock64") == 1 + 2 * 32 + 2
    for operation in ("add.rn.f32 x, x", "sub.rn.f32 x, x", "mul.rn.f32 x, x", "fma.rn.f32 x, x, one"):
        assert text.count(f"{operation}, one;") == 8 * 16
    assert text.count("fma.rn.f32 x, x, one, 64.0;") == 16


def test_a_turn_of_the_loop_is_so_many_dependent_multiply_adds(ptx):
    body = ptx["loop"].partition("turn:")[2].partition("@on bra turn")[0]
    assert body.count("fma.rn.f32 x, x, one, 1.0;") == 64 and "%clock64" not in body


@pytest.mark.parametrize("factor", [1, 4])
def test_loads_go_together_or_each_waits_for_the_value_before(ptx, factor):
    found = {}
    for loads in ("together", "one by one", "checked after"):
        body = ptx[f"{loads} {factor}"].partition("again:")[2].partition("@on bra again")[0]
        assert body.lstrip().startswith(".pragma")  # no compiler unrolls it further
        found[loads] = events(body, "@go ld", r"\bld", r"\badd\.f32", r"\bsetp\.ge")
    assert found["together"] == ["ld"] * factor + ["add.f32"] * factor
    assert found["one by one"] == ["@go ld", "setp.ge", "add.f32"] * factor
    assert found["checked after"] == ["ld"] * factor + ["setp.ge", "add.f32"] * factor


def test_chains_are_interleaved_and_of_one_length_in_all(ptx):
    for chains in (1, 8):
        adds = re.findall(r"fma\.rn\.f32 x(\d), x\1, one", ptx[f"chains {chains}"])
        assert [int(chain) for chain in adds] == [i % chains for i in range(64)]
