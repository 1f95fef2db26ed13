"""The host's own y = a * x + y, and its memory's latency."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .timing import spread

VALUES = 2**27
"""Of each vector, fp32: 512 MiB, more than the caches of a host hold."""
PLACES = 2**27
"""Of a chase, 8 bytes each."""
HOPS = 200_000


def axpy_by_threads(repeats: int) -> dict[str, Any]:
    """What the host takes for y = a * x + y by PyTorch, by its number of threads, in JSON values.

    "name" and "cores" of the host, "latency_ns" of a load that depends on the one before, beyond what it
    takes in the nearest cache, and "rows": threads, ns (an element; p20, p50, p80 over repeats), gb_per_s
    (two words read and one written, by the median).
    """
    cores = len(os.sched_getaffinity(0))
    x, y = torch.rand(VALUES), torch.rand(VALUES)
    before = torch.get_num_threads()
    rows = []
    try:
        for threads in sorted({2**i for i in range(cores.bit_length()) if 2**i < cores} | {cores}):
            torch.set_num_threads(threads)
            ns = []
            for _ in range(repeats + 1):
                began = time.perf_counter()
                y.add_(x, alpha=1e-3)
                ns.append((time.perf_counter() - began) * 1e9 / len(x))
            each = spread(ns[1:], "p50", 5)
            rows.append({"threads": threads, "ns": each, "gb_per_s": round(12 / each["p50"], 2)})
    finally:
        torch.set_num_threads(before)
    far, near = _chase(PLACES), _chase(2**9)  # which the nearest cache holds
    latency = np.median([far() - near() for _ in range(repeats)])
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return {
        "name": next(names, ""),
        "cores": cores,
        "latency_ns": round(float(latency), 1),
        "rows": rows,
    }


def _chase(places: int) -> Callable[[], float]:
    """A walk from a place to the one that stands there, all of them one cycle in random order. Each call goes
    on for HOPS and returns the ns of a hop, with the interpreter's own work in it."""
    order = torch.randperm(places, device="cuda" if torch.cuda.is_available() else "cpu")
    follows = torch.empty_like(order)
    follows[order] = order.roll(-1)
    # NumPy asks Linux for huge pages, without which a hop would be a walk through page tables as well.
    ring = memoryview(np.array(follows.cpu().numpy()))
    at = 0

    def hop_ns() -> float:
        nonlocal at
        began = time.perf_counter()
        for _ in range(HOPS):
            at = ring[at]
        return (time.perf_counter() - began) * 1e9 / HOPS

    return hop_ns
