"""The reduction ladder: sums by Triton's interpreter, trees in shared memory thread by thread."""

import json
import re
from types import SimpleNamespace

import ptx
import pytest
from hopper_code import compiled
from hypothesis import given
from hypothesis import strategies as st
from on_device import DEVICE, ON_GPU, torch, triton

from tilesim_kernels import KernelError
from tilesim_kernels.bench import reductions
from tilesim_kernels.reductions import ADDED, STEPS, THREADS, launches, summing

TREES = STEPS[:3]
RAGGED = [1, 31, 256, 257, 2048, 2049]
if ON_GPU:
    RAGGED = [1, 2, 255, 257, 2049, 10**6 + 7, 2**24, 3 * 10**8 + 1]

each_step = pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)


@pytest.fixture(autouse=True)
def blocks(monkeypatch):
    """The thread blocks that added a tree in this test, in order."""
    seen = []
    if not ON_GPU:
        monkeypatch.setattr(triton.language, "inline_asm_elementwise", ptx.inline_asm(seen, THREADS))
    return seen


def summed(step, n):
    """The relative error of a step that has passed the gate."""
    x = torch.empty(n)
    return reductions.verified_sum(step.name, summing(step, x, 1), x, torch.Generator().manual_seed(0))


@pytest.mark.on_device
@each_step
def test_any_length_the_same_each_time(step, blocks):
    random = torch.Generator(DEVICE).manual_seed(0)
    three_launches = [THREADS**2 + 1] * (step is STEPS[1])
    for n in RAGGED + three_launches:
        blocks.clear()
        x = torch.empty(n, device=DEVICE)
        made = summing(step, x, reductions.slots() if ON_GPU else 1)
        reductions.verified_sum(step.name, made, x, random)
        assert ON_GPU or bool(blocks) == (step in TREES)
        if ON_GPU or n == 257:  # the interpreter takes long for more
            first = made.sums.clone()
            made.sums.fill_(torch.nan)
            made.launch()
            assert torch.equal(made.sums, first)


@each_step
def test_nothing_beyond_the_vector_is_read(step):
    """Nor left out where two of a wave's blocks stride over five chunks."""
    memory = torch.full((11_000,), torch.nan)
    memory[:9001] = 1
    made = summing(step, memory[:9001], slots=2)
    made.launch()
    assert float(made.sums[-1]) == 9001


@each_step
@given(n=st.integers(1, 2**38), slots=st.integers(1, 3000))
def test_launches_take_what_the_last_ones_left(step, n, slots):
    made = launches(step, n, slots)
    assert made[0][0] == n and made[-1][1] == 1
    assert [values for values, _ in made[1:]] == [blocks for _, blocks in made[:-1]]
    for values, blocks in made:
        assert 1 <= blocks <= -(-values // step.values_per_block) and blocks < 2**31
        assert step.wave or blocks * step.values_per_block >= values
    assert not step.wave or (len(made) <= 2 and made[0][1] <= slots)


class TestTrees:
    """Shared memory as the PTX touches it. After the first store, a level reads twice and writes once."""

    @pytest.mark.parametrize("step", TREES, ids=lambda step: step.name)
    def test_eight_levels_each_half_as_wide(self, step, blocks):
        """Neighbours first meet in few banks, halves in none."""
        summed(step, 1)
        first, *levels = blocks[0].ways
        assert first == [1] * 8
        assert [len(warps) for warps in levels[::3]] == [4, 2, 1, 1, 1, 1, 1, 1]
        assert levels[::3] == levels[1::3] == levels[2::3]
        neighbours = step is STEPS[0]
        assert [max(warps) for warps in levels[::3]] == ([2, 4, 8, 8, 8, 4, 2, 1] if neighbours else [1] * 8)
        assert sum(map(sum, levels[::3])) == (47 if neighbours else 12)

    @pytest.mark.parametrize("step", TREES[:2], ids=lambda step: step.name)
    @pytest.mark.parametrize(
        ("right", "wrong", "error", "sentence"),
        [
            ("bar.sync 0;", "", triton.runtime.errors.InterpreterError, "a race between two threads"),
            ("stride, 1;", "stride, 2;", KernelError, "half-integers wrong"),
        ],
    )
    def test_a_tree_that_is_wrong_is_seen(self, step, right, wrong, error, sentence, monkeypatch):
        """The same tree without its barrier, or with other strides."""
        run = ptx.inline_asm([], THREADS)

        def broken(asm, *args, **options):
            return run(ptx.source(asm).replace(right, wrong), *args, **options)

        monkeypatch.setattr(triton.language, "inline_asm_elementwise", broken)
        with pytest.raises(error, match=sentence):
            summed(step, 300)


COMPILE = """
from tilesim_kernels.reductions import STEPS, WARPS

made = {}
for step in STEPS:
    source = ASTSource(step.kernel, dict(x="*fp32", sums="*fp32", n="i32"), {}, {})
    code = compile(source, target=HOPPER, options=dict(num_warps=WARPS))
    made[step.name] = code.asm["sass"]
print(json.dumps(made))
"""
WORDS = ("LDG", "STS", "LDS", "BAR", "SHFL", "FADD", "STG")


@pytest.fixture(scope="module")
def machine_code():
    """The instructions of WORDS that each step has on a Hopper GPU, in order."""
    code = json.loads(compiled(COMPILE))
    return {name: re.findall(rf"\b(?:{'|'.join(WORDS)})\b", sass) for name, sass in code.items()}


def test_two_trees_are_one_loop_over_levels(machine_code):
    level = ["BAR", "LDS", "LDS", "FADD", "STS"]
    for name in ("interleaved", "sequential"):
        assert machine_code[name] == ["LDG", "STS", *level, "STG"]


def test_the_others_have_their_loads_in_flight_before_they_add(machine_code):
    """And of these two have shuffles in place of the tree."""
    for name in ("unrolled", "shuffles", "multi-block"):
        words = machine_code[name]
        assert words.index("FADD") == words.count("LDG") == ADDED
        assert words.count("SHFL") == (0 if name == "unrolled" else 5 + 3)
        assert name == "unrolled" or words.count("BAR") <= 2


def test_a_vector_that_does_not_fit(monkeypatch):
    here = SimpleNamespace(total_memory=10**9, L2_cache_size=10**6)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda: here)
    sentence = "63000000 values of fp32 take 0.3 GB, needed 4 times, to copy them as well; this GPU has 1"
    with pytest.raises(KernelError, match=sentence), reductions._memory(63_000_000):
        raise AssertionError("the work began")
    with pytest.raises(KernelError, match="needed 24 times"), reductions._memory(64 * 1024):
        raise torch.OutOfMemoryError("out of memory")


class TestTheGate:
    N = 3000

    def gate(self, launch):
        """What the gate says of `launch(x, sums)`."""
        x, sums = torch.empty(self.N), torch.empty(2)
        made = reductions.Summing(lambda: launch(x, sums), sums)
        return reductions.verified_sum("mine", made, x, torch.Generator().manual_seed(3))

    @pytest.mark.parametrize(
        ("launch", "sentence"),
        [
            (lambda x, sums: sums[-1:].copy_(x[1:].sum()), "the sum of 3000 half-integers wrong: .*, so it"),
            (lambda x, sums: sums[-1:].copy_(x.sum() + x[7]), "half-integers wrong"),
            (lambda x, sums: None, "error is nan"),
            (lambda x, sums: sums[-1:].copy_(x.sum() + 0 * sums[0]), "error is nan"),
        ],
        ids=["one left out", "one taken twice", "not written", "of one not written"],
    )
    def test_sees_a_wrong_sum(self, launch, sentence):
        with pytest.raises(KernelError, match=sentence):
            self.gate(launch)

    def test_sees_sums_that_are_not_fp32(self):
        """Half-integers are exact in bf16 too where they are few."""
        self.N = 16
        with pytest.raises(
            KernelError, match=r"the sum of 16 fractions wrong: its relative error is .*e-0[34]"
        ):
            self.gate(lambda x, sums: sums[-1:].copy_(x.bfloat16().float().sum()))
