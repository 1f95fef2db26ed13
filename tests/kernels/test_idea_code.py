"""The kernels of ideas do what their benches say, as the machine code for a Hopper GPU shows."""

import json
import re

import pytest
from hopper_code import compiled

COMPILE = """
from tilesim_kernels.bench import divergence, loop_unrolling

def made(kernel, code, **types):
    names = kernel.arg_names
    types = {name: types.get(name, "constexpr") for name in names}
    source = GluonASTSource(kernel, types, {(names.index("CODE"),): code}, {})
    return compile(source, target=HOPPER, options=dict(num_warps=1)).asm["ptx"]

ways = {name: made(divergence.diverge, code, asked="*i32", sums="*fp32", stamps="*i64", one="i32")
        for name, code in divergence.CODES.items()}
loop = dict(stamps="*i64", x="*fp32", sums="*fp32", turns="i32", one="i32")
sums = {f"{loads} {factor}": made(loop_unrolling.unrolled, loop_unrolling.sum_code(factor, loads, 32), **loop)
        for loads in loop_unrolling.LOADS for factor in (1, 4)}
chains = {f"chains {n}": made(loop_unrolling.unrolled, loop_unrolling.chains_code(n), **loop) for n in (1, 8)}
print(json.dumps(ways | sums | chains))
"""


@pytest.fixture(scope="module")
def ptx():
    """The PTX of each kernel."""
    return json.loads(compiled(COMPILE))


def events(text, *patterns):
    """What a kernel does, in the order of its PTX."""
    return re.findall("|".join(patterns), text)


def test_a_branch_has_code_of_its_own_for_each_way_and_stamps_around_it(ptx):
    text = ptx["branch"]
    assert text.count("brx.idx") == 1 and len(re.findall(r"^\s*way\d+:", text, re.M)) == 32
    addends = re.findall(r"fma\.rn\.f32 x, x, one, (\d+)\.0;", text)
    assert {int(addend) for addend in addends} == {*range(1, 33), 64}
    assert text.count("%clock64") == 1 + 2 * 32 + 2
    assert len(addends) == 33 * 16


def test_a_turn_of_the_loop_is_so_many_dependent_multiply_adds(ptx):
    body = ptx["loop"].partition("turn:")[2].partition("@on bra turn")[0]
    assert body.count("fma.rn.f32 x, x, one, 1.0;") == 64 and "%clock64" not in body


@pytest.mark.parametrize("factor", [1, 4])
def test_loads_go_together_or_each_waits_for_the_value_before(ptx, factor):
    found = {}
    for loads in ("together", "one by one"):
        body = ptx[f"{loads} {factor}"].partition("again:")[2].partition("@on bra again")[0]
        assert body.lstrip().startswith(".pragma")  # no compiler unrolls it further
        found[loads] = events(body, "@go ld", r"\bld", r"\badd\.f32", r"\bsetp\.ge")
    assert found["together"] == ["ld"] * factor + ["add.f32"] * factor
    assert found["one by one"] == ["@go ld", "add.f32", "setp.ge"] * factor


def test_chains_are_interleaved_and_of_one_length_in_all(ptx):
    for chains in (1, 8):
        adds = re.findall(r"fma\.rn\.f32 x(\d), x\1, one", ptx[f"chains {chains}"])
        assert [int(chain) for chain in adds] == [i % chains for i in range(64)]
