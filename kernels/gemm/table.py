"""table: executes any Plan. Each thread block reads its segments from a table, then draws from the queue.

A row of the table is a segment: pid_m pid_n k0 k1 partial peers. The owner of a split tile adds `peers`
partials, from index `partial` on. A segment that stores a partial has no peers, and `partial` is its index. A
whole tile has partial = -1.

With FLATTEN, one loop covers the K-steps of all segments, so the next segment's loads run during the
epilogue. A thread block that draws from the queue does not know their number, so it has nested loops.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import torch
import triton
import triton.language as tl

from tilesim.devices.device import Device
from tilesim.kernel_config import KernelConfig
from tilesim.products import Product
from tilesim.schedules import plan

from ..launch.job import Job, KernelLaunch
from ..launch.operands import Matrices
from ..launch.plan_table import PlanTable, upload
from .jobs import STORE_WAIT_K_STEP, kernel_launch
from .split_fixup import add_partial, store_partial, wait_for_partial
from .stamps import entry_time, stamp_done, stamp_drain, stamp_entry, stamp_start, stamp_time
from .tile_ops import load, multiply, store_subtiles, wait_for_wgmma

ROW_WORDS = tl.constexpr(8)


@triton.jit
def load_segment(table, s):
    row = table + s * ROW_WORDS
    return (
        tl.load(row), tl.load(row + 1), tl.load(row + 2),
        tl.load(row + 3), tl.load(row + 4), tl.load(row + 5),
    )  # fmt: skip


@triton.jit
def epilogue(
    acc, c, s, pid_m, pid_n, partial, peers, partials, flags, fault, stamps, M, N,
    BM: tl.constexpr, BN: tl.constexpr, TMA: tl.constexpr, SPLIT: tl.constexpr, RECORD: tl.constexpr,
    WARPS: tl.constexpr, TIMEOUT_NS: tl.constexpr, EPILOGUE_SUBTILES: tl.constexpr,
):  # fmt: skip
    """After the main loop of segment s: store its partial, or fix up and store its tile."""
    if RECORD:
        acc = stamp_drain(stamps, s, acc)
    if SPLIT:
        acc = wait_for_wgmma(acc)  # without this wait before the branches, ptxas serializes the wgmma
        if (partial >= 0) & (peers == 0):
            store_partial(acc, partials, flags, partial, BM, BN)
            if RECORD:
                stamp_time(stamps, s, "done")
        else:
            if peers > 0:
                for i in range(peers):
                    wait_for_partial(flags, partial + i, fault, WARPS, TIMEOUT_NS)
                if RECORD:
                    stamp_time(stamps, s, "ready")
                for i in range(peers):
                    acc = add_partial(acc, partials, partial + i, BM, BN)
                if RECORD:
                    acc = wait_for_wgmma(acc)
                    stamp_time(stamps, s, "fixup")
            store_subtiles(EPILOGUE_SUBTILES, c, pid_m * BM, pid_n * BN, acc, M, N, BM, BN, TMA)
    else:
        store_subtiles(EPILOGUE_SUBTILES, c, pid_m * BM, pid_n * BN, acc, M, N, BM, BN, TMA)


@triton.jit
def table_driven(
    a, b, c,  # [M, K], [K, N], [M, N]: TMA descriptors or pointers
    table,  # int32 [segments + 2, 8], the last two rows zero, for reading ahead
    offsets,  # int32 [ctas + 1]: thread block i owns rows offsets[i] to offsets[i + 1]
    k_steps,  # int32 [ctas]: how many K-steps these have
    queue_head,  # int32 [1], zero: how many rows of the queue have been drawn
    queue_start, rows,  # the queue is the table's rows from `queue_start` to `rows`
    partials, flags, fault,  # see split_fixup; read and written only if SPLIT
    stamps,  # int64 [segments, 16], written only if RECORD
    M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    TMA: tl.constexpr, SPLIT: tl.constexpr, QUEUE: tl.constexpr, FLATTEN: tl.constexpr,
    RECORD: tl.constexpr, STORE_WAIT_K_STEP: tl.constexpr, WARPS: tl.constexpr, TIMEOUT_NS: tl.constexpr,
    EPILOGUE_SUBTILES: tl.constexpr = 1,  # see store_subtiles
    lda=None, ldb=None, TRANS_A: tl.constexpr = False, TRANS_B: tl.constexpr = False,  # see tile_ops
    PRECISION: tl.constexpr = "ieee",
):  # fmt: skip
    if RECORD:
        entered = entry_time(stamps)
    cta = tl.program_id(0)
    first = tl.load(offsets + cta)
    end = tl.load(offsets + cta + 1)
    if FLATTEN:
        own_k_steps = tl.load(k_steps + cta)
        if RECORD:
            stamp_entry(stamps, first, first < end, entered)
        s = first - 1
        k = -1
        k0, k1 = 0, 0
        pid_m, pid_n = 0, 0
        partial, peers = 0, 0
        stored_c = False  # whether the previous segment stored a tile of C
        acc = tl.zeros((BM, BN), tl.float32)
        for _ in tl.range(own_k_steps):
            # the pipeliner runs loads ahead only if their addresses are computed at the top
            if k == k1 - 1:
                stored_c = (s >= first) & ((partial < 0) | (peers > 0))
                s += 1
                pid_m, pid_n, k0, k1, partial, peers = load_segment(table, s)
                k = k0
            else:
                k += 1
            if RECORD:
                stamp_done(stamps, s - 1, (k + 1 == min(k0 + STORE_WAIT_K_STEP + 1, k1)) & stored_c, TMA)
            x = load(a, pid_m * BM, k * BK, M, K, lda, BM, BK, TMA, TRANS_A)  # [BM, BK]
            y = load(b, k * BK, pid_n * BN, K, N, ldb, BK, BN, TMA, TRANS_B)  # [BK, BN]
            if RECORD:
                stamp_start(stamps, s, k == k0)
            acc = multiply(x, y, acc, PRECISION)  # [BM, BN]
            if k == k1 - 1:
                epilogue(acc, c, s, pid_m, pid_n, partial, peers, partials, flags, fault, stamps, M, N,
                         BM, BN, TMA, SPLIT, RECORD, WARPS, TIMEOUT_NS, EPILOGUE_SUBTILES)  # fmt: skip
                acc = tl.zeros((BM, BN), tl.float32)
        if RECORD:
            stamp_done(stamps, s, (first < end) & ((partial < 0) | (peers > 0)), TMA)
    else:
        s = first
        if QUEUE and s == end:
            s = queue_start + tl.atomic_add(queue_head, 1)
        if RECORD:
            stamp_entry(stamps, s, s < rows, entered)
        previous = first - 1
        stored_c = False
        while s < (rows if QUEUE else end):
            pid_m, pid_n, k0, k1, partial, peers = load_segment(table, s)
            acc = tl.zeros((BM, BN), tl.float32)
            for k in range(k0, k1):
                if RECORD:
                    stamp_done(stamps, previous, (k == k0) & stored_c, TMA)
                x = load(a, pid_m * BM, k * BK, M, K, lda, BM, BK, TMA, TRANS_A)  # [BM, BK]
                y = load(b, k * BK, pid_n * BN, K, N, ldb, BK, BN, TMA, TRANS_B)  # [BK, BN]
                if RECORD:
                    stamp_start(stamps, s, k == k0)
                acc = multiply(x, y, acc, PRECISION)  # [BM, BN]
            epilogue(acc, c, s, pid_m, pid_n, partial, peers, partials, flags, fault, stamps, M, N,
                     BM, BN, TMA, SPLIT, RECORD, WARPS, TIMEOUT_NS, EPILOGUE_SUBTILES)  # fmt: skip
            previous = s
            stored_c = (partial < 0) | (peers > 0)
            s += 1
            if QUEUE and s >= end:
                s = queue_start + tl.atomic_add(queue_head, 1)
        if RECORD:
            stamp_done(stamps, previous, stored_c, TMA)
        # every thread block makes one draw too many; the last of these resets the counter
        if QUEUE and s == rows + tl.num_programs(0) - 1:
            tl.store(queue_head, 0)


SPLIT_STORE_WAIT_K_STEP = 2
"""See STORE_WAIT_K_STEP, where a plan splits tiles, whose owners wait for each other: at 1 stamps cost
stream-k-hybrid 2.9 % of the time at 4096x4096x512, at 2 they cost 2.4 %."""

TIMEOUT_NS = 2_000_000_000
"""How long a split tile's owner waits for a partial: longer than any product takes that fits into a GPU."""

SM_REGISTERS, MAX_REGISTERS = 65536, 255
"""Registers of an SM, and of a thread at most (CUDA C++ Programming Guide)."""


def job(config: KernelConfig, product: Product, device: Device, memory: str, concurrent: bool) -> Job:
    """The thread blocks and segments of the schedule's plan, which lies in the GPU's memory."""
    problem = config.problem(product)
    made = plan(config.schedule, problem, device)
    made.check(problem, device.slots)
    uploaded = upload(made, problem, memory, device.ctas_per_sm)
    if not concurrent:
        return Job(made.rows, made.ctas, partial(launch, config, product, uploaded), check=uploaded.check)
    uploaded = replace(uploaded, partials=uploaded.partials.to("meta"))  # each launch has its own

    def launcher(matrices: Matrices, stamps: torch.Tensor | None = None) -> KernelLaunch:
        made = launch(config, product, uploaded, matrices, stamps)
        return made.bound_to(matrices, uploaded.workspace())

    return Job(made.rows, made.ctas, launcher, uploaded.workspace)


def launch(
    config: KernelConfig, product: Product, plan_table: PlanTable, matrices: Matrices,
    stamps: torch.Tensor | None = None, timeout_ns: int = TIMEOUT_NS,
) -> KernelLaunch:  # fmt: skip
    queue = plan_table.rows > plan_table.queue_start
    # A thread block with one segment has nothing to overlap, and C then shares the stages' memory.
    overlap = config.overlap and plan_table.most_segments > 1 and not queue
    store_wait = SPLIT_STORE_WAIT_K_STEP if plan_table.split else STORE_WAIT_K_STEP
    arrays = ("table", "offsets", "k_steps", "queue_head", "queue_start", "rows", "partials", "flags")
    values: dict[str, Any] = {name: getattr(plan_table, name) for name in arrays}
    values |= dict(
        fault=plan_table.flags[-1:], SPLIT=plan_table.split, QUEUE=queue, FLATTEN=overlap,
        STORE_WAIT_K_STEP=store_wait if overlap else 0, WARPS=config.warps, TIMEOUT_NS=timeout_ns,
        EPILOGUE_SUBTILES=config.epilogue_subtiles,
    )  # fmt: skip
    if plan_table.split:
        # By default ptxas takes so few registers that a fix-up has four loads in flight, not dozens.
        registers = SM_REGISTERS // (32 * config.warps * plan_table.ctas_per_sm) // 8 * 8
        accumulator = config.tile[0] * config.tile[1] // (32 * config.warps)
        if registers >= accumulator + 64:  # else so many blocks do not fit, and `record` says so
            values["maxnreg"] = min(MAX_REGISTERS, registers)
    return kernel_launch(table_driven, plan_table.ctas, config, product, values, matrices, stamps)
