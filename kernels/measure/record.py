"""record: run a kernel with its stamps on, and make a Trace of what they say."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from tilesim.devices.device import Device
from tilesim.kernel_config import KernelConfig
from tilesim.problems import Problem
from tilesim.products import Product
from tilesim.spans.recorded_slots import complete
from tilesim.traces import SPAN, Trace

from ..errors import KernelError
from ..gemm.jobs import job
from ..gemm.stamps import WORDS
from ..launch.here import check, on_this_machine
from ..launch.job import Job
from ..launch.named import OWN, recordable
from ..launch.operands import gpu_memory, matrices, sets_beyond_l2
from .held_sms import HeldSMs, check_apart, hold_us
from .machine import device as this_gpu
from .machine import facts, tick_ns
from .reference import verify_result
from .timing import Rotation, capture, require_gpu, sample, spread, working_gpu


def record(
    schedule: str,
    problem: Problem,
    *,
    kernel: str = OWN,
    loads: str = "tma",
    overlap: bool = True,
    warps: int | None = None,
    stages: int | None = None,
    ctas_per_sm: int = 1,
    busy_sms: int = 0,
    warmup: int = 10,
    repeats: int = 21,
    seed: int = 0,
) -> Trace:
    """A measured Trace of `schedule` computing `problem` on this machine's GPU.

    `kernel`: "dedicated", the one written for the schedule (naive or persistent), or "table", which runs any.
    `loads`: "tma" or "ptr". `overlap`: the next segment's loads run during the epilogue. `warps` and
    `stages`: where not given, what suits the tile and fits. `ctas_per_sm`: thread blocks that the schedule
    counts on per SM. `busy_sms`: so many SMs are held by another kernel meanwhile (see measure.held_sms), of
    which the schedule knows nothing; the stamps of every launch must show that it stayed away from them.

    The result is checked against float64 first. Then the kernel runs `repeats` rotations over operand sets
    with the stamps on and, in turn, as many with them compiled away; the meta has both times, kernel_us
    (without) and recorded_us. Of all stamped launches the most typical one is kept.

    Raises KernelError without an NVIDIA GPU, for a schedule without a kernel, a dtype or tile that the
    kernels cannot do, a plan that counts on more residents than fit, a wrong result, or a GPU that fails;
    TraceError for stamps that contradict themselves; what `plan` raises for the schedule.
    """
    product = Product.of(problem)
    config = recordable(kernel, schedule, problem, loads, overlap, ctas_per_sm, warps, stages)
    check(config, product)
    require_gpu()
    config, why = on_this_machine(config, product)
    device = this_gpu(ctas_per_sm)
    with gpu_memory(product), working_gpu():
        work = job(config, product, device)
        stamps, held, measured = typical_launch(work, config, product, warmup, repeats, seed, busy_sms)
        tick = tick_ns()
    meta = {"kernel_config": str(config), "launches": work.ctas, **measured, **facts()}
    if why:
        meta["fallback"] = why
    if busy_sms:
        others = [sm for sm in device.free_sms if sm not in set(held)]
        device = replace(device, busy_sms=busy_sms, sm_order=(*held, *others))
    return trace(stamps, work.rows, config.schedule, problem, device, tick, meta)


def typical_launch(
    work: Job, config: KernelConfig, product: Product, warmup: int, repeats: int, seed: int, busy_sms: int = 0
) -> tuple[np.ndarray, list[int], dict[str, Any]]:
    """(stamps of the most typical launch, int64 [rows, WORDS]; the SMs held then; figures of all of them)."""
    sets = [matrices(product, "cuda", seed + i) for i in range(sets_beyond_l2(product))]
    stamps = torch.zeros(len(sets), len(work.rows), WORDS, dtype=torch.int64, device="cuda")
    plain = [work.launcher(operands) for operands in sets]
    stamped = [work.launcher(operands, row) for operands, row in zip(sets, stamps, strict=True)]
    errors = []
    for launches in (plain, stamped):
        errors.append(verify_result(config.name, launches[0], product, sets[0]))
        work.check()

    seen: list[np.ndarray] = []
    held: list[list[int]] = []
    rotations = {"plain": Rotation(capture(plain), plain), "stamped": Rotation(capture(stamped), stamped)}
    hold = still_held = lambda: None
    if busy_sms:
        alone = sample(rotations, 1, 3)["stamped"].max() * len(sets)
        holder = HeldSMs(busy_sms, hold_us(alone, busy_sms))
        hold, still_held = holder.hold, holder.check

    def before() -> None:
        stamps.zero_()
        hold()

    def after() -> None:
        still_held()
        launches = stamps.cpu().numpy()
        if busy_sms:
            spun = holder.blocks()
            check_apart(launches, spun)
            held.extend([spun["sm"].tolist()] * len(sets))
        seen.extend(launches)

    rotations["stamped"] = replace(rotations["stamped"], before=before, after=after)
    rotations["plain"] = replace(rotations["plain"], before=hold, after=still_held)
    us = sample(rotations, warmup, repeats)
    work.check()
    kept, makespans = nearest_to_medians(np.array(seen))
    start, start_cycles, drain, drain_cycles = seen[kept][:, 2:6].T
    figures = {
        "kernel_us": spread(us["plain"])["us"],
        "recorded_us": spread(us["stamped"])["us"],
        "sm_mhz": round(1000 * float((drain_cycles - start_cycles).sum() / (drain - start).sum())),
        "relative_error": max(errors),
        "kept": f"launch {kept} of {len(seen)}, nearest to the medians of makespan, main loop and epilogue",
        "makespan_ns": percentiles(makespans),
    }
    return seen[kept], held[kept] if held else [], figures


def nearest_to_medians(stamps: np.ndarray) -> tuple[int, np.ndarray]:
    """(index, makespans in ns) of launches' stamps [launches, rows, WORDS]. The launch whose makespan, mean
    main loop and mean epilogue are nearest to the medians over all: the median makespan alone can be that of
    a launch in which the GPU's clock had changed."""
    start, drain, done, entry = (stamps[:, :, word] for word in (2, 4, 6, 8))
    makespan = done.max(axis=1) - np.where(entry > 0, entry, start).min(axis=1)
    features = np.stack([makespan, (drain - start).mean(axis=1), (done - drain).mean(axis=1)])
    off = np.abs(features / np.median(features, axis=1, keepdims=True) - 1)
    return int(np.argmin(off.sum(axis=0))), makespan


def trace(
    stamps: np.ndarray, rows: np.ndarray, schedule: str, problem: Problem, device: Device, tick: int,
    meta: dict[str, Any],
) -> Trace:  # fmt: skip
    """The Trace of one run's stamps [rows, WORDS] of the segments `rows`; see tilesim.spans.recorded_slots.

    A plan of more thread blocks than the device has slots makes them queue: such a device gets the residents
    that were seen. The meta also tells launch_ns, from a block's end to the first instruction of the next in
    its slot, and prologue_ns, from there to the first multiply: percentiles over thread blocks.

    Raises KernelError where other numbers of blocks were resident than the plan counts on, and TraceError.
    """
    spans = np.zeros(len(stamps), SPAN)
    for name in ("tile", "k0", "k1"):
        spans[name] = rows[name]
    for field, column in {"cta": 0, "sm": 1, "start": 2, "drain": 4, "done": 6}.items():
        spans[field] = stamps[:, column]
    owns = stamps[:, 10] > 0
    spans["ready"] = np.where(owns, stamps[:, 9], spans["drain"])
    spans["fixup"] = np.where(owns, stamps[:, 10], spans["drain"])
    spans["cycles"] = stamps[:, 5] - stamps[:, 3]
    _, cta = np.unique(stamps[:, 0], return_inverse=True)
    entry = np.zeros(int(cta.max()) + 1, np.int64)
    np.maximum.at(entry, cta, stamps[:, 8])  # stamped in one row of a thread block, 0 in the others
    entry = entry[cta]
    spans = complete(spans, entry)
    residents = int(spans["slot"].max()) + 1
    # blocks that are there at once have work each, or draw some from the queue while it lasts
    drawn = (rows["cta"] < 0).any()
    at_work = min(meta["launches"], len(rows)) if drawn else len(np.unique(spans["cta"]))
    if meta["launches"] > device.slots:
        device = replace(device, ctas_per_sm=residents)
    elif not -(-at_work // device.sms) <= residents <= device.ctas_per_sm:
        raise KernelError(
            f"the plan counts on {device.ctas_per_sm} thread blocks per SM, and an SM held {residents} at"
            " once; how many fit follows from a block's shared memory, so take other stages, a smaller tile"
            " or another number"
        )
    device = replace(device, sm_order=_filled(spans, device))
    first = _firsts(spans)
    later = first[spans["issue"][first] > spans["issue"].min()]
    waits = {"launch_ns": (entry - spans["issue"])[later], "prologue_ns": (spans["start"] - entry)[first]}
    meta = meta | {name: percentiles(ns) for name, ns in waits.items() if ns.size}
    return Trace(problem, device, schedule, spans, "measured", tick, meta)


def _filled(spans: np.ndarray, device: Device) -> tuple[int, ...]:
    """The SM of each slot in the order in which this launch filled them, those that it left as is usual.
    Chips differ in it, and where an SM holds several thread blocks, launches do. Where thread blocks took
    turns in a slot while others were free, as in Triton's interpreter, there is none: the device's stays. SMs
    that another kernel held come first."""
    held = tuple(dict.fromkeys(device.sm_order or range(device.sms)))[: device.busy_sms] * device.ctas_per_sm
    order = spans["sm"][_firsts(spans)][: device.slots].tolist()
    if max(Counter(order).values()) > device.ctas_per_sm:
        return device.sm_order
    return (*held, *order, *(Counter(device.filling) - Counter(order)).elements())


def _firsts(spans: np.ndarray) -> np.ndarray:
    """The rows that are their thread block's first segment, by cta: int64, shape [ctas with work]."""
    by_cta = np.lexsort((spans["start"], spans["cta"]))
    return by_cta[np.unique(spans["cta"][by_cta], return_index=True)[1]]


def percentiles(ns: np.ndarray) -> dict[str, int]:
    return {f"p{p}": int(np.percentile(ns, p)) for p in (20, 50, 80)}
