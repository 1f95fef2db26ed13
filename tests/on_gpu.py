"""The kernels as a GPU runs them, and the same with a pause of known length inserted at one place.

Importing this needs an NVIDIA GPU, and TRITON_INTERPRET=0 in the environment.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType

import numpy as np
import torch
import triton
import triton.language as tl
from on_device import config_named, inputs, jobs, reference

from tilesim import Problem, Trace
from tilesim.products import Product
from tilesim_kernels import KernelError, reductions
from tilesim_kernels.bench import reductions as sums
from tilesim_kernels.bench.memory import memory
from tilesim_kernels.gemm import naive, persistent, table
from tilesim_kernels.gemm import stamps as stamping
from tilesim_kernels.gemm.stamps import stamp_done, stamp_drain, stamp_entry, stamp_start, stamp_time
from tilesim_kernels.launch import here
from tilesim_kernels.launch.named import DEDICATED, named
from tilesim_kernels.measure import machine, timing
from tilesim_kernels.measure import record as recording
from tilesim_kernels.microbenchmarks import chase, multiply, stream, tile_loads

RECORDED = naive.naive, persistent.persistent, table.table_driven
"""The kernels that write stamps."""

LAUNCHES = 5
"""Of each pause; their median counts."""

__all__ = [
    "DEDICATED", "KernelError", "chase", "here",
    "memory", "multiply", "named", "reductions", "stream", "sums", "tile_loads",
]  # fmt: skip

CYCLES, TOOK, COUNT = 15, 14, 13
"""Words of the first row of stamps that no stamp uses: how many cycles to pause, the ns that all pauses took
together, as the clock differs between SMs, and how many there were.
"""


@triton.jit
def pause(stamps, when):
    """Every warp spins for stamps[CYCLES] cycles where `when` holds; a turn takes more than a cycle."""
    tl.inline_asm_elementwise(
        """{
        .reg .pred on;
        .reg .b32 tid;
        .reg .b64 began, now, wanted, turns, ns, end_ns;
        setp.ne.u32 on, $2, 0;
        @!on bra out;
        ld.volatile.global.u64 wanted, [$1 + 120];
        mov.u64 turns, wanted;
        mov.u64 ns, %globaltimer;
        mov.u64 began, %clock64;
        again:
        mov.u64 now, %clock64;
        sub.u64 now, now, began;
        setp.lt.u64 on, now, wanted;
        sub.u64 turns, turns, 1;
        setp.gt.and.s64 on, turns, 0, on;
        @on bra again;
        mov.u64 end_ns, %globaltimer;
        sub.u64 ns, end_ns, ns;
        mov.u32 tid, %tid.x;
        setp.eq.u32 on, tid, 0;
        @on red.global.add.u64 [$1 + 112], ns;
        @on red.global.add.u64 [$1 + 104], 1;
        out:
        mov.u32 $0, 0;
        }""",
        "=r,l,r", [stamps, tl.cast(when, tl.int32)], dtype=tl.int32, is_pure=False, pack=1,
    )  # fmt: skip


@triton.jit(do_not_specialize=["address"])
def write_to(address):
    """Write where nothing is, which ends all work on the GPU in this process."""
    tl.store(tl.cast(tl.cast(address, tl.int64), tl.pointer_type(tl.int32)), 1)


@triton.jit
def after_entry(stamps, i, when, time):
    stamp_entry(stamps, i, when, time)
    pause(stamps, i >= 0)


@triton.jit
def after_start(stamps, i, when):
    stamp_start(stamps, i, when)
    pause(stamps, when)


@triton.jit
def before_drain(stamps, i, acc):
    pause(stamps, i >= 0)
    return stamp_drain(stamps, i, acc)


@triton.jit
def after_drain(stamps, i, acc):
    acc = stamp_drain(stamps, i, acc)
    pause(stamps, i >= 0)
    return acc


@triton.jit
def after_done(stamps, i, when, TMA: tl.constexpr):
    stamp_done(stamps, i, when, TMA)
    pause(stamps, when)


@triton.jit
def after_partial(stamps, i, WHAT: tl.constexpr):
    stamp_time(stamps, i, WHAT)
    if WHAT == "done":
        pause(stamps, i >= 0)


@triton.jit
def before_ready(stamps, i, WHAT: tl.constexpr):
    if WHAT == "ready":
        pause(stamps, i >= 0)
    stamp_time(stamps, i, WHAT)


@triton.jit
def after_ready(stamps, i, WHAT: tl.constexpr):
    stamp_time(stamps, i, WHAT)
    if WHAT == "ready":
        pause(stamps, i >= 0)


@triton.jit
def after_fixup(stamps, i, WHAT: tl.constexpr):
    stamp_time(stamps, i, WHAT)
    if WHAT == "fixup":
        pause(stamps, i >= 0)


PAUSES = {
    "after entry": {"stamp_entry": after_entry},
    "after start": {"stamp_start": after_start},
    "before drain": {"stamp_drain": before_drain},
    "after drain": {"stamp_drain": after_drain},
    "after done": {"stamp_done": after_done, "stamp_time": after_partial},
    "before ready": {"stamp_time": before_ready},
    "after ready": {"stamp_time": after_ready},
    "after fixup": {"stamp_time": after_fixup},
}
"""What takes the place of a stamp in the shipped kernels, by where the pause then is."""


def patched_kernel(kernel: triton.JITFunction, others: dict[str, triton.JITFunction]) -> triton.JITFunction:
    """A copy of `kernel` and of what it calls in its own file, that calls `others` by these names."""
    module: ModuleType = sys.modules[kernel.fn.__module__]
    names = vars(module) | others
    for name, made in vars(module).items():
        if isinstance(made, triton.JITFunction) and made.fn.__module__ == module.__name__:
            copy = FunctionType(made.fn.__code__, names, made.fn.__name__, made.fn.__defaults__)
            copy.__annotations__ = made.fn.__annotations__
            names[name] = triton.jit(copy)
    return names[kernel.fn.__name__]


@contextmanager
def patched(others: dict[str, triton.JITFunction]) -> Iterator[None]:
    """Kernels that are recorded and prepared for launches in here call `others`."""
    copies = {kernel.fn: patched_kernel(kernel, others) for kernel in RECORDED}
    shipped = jobs.kernel_launch
    jobs.kernel_launch = lambda kernel, *rest, **more: shipped(copies.get(kernel.fn, kernel), *rest, **more)
    try:
        yield
    finally:
        jobs.kernel_launch = shipped


def ready_to_stamp(name: str, problem: Problem) -> tuple[Callable[[], None], torch.Tensor, jobs.Job]:
    """A launch of a kernel whose result was right, its stamps, and its job."""
    product = Product.of(problem)
    work = jobs.job(config_named(name, problem), product, machine.device(1))
    operands = inputs.matrices(product, "cuda", seed=3)
    stamps = torch.zeros(len(work.rows), stamping.WORDS, dtype=torch.int64, device="cuda")
    launch = work.launcher(operands, stamps)
    reference.verify_result(name, launch, product, operands)
    work.check()
    return launch, stamps, work


def as_trace(stamps: np.ndarray, work: jobs.Job, schedule: str, problem: Problem) -> Trace:
    """The trace that record makes of such stamps."""
    meta = {"launches": work.ctas}
    return recording.trace(stamps, work.rows, schedule, problem, machine.device(1), 1, meta)


def timed(name: str, problem: Problem, launches: int) -> tuple[np.ndarray, list[Trace]]:
    """µs of each of so many launches by the events around its graph, and the trace of the same launch."""
    launch, stamps, work = ready_to_stamp(name, problem)
    seen: list[np.ndarray] = []
    rotation = timing.Rotation(
        timing.capture([launch]), [launch], stamps.zero_, lambda: seen.append(stamps.cpu().numpy())
    )
    us = timing.sample({name: rotation}, 3, launches)[name]
    work.check()
    schedule = config_named(name, problem).schedule
    return us, [as_trace(each, work, schedule, problem) for each in seen]


def in_order(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """(spans by thread block and start, which of them are their thread block's last)."""
    spans = trace.spans[np.lexsort((trace.spans["start"], trace.spans["cta"]))]
    return spans, np.append(spans["cta"][1:] != spans["cta"][:-1], True)


def mean_intervals(trace: Trace) -> dict[str, float]:
    """The mean length of each kind of interval in a trace, in ns, and of the main loop in cycles.

    "epilogue", "store" and "gap" leave out segments whose `done` waits in the next segment's main loop.
    """
    spans, last = in_order(trace)
    exact = last | np.append(spans["start"][1:] >= spans["done"][:-1], True)
    after_exact = np.append(False, (exact & ~last)[:-1])
    owner = spans["fixup"] > spans["drain"]
    length = {
        "main loop": spans["drain"] - spans["start"],
        "cycles": spans["cycles"],
        "epilogue": (spans["done"] - spans["drain"])[exact & ~owner],
        "gap": (spans["start"] - spans["issue"])[after_exact],
        "wait": (spans["ready"] - spans["drain"])[owner],
        "fix-up": (spans["fixup"] - spans["ready"])[owner],
        "store": (spans["done"] - spans["fixup"])[owner & exact],
    }
    made = {name: float(values.mean()) for name, values in length.items() if len(values)}
    for name in ("launch_ns", "prologue_ns"):
        if name in trace.meta:
            made[name.removesuffix("_ns")] = float(trace.meta[name]["p50"])
    return made


def growth(
    name: str, problem: Problem, others: dict[str, triton.JITFunction], pauses: list[int]
) -> list[tuple[int, float, dict[str, float]]]:
    """What a kernel that calls `others` does at each pause (cycles) after the first, against the first.

    (cycles, ns by which the pause became longer, by how much each of `mean_intervals` did): medians.
    """
    with patched(others):
        launch, stamps, work = ready_to_stamp(name, problem)
    schedule = config_named(name, problem).schedule
    took, made = [], []
    for cycles in pauses:
        launches = []
        for _ in range(LAUNCHES):
            stamps.zero_()
            stamps[0, CYCLES] = cycles
            launch()
            launches.append(stamps.cpu().numpy())
        work.check()
        each = [mean_intervals(as_trace(one, work, schedule, problem)) for one in launches]
        took.append(float(np.median([one[0, TOOK] / one[0, COUNT] for one in launches])))
        made.append({part: float(np.median([one[part] for one in each])) for part in each[0]})
    return [
        (cycles - pauses[0], ns - took[0], {part: after[part] - made[0][part] for part in after})
        for cycles, ns, after in zip(pauses[1:], took[1:], made[1:], strict=True)
    ]
