"""Formulas on pages: they agree with the models of tilesim, and a browser computes what Python does."""

import numpy as np
import pytest
from formulas import FENCED, form, read, results
from pages import DOCS, ROOT

from tilesim import Costs, Device, Problem, orders, simulate
from tilesim.analysis.roofs import product_bytes
from tilesim.devices.occupancy import occupancy
from tilesim.ideas import (
    coalescing,
    divergence,
    fusion,
    l2_order,
    latency_hiding,
    launch_latency,
    loop_unrolling,
    pipelining,
    reduction,
    tiling_hierarchy,
    warp_specialization,
)
from tilesim.ladder.steps import ridge, roofline

BLOCKS = {page.stem: found[1] for page in DOCS for found in FENCED.finditer(page.read_text("utf-8"))}


def makespan(schedule, tiles, device, costs, steps=1):
    """The time of a product of that many tiles, each of one step or as many as given."""
    problem = Problem(tiles, 1, steps, tile=(1, 1, 1))
    return simulate(schedule, problem, device, costs).makespan


def busy_sms(tiles, sms, held):
    rounds = Device(sms, busy_sms=held)
    return [makespan(name, tiles, rounds, Costs.ideal()) / 1000 for name in ("naive", "persistent")]


def of_coalescing(width, stride):
    load = coalescing.moved(coalescing.strided(stride), width)
    return load.sectors, load.moved, load.useful


def of_divergence(cases, instructions):
    counted = divergence.branch(divergence.alternating(cases), [instructions] * cases)
    return counted.issued, counted.active


def execution_model(threads, registers, shared):
    found = occupancy("h200", threads, registers, shared)
    limits = {use.limit: use.blocks for use in found.uses}
    return -(-threads // 32), limits["registers"], limits["shared memory"], found.residents


def of_fusion(functions, values, gb_per_s, tflops, launch):
    memory = fusion.Memory(gb_per_s, 10 * gb_per_s, 1, tflops, launch)
    chains = [fusion.Chain(values, functions, kernels) for kernels in (functions, 1)]
    each, fused = (fusion.time_us(chain, memory) for chain in chains)
    return each, fused, each / fused


def of_l2_order(working, rows):
    fetched = l2_order.blocks(orders.grouped(working, working, rows)[:working], working, 1)[-1].sum()
    return fetched, fetched / (2 * working)


def of_latency_hiding(warps, latency, interval):
    rate = latency_hiding.throughput(warps, latency, interval)
    wait = latency_hiding.wait(warps, latency, interval)
    return 1000 * rate, wait, latency_hiding.enough(latency, interval)


def of_launch_latency(kernel, call, gap):
    times = kernel, call, gap
    return launch_latency.each(*times), launch_latency.idle(*times), launch_latency.hides(call, gap)


def of_loop_unrolling(factor, warps, sms, latency, peak):
    flying = loop_unrolling.in_flight(factor, warps, sms)
    return flying, loop_unrolling.rate(flying, latency, peak)


def memory_hierarchy(size, m, n):
    problem = Problem(size, size, size, tile=(m, n, 64))
    loaded = problem.tiles * (product_bytes(m, n, size, "bf16") - 2 * m * n) / 1e6
    stored = (product_bytes(size, size, size, "bf16") - 2 * size**2) / 1e6
    return loaded, stored, loaded / stored


def of_race(tiles, sms, launch, load, multiply, write):
    launch, load, step, write = (round(1000 * time) for time in (launch, load, multiply, write))
    whole = Costs(step, launch=launch, prologue=load, tile_gap=load, epilogue=write)
    overlapped = Costs(step, launch=launch, prologue=load, epilogue=write, overlap=True)
    kernels = ("naive", whole), ("persistent", whole), ("persistent", overlapped)
    return -(-tiles // sms), *(makespan(name, tiles, Device(sms), costs) / 1000 for name, costs in kernels)


def of_reduction(numbers, threads, alone):
    levels = reduction.sequential(threads)
    return -(-numbers // (threads * alone)), len(levels), np.mean([len(one.owns) for one in levels])


def of_roofline(peak, gb_per_s, operations, moved):
    return float(roofline(operations / moved, peak, gb_per_s)), ridge(peak, gb_per_s) * moved


def split_k(tiles, sms, steps):
    device, costs = Device(sms), Costs.ideal()
    times = [makespan(name, tiles, device, costs, steps) / 1000 for name in ("naive", "stream-k")]
    return *times, times[0] / times[1]


def of_tiling_hierarchy(m, n, width, rate):
    dtype = {1: "fp8", 2: "bf16"}[width]
    problem = Problem(2048, 2048, 2048, dtype=dtype, tile=(m, n, 64))
    tile = next(one for one in tiling_hierarchy.levels(problem, 8, "h200") if one.name == "block tile")
    return tile.intensity, tile.needs


def wave_quantization(tiles, sms):
    run = simulate("persistent", Problem(tiles, 1, 1, tile=(1, 1, 1)), Device(sms), Costs.ideal())
    return run.waves, run.utilization, 1 / run.utilization


def of_pipelining(load, multiply, buffers):
    one, more = (pipelining.k_step(stages, load, multiply) for stages in (1, buffers))
    return one, more, one / more


def of_stream_k(tiles, sms, steps):
    whole, shared, gain = split_k(tiles, sms, steps)
    return whole, shared, 1 - 1 / gain


def ping_pong(load, multiply, write):
    """The steady state of a model in whole ns, whose loads are fast."""
    load, multiply, write = (round(1000 * time) for time in (load, multiply, write))
    whole, half = (
        warp_specialization.Times(load, multiply // parts, write // parts, interval=1) for parts in (1, 2)
    )
    kinds = (whole, 1, {"producer": False}), (whole, 1, {}), (half, 2, {"groups": 2})
    for times, parts, how in kinds:
        short, long = (
            warp_specialization.timeline(times, parts * tiles, 1, stages=4, **how).makespan
            for tiles in (20, 30)
        )
        yield (long - short) / 10 / 1000


def one_tile(m, n, k, chunk, width):
    dtype = {1: "fp8", 2: "bf16", 4: "fp32"}[width]
    problem = Problem(m, n, k, tile=(m, n, chunk), dtype=dtype)
    strips = (product_bytes(m, n, k, dtype) - width * m * n) / 1024
    return strips, problem.k_step_bytes / 1024, problem.k_steps


MODELS = {
    "busy-sms": (busy_sms, [(528, 132, 1), (64, 16, 9)]),
    "coalescing": (of_coalescing, [(4, 4), (16, 16), (4, 0), (8, 24), (4, 4096)]),
    "divergence": (of_divergence, [(2, 10), (32, 7)]),
    "execution-model": (execution_model, [(128, 32, 1000), (320, 37, 0), (512, 65, 40000), (96, 128, 7000)]),
    "fusion": (of_fusion, [(1, 2**26, 4000, 60, 2.0), (400, 2**27, 4260, 67, 1.2)]),
    "l2-order": (of_l2_order, [(12, 4), (16, 1), (8, 8)]),
    "latency-hiding": (of_latency_hiding, [(4, 700, 100), (7, 700, 100), (64, 826, 95)]),
    "launch-latency": (of_launch_latency, [(9000, 5000, 1500), (100, 900, 1500)]),
    "loop-unrolling": (of_loop_unrolling, [(1, 8, 132, 346, 4683), (16, 32, 132, 346, 4683)]),
    "memory-hierarchy": (memory_hierarchy, [(2048, 64, 64), (8192, 256, 128)]),
    "race": (of_race, [(132, 132, 0.1, 0.5, 3.0, 1.0), (10, 4, 0.2, 1.0, 1.0, 1.0)]),
    "wave-quantization": (wave_quantization, [(132, 132), (10, 4), (661, 132)]),
    "pipelining": (of_pipelining, [(989, 662, 2), (100, 900, 3), (900, 100, 4)]),
    "stream-k": (of_stream_k, [(297, 132, 64), (9, 4, 32)]),
    "ping-pong": (ping_pong, [(0.5, 2.0, 1.0), (0.2, 1.0, 3.0)]),
    "one-tile": (one_tile, [(64, 64, 4096, 32, 4), (128, 128, 1024, 128, 1)]),
    "reduction": (of_reduction, [(2**20, 32, 1), (1000, 1024, 4)]),
    "roofline": (of_roofline, [(67, 4683, 1, 8), (67, 4683, 1024, 8)]),
    "split-k-and-friends": (split_k, [(165, 132, 64), (9, 4, 32), (264, 132, 10)]),
    "tiling-hierarchy": (of_tiling_hierarchy, [(64, 64, 2, 2048), (64, 128, 1, 4096)]),
}
"""For the formula of each page, a model that has the same results, and numbers other than the page's own."""
CASES = [
    pytest.param(page, given, id=f"{page}-{number}")
    for page, (_, others) in MODELS.items()
    for number, given in enumerate([(*read(BLOCKS[page]).given.values(),), *others])
]


def test_every_page_with_a_formula_is_tried():
    assert set(BLOCKS) == set(MODELS)


@pytest.mark.parametrize(("page", "given"), CASES)
def test_a_formula_has_the_results_of_a_model(page, given):
    formula = read(BLOCKS[page])
    found = results(formula, dict(zip(formula.given, given, strict=True)))
    modelled = MODELS[page][0](*given)
    assert list(found.values()) == pytest.approx(list(modelled), rel=1e-3)


def test_a_browser_computes_what_python_does(browser):
    context = browser.new_context()
    page = context.new_page()
    script = (ROOT / "docs" / "_static" / "formulas.js").read_text("utf-8")
    forms = "".join(map(form, BLOCKS.values()))
    page.set_content(f"<!doctype html><body>{forms}<script>{script}</script>")
    shown = "form => [...form.querySelectorAll('output')].map(output => output.value)"
    for number, (name, (_, others)) in enumerate((name, MODELS[name]) for name in BLOCKS):
        formula, here = read(BLOCKS[name]), page.locator("form").nth(number)
        for given in others:
            for field, value in zip(formula.given, given, strict=True):
                here.locator(f"input[name={field}]").fill(str(value))
            expected = results(formula, dict(zip(formula.given, given, strict=True))).values()
            found = [float(value.replace(",", "")) for value in here.evaluate(shown)]
            assert found == pytest.approx(list(expected), rel=1e-3), name
    here.locator("input").first.fill("-1")
    assert set(here.evaluate(shown)) == {"–"}
    context.close()


def test_a_line_that_says_nothing_and_what_a_browser_would_compute_differently_are_refused():
    for text in ("tiles = 5", "tiles", "# tiles"):
        with pytest.raises(ValueError, match="a line of a formula"):
            read(text)
    with pytest.raises(ValueError, match="cannot have the expression round"):
        form("a = 2.5  # a number\nb = round(a)  # a result\n")
