"""record: run a kernel with its stamps on, and make a Trace of what they say."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from tilesim.devices import Device
from tilesim.orders import visit
from tilesim.problems import Problem
from tilesim.traces import SPAN, Trace

from ._clock import WORDS
from ._errors import KernelError
from ._inputs import gpu_memory, matrices, sets_beyond_l2
from ._launch import Variant, check, launcher, on_this_machine, variant
from ._machine import device as this_gpu
from ._machine import facts, tick_ns
from ._reference import gate
from ._timing import Rotation, capture, require_gpu, sample, spread


def record(
    schedule: str,
    problem: Problem,
    *,
    loads: str = "tma",
    overlap: bool = True,
    warps: int = 8,
    stages: int = 3,
    ctas_per_sm: int = 1,
    warmup: int = 10,
    repeats: int = 21,
    seed: int = 0,
) -> Trace:
    """A measured Trace of `schedule` ("naive" or "persistent") computing `problem` on this machine's GPU.

    `loads`: "tma", or "ptr" where TMA is not wanted or not possible. `overlap`: persistent with the next
    tile's loads under the epilogue. `ctas_per_sm`: thread blocks that persistent launches per SM; for
    naive it is what fits, as observed.

    The result is checked against float64 first. Then the kernel runs `repeats` rotations over operand
    sets with the stamps on and, in turn, as many with them compiled away. Of all stamped launches the most
    typical one is kept. The trace's meta says which, and how long the kernel took without (kernel_us) and
    with (recorded_us) the stamps.

    Raises KernelError without an NVIDIA GPU, for a schedule without a kernel, a dtype or tile that the
    kernels cannot do, or a wrong result.
    """
    check(problem)
    require_gpu()
    what, why = on_this_machine(variant(schedule, loads, overlap, warps, stages), problem)
    device = this_gpu(ctas_per_sm)
    with gpu_memory(problem):
        stamps, measured = run(what, problem, device.sms * ctas_per_sm, warmup, repeats, seed)
    meta = {"kernel": what.name, "warps": warps, "stages": stages, **measured, **facts()}
    if why:
        meta["fallback"] = why
    return trace(stamps, what, problem, device, tick_ns(), meta)


def run(
    what: Variant, problem: Problem, ctas: int, warmup: int, repeats: int, seed: int
) -> tuple[np.ndarray, dict[str, Any]]:
    """The stamps of the most typical launch, int64 [tiles, WORDS], and what is known beside."""
    sets = [matrices(problem, "cuda", seed + i) for i in range(sets_beyond_l2(problem))]
    stamps = torch.zeros(len(sets), problem.tiles, WORDS, dtype=torch.int64, device="cuda")
    plain = [launcher(what, problem, operands, ctas) for operands in sets]
    stamped = [launcher(what, problem, sets[i], ctas, stamps[i]) for i in range(len(sets))]
    errors = [gate(what.name, launches[0], problem, sets[0]) for launches in (plain, stamped)]

    seen: list[np.ndarray] = []
    rotations = {
        "plain": Rotation(capture(plain), len(sets)),
        "stamped": Rotation(
            capture(stamped), len(sets), stamps.zero_, lambda: seen.extend(stamps.cpu().numpy())
        ),
    }
    us = sample(rotations, warmup, repeats)
    kept, makespans = typical(np.array(seen))
    start, start_cycles, drain, drain_cycles = seen[kept][:, 2:6].T
    return seen[kept], {
        "kernel_us": spread(us["plain"])["us"],
        "recorded_us": spread(us["stamped"])["us"],
        "sm_mhz": round(1000 * float((drain_cycles - start_cycles).sum() / (drain - start).sum())),
        "relative_error": float(f"{max(errors):.3g}"),
        "kept": f"launch {kept} of {len(seen)}, nearest to the medians of makespan, main loop and epilogue",
        "makespan_ns": {f"p{p}": int(np.percentile(makespans, p)) for p in (20, 50, 80)},
    }


def typical(stamps: np.ndarray) -> tuple[int, np.ndarray]:
    """(index, makespans in ns) of launches' stamps [launches, tiles, WORDS].

    The launch whose makespan, mean main loop and mean epilogue are nearest to the medians over all: the
    median makespan alone can be that of a launch in which the GPU's clock had changed.
    """
    start, drain, done = stamps[:, :, 2], stamps[:, :, 4], stamps[:, :, 6]
    makespan = done.max(axis=1) - start.min(axis=1)
    features = np.stack([makespan, (drain - start).mean(axis=1), (done - drain).mean(axis=1)])
    off = np.abs(features / np.median(features, axis=1, keepdims=True) - 1)
    return int(np.argmin(off.sum(axis=0))), makespan


def trace(
    stamps: np.ndarray, what: Variant, problem: Problem, device: Device, tick: int, meta: dict[str, Any]
) -> Trace:
    """The Trace of one run's stamps [tiles, WORDS].

    A slot is a place on an SM that a CTA holds from its first start to its last done, given out greedily.
    A segment's issue is the slot's previous done, or, where that comes after its start (an overlapped
    epilogue), the previous drain; for the first in a slot it is the earliest start of all.
    """
    spans = np.zeros(len(stamps), SPAN)
    for field, column in {"cta": 0, "sm": 1, "start": 2, "drain": 4, "done": 6}.items():
        spans[field] = stamps[:, column]
    spans["tile"] = visit(problem)
    spans["k1"] = problem.k_steps
    spans["cycles"] = stamps[:, 5] - stamps[:, 3]
    spans["ready"] = spans["fixup"] = spans["drain"]
    spans["slot"] = slots(spans)
    residents = int(spans["slot"].max()) + 1
    if what.schedule == "naive":
        device = replace(device, ctas_per_sm=residents)
    elif residents > device.ctas_per_sm:
        raise KernelError(f"an SM held {residents} thread blocks at once; {device.ctas_per_sm} were expected")
    spans = spans[np.lexsort((spans["start"], spans["slot"], spans["sm"]))]
    before = np.roll(spans, 1)
    first = (spans["sm"] != before["sm"]) | (spans["slot"] != before["slot"])
    first[0] = True
    previous = np.where(before["done"] <= spans["start"], before["done"], before["drain"])
    spans["issue"] = np.where(first, spans["start"].min(), previous)
    return Trace(problem, device, what.schedule, spans, "measured", tick, meta)


def slots(spans: np.ndarray) -> np.ndarray:
    """The slot of each span, int64 [spans]: CTAs in the order they came take their SM's first free one."""
    ctas, index = np.unique(spans["cta"], return_inverse=True)
    start = np.full(len(ctas), np.iinfo(np.int64).max)
    done = np.zeros(len(ctas), np.int64)
    sm = np.zeros(len(ctas), np.int64)
    np.minimum.at(start, index, spans["start"])
    np.maximum.at(done, index, spans["done"])
    sm[index] = spans["sm"]
    slot = np.zeros(len(ctas), np.int64)
    free_at: dict[int, list[int]] = {}
    for cta in np.argsort(start, kind="stable"):
        held = free_at.setdefault(int(sm[cta]), [])
        place = next((i for i, until in enumerate(held) if until <= start[cta]), len(held))
        held[place : place + 1] = [int(done[cta])]
        slot[cta] = place
    return slot[index]
