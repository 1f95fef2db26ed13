"""What a chain of functions takes, as many kernels and as one: properties, and a GPU's times and counters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesim.devices.presets import presets
from tilesim.ideas.fusion import Chain, Memory, fitted, most_registers, ridge, time_us
from tilesim.ladder.reports import report, row

RATE = st.floats(1, 1e5)
MEMORIES = st.builds(Memory, RATE, RATE, st.integers(0, 2**30), RATE, st.floats(0, 100))
COUNTS = st.tuples(st.integers(1, 512), st.integers(1, 512)).map(sorted)
CHAINS = st.builds(
    lambda elements, counts, width: Chain(elements, *reversed(counts), width),
    st.integers(1, 2**32), COUNTS, st.sampled_from([2, 4, 8]),
)  # fmt: skip


@given(CHAINS, MEMORIES)
def test_n_kernels_move_n_times_the_bytes_and_take_no_less_than_those_do(chain, memory):
    fused = Chain(chain.elements, chain.functions, 1, chain.width)
    assert chain.moved == chain.kernels * fused.moved and chain.flops == fused.flops
    assert chain.intensity * chain.kernels == pytest.approx(fused.intensity)
    # What fits the L2 is read once, and what is written stays there.
    assert chain.fits(memory) == (2 * chain.tensor <= memory.l2_bytes)
    assert chain.dram_bytes(memory) == (chain.tensor if chain.fits(memory) else chain.moved)
    took = time_us(chain, memory)
    least = (
        chain.dram_bytes(memory) / memory.gb_per_s / 1e3,
        chain.flops / memory.tflops / 1e6,
        chain.kernels * memory.launch_us,
    )
    assert took >= 0.999 * max(least)


@given(st.integers(1, 2**32), st.integers(1, 512), MEMORIES)
def test_fusing_never_loses_and_wins_at_most_the_launches_and_the_bytes(elements, functions, memory):
    one_by_one, fused = (time_us(Chain(elements, functions, kernels), memory) for kernels in (functions, 1))
    assert 0.999 <= one_by_one / fused <= 1.001 * functions


@given(MEMORIES, st.integers(2, 2**20))
def test_beyond_the_ridge_a_longer_chain_takes_longer_and_before_it_does_not(memory, functions):
    one, more = (time_us(Chain(2**32, n, 1), memory) for n in (functions, functions + 1))
    if functions > ridge(memory) and memory.l2_gb_per_s >= memory.gb_per_s:
        assert more > one
    if functions + 1 < ridge(memory):
        assert more == one


@given(st.floats(100, 1e4), st.floats(100, 2000), st.sampled_from([4, 16, 32]))
def test_threads_of_the_most_registers_have_enough_bytes_on_their_way(rate, latency, loaded):
    found = most_registers(rate, latency, sms=132, loaded=loaded)
    if found:
        assert 132 * 65536 / found * loaded >= 0.999 * rate * latency
    assert 132 * 65536 / (found + 1) * loaded < rate * latency


def of_the_gpu() -> Memory:
    """What the shipped report was measured on: its launch and DRAM by rows of it, the rest as published."""
    h200 = presets()["h200"]
    published = h200["l2_gb_per_s"], int(h200["l2_mb"] * 1e6), h200["peak_tflops"]["fp32"]
    return fitted(report("fusion")["rows"], *published)


@given(st.floats(10, 1e4), st.floats(0.1, 10), st.integers(2, 16))
def test_a_report_of_the_model_s_own_times_gives_its_constants_back(rate, launch, longest):
    memory = Memory(rate, 1e5, 0, 1e5, launch)
    rows = [
        {"elements": n, "functions": count, "kernel": kernel,
         "us": time_us(Chain(n, count, count if kernel == "eager" else 1), memory)}
        for n in (2**10, 2**26) for count in (1, longest) for kernel in ("eager", "fused")
    ]  # fmt: skip
    found = fitted(rows, 1e5, 0, 1e5)
    assert found.gb_per_s == pytest.approx(rate, rel=0.01)
    assert found.launch_us == pytest.approx(launch + 2 * 4 * 2**10 / rate / 1e3)


def misses(elements: int, most: int = 2**20) -> dict[tuple[str, int], float]:
    """By how much of the measured time the model is off, by kernel and functions."""
    memory, found = of_the_gpu(), {}
    for one in report("fusion")["rows"]:
        name, functions = one["kernel"], one["functions"]
        if one["elements"] == elements and functions <= most:
            chain = Chain(elements, functions, functions if name == "eager" else 1)
            found[name, functions] = time_us(chain, memory) / one["us"] - 1
    return found


def test_beyond_the_l2_a_gpu_takes_what_the_model_says():
    off = misses(2**26, most=64)
    assert {name for name, _ in off} == {"eager", "torch.compile", "fused"}
    assert max(map(abs, off.values())) < 0.01


def test_where_arithmetic_binds_the_model_is_early_by_a_fifth_at_the_ridge_and_less_beyond():
    """On a GPU loads and arithmetic overlap less than wholly where both take as long."""
    off = [miss for (name, functions), miss in sorted(misses(2**26).items()) if functions >= 128]
    assert off == sorted(off, key=lambda miss: -abs(miss)) and -0.21 < off[0] < -0.15 and -0.05 < off[-1] < 0


def test_within_the_l2_the_model_leaves_out_how_a_kernel_begins():
    """It knows no latency, which 8 MB feel more than 268; so it says that fusing wins more than it does."""
    off = misses(2**21)
    assert all(-0.5 < miss < -0.15 for miss in off.values())
    rows = report("fusion")
    measured = [row(rows, elements=2**21, functions=8, kernel=name)["us"] for name in ("eager", "fused")]
    said = [time_us(Chain(2**21, 8, kernels), of_the_gpu()) for kernels in (8, 1)]
    assert measured[0] / measured[1] < said[0] / said[1] < 8


@pytest.mark.parametrize("elements", [2**26, 2**21])
def test_the_counters_of_a_gpu_find_the_bytes_of_the_model(elements):
    """But for what is still in the L2 when the profiler stops, at most as much as that holds."""
    memory = of_the_gpu()
    for one in report("fusion")["rows"]:
        if one["elements"] == elements and "dram_read_bytes" in one:
            chain = Chain(elements, one["functions"], one["functions"] if one["kernel"] == "eager" else 1)
            counted = one["dram_read_bytes"] + one["dram_write_bytes"]
            assert -memory.l2_bytes < counted - chain.dram_bytes(memory) < 0.001 * chain.moved
