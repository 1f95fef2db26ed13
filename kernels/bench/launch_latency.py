"""launch_latency: four things that are called a launch, each timed for itself.

    host        the caller's thread, from the call to its return, the GPU idle or not
    stream      the GPU, from the last instruction of a kernel to the first of the next in the same stream
    graph       the same between two kernel nodes of a CUDA graph
    turnaround  an SM, from the last instruction of a thread block to the first of its successor

The kernels of the last three only spin (see kernels.probes.spin), long enough that the host is ahead.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
import triton

from tilesim.problems import Problem
from tilesim.products import Product

from ..launch.cublas import cublas
from ..launch.operands import matrices
from ..measure.machine import measuring, tick_ns
from ..measure.timing import capture, in_turns, spread
from ..probes.spin import blocks, gaps, launch, residents, shared_kb, sm_mhz, stamp_buffer
from .turnaround import CYCLES, ROUNDS, spun

WARPS = 4
AHEAD = 40_000_000
"""That the GPU spins before kernels in a stream: 20 ms, in which the host queues them all."""
KERNELS = 200
CALLS = 1_000
IN_A_ROW = 50
"""Calls between two waits for the GPU, so that its queue never fills."""
TOGETHER = 30
"""Products, one after another, from the first call until the GPU is done with the last."""

METHOD = (
    f"host: {CALLS} calls, {IN_A_ROW} between two waits for the GPU: of an empty Triton kernel of one block,"
    " of PyTorch's add on one element, of a CUDA graph of that kernel; host and wait: until the GPU is done;"
    " stream and graph: from the last end of a kernel's warps to the first begin of the next one's, by"
    f" %globaltimer, {KERNELS} kernels that spin {CYCLES} cycles, of one block of {32 * WARPS} threads or one"
    f" an SM; turnaround: {ROUNDS} blocks for each SM that spin {CYCLES} cycles to twice as many, one at a"
    f" time, by %clock64; figures over all repeats together; together: {TOGETHER} products by cuBLAS, by the"
    " host's clock until the GPU is done, called one by one or as one CUDA graph, and by the GPU's events"
    " where all are queued while it spins"
)


@triton.jit
def empty():
    """Does nothing."""


@measuring
def launch_latency(repeats: int = 9) -> dict[str, Any]:
    """Time every kind of launch: "repeats", "tick_ns", "sm_mhz", "rows" and "together".

    A row has launch ("host", "host and wait", "stream", "graph" or "turnaround"), what, blocks (of a kernel),
    count, ns (p20, p50, p80), mean_ns, and medians_ns (of each repeat). Together: how ("calls", "graph" or
    "queued"), size (M, N and K), products, and us (p20, p50, p80).
    """
    sms = torch.cuda.get_device_properties().multi_processor_count
    launch_empty = partial(empty[(1,)], num_warps=WARPS)
    calls: dict[str, Callable[[], object]] = {
        "Triton": launch_empty,
        "PyTorch": partial(torch.zeros(1, device="cuda").add_, 1),
        "CUDA graph": capture([launch_empty]).replay,
    }
    cases: dict[tuple[str, str, int], Callable[[], np.ndarray]] = {}
    for what, call in calls.items():
        cases["host", what, 1] = partial(_calls, call)
        cases["host and wait", what, 1] = partial(_calls, call, wait=True)
    for each in (1, sms):
        cases["stream", "kernels", each] = partial(_in_stream, each)
        cases["graph", "kernels", each] = _in_graph(each)
    cases["turnaround", "thread blocks", ROUNDS * sms] = partial(spun, 32 * WARPS, shared_kb() - 1, CYCLES)
    *seen, spins = in_turns(cases.values(), repeats)
    mhz = sm_mhz(spins)
    turned = [gaps(run, residents(run)) * 1000 / mhz for run in spins]
    return {
        "method": METHOD,
        "repeats": repeats,
        "tick_ns": tick_ns(),
        "sm_mhz": round(mhz),
        "rows": [row(*key, runs) for key, runs in zip(cases, [*seen, turned], strict=True)],
        "together": [one for size in (1024, 2048) for one in _together(size, repeats)],
    }


def row(launch: str, what: str, blocks: int, runs: list[np.ndarray]) -> dict[str, Any]:
    """What there is to say of one kind of launch; `runs`: ns of each launch, an array a repeat."""
    ns = np.concatenate(runs)
    return {
        "launch": launch,
        "what": what,
        "blocks": blocks,
        "count": len(ns),
        "ns": spread(ns, "p50", 1),
        "mean_ns": round(float(ns.mean()), 1),
        "medians_ns": [round(float(np.median(run)), 1) for run in runs],
    }


def between(kernels: np.ndarray) -> np.ndarray:
    """From each kernel's last end to the next one's first begin, ns: of BLOCK [kernels, blocks].

    >>> kernels = np.array([[(0, 10)], [(13, 20)]], [("begin_ns", int), ("end_ns", int)])
    >>> between(kernels).tolist()
    [3]
    """
    return kernels["begin_ns"].min(axis=1)[1:] - kernels["end_ns"].max(axis=1)[:-1]


def _calls(call: Callable[[], object], wait: bool = False, count: int = CALLS) -> np.ndarray:
    """ns of each of `count` calls; with `wait`, until the GPU is done with it."""
    took = np.empty(count)
    for number in range(count):
        if number % IN_A_ROW == 0:
            torch.cuda.synchronize()
        began = time.perf_counter_ns()
        call()
        if wait:
            torch.cuda.synchronize()
        took[number] = time.perf_counter_ns() - began
    torch.cuda.synchronize()
    return took


def _in_stream(each: int) -> np.ndarray:
    """ns between kernels of `each` blocks that are queued one by one while the GPU is busy."""
    stamps, ahead = stamp_buffer(KERNELS, each, WARPS), stamp_buffer(1, 1, WARPS)
    launch(stamps[0], CYCLES)
    torch.cuda.synchronize()
    launch(ahead[0], AHEAD)
    for kernel in stamps:
        launch(kernel, CYCLES)
    return between(blocks(stamps))


def _in_graph(each: int) -> Callable[[], np.ndarray]:
    """What replays a graph of kernels of `each` blocks, and returns the ns between them."""
    stamps = stamp_buffer(KERNELS, each, WARPS)
    graph = capture([partial(launch, kernel, CYCLES) for kernel in stamps])

    def replayed() -> np.ndarray:
        stamps.zero_()
        graph.replay()
        return between(blocks(stamps))

    return replayed


def _together(size: int, repeats: int) -> list[dict[str, Any]]:
    """Times of TOGETHER products, by calls, as a graph, and queued while the GPU spins."""
    product = Product.of(Problem(size, size, size))
    call = cublas(product.dtype, matrices(product, "cuda", 0))

    def calls() -> None:
        for _ in range(TOGETHER):
            call()

    graph = capture([call] * TOGETHER)
    ways = {
        "calls": partial(_calls, calls, True, 1),
        "graph": partial(_calls, graph.replay, True, 1),
        "queued": partial(_queued, calls),
    }
    return [
        {"how": name, "size": size, "products": TOGETHER, "us": spread(np.array(ns) / 1000, "p50", 2)}
        for name, ns in zip(ways, in_turns(ways.values(), 10 * repeats), strict=True)
    ]


def _queued(work: Callable[[], object]) -> float:
    """ns of the GPU, by its events."""
    ahead = stamp_buffer(1, 1, WARPS)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    launch(ahead[0], AHEAD // 10)
    begin.record()
    work()
    end.record()
    torch.cuda.synchronize()
    return 1e6 * begin.elapsed_time(end)
