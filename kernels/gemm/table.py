"""table: executes any Plan. Each thread block reads its segments from a table, then draws from the queue.

A row of the table is a segment: pid_m pid_n k0 k1 partial peers. The owner of a split tile adds `peers`
partials, from index `partial` on. A segment that stores a partial has no peers, and `partial` is its index. A
whole tile has partial = -1.

With FLATTEN, one loop covers the K-steps of all segments, so the next segment's loads run during the
epilogue. A thread block that draws from the queue does not know their number, so it has nested loops.
"""

from functools import partial

import numpy as np
import torch
import triton
import triton.language as tl

from tilesim.devices.device import Device
from tilesim.kernel_config import KernelConfig
from tilesim.plans import owners
from tilesim.problems import Problem
from tilesim.products import Product
from tilesim.schedules import plan

from ..errors import KernelError
from ..launch.job import Job, Workspace
from .jobs import STORE_WAIT_K_STEP, simple_job
from .split_fixup import add_partial, store_partial, wait_for_partial
from .stamps import entry_time, stamp_done, stamp_drain, stamp_entry, stamp_start, stamp_time
from .tile_ops import load, multiply, store, wait_for_wgmma

WORDS = 8
"""int32 in a row of the table: the six of a segment, and two unused ones."""

ROW_WORDS = tl.constexpr(WORDS)


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
            store(c, pid_m * BM, pid_n * BN, acc, M, N, BM, BN, TMA, EPILOGUE_SUBTILES)
    else:
        store(c, pid_m * BM, pid_n * BN, acc, M, N, BM, BN, TMA, EPILOGUE_SUBTILES)


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
    EPILOGUE_SUBTILES: tl.constexpr = 1,  # see store
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

NO_PARTIAL = -1


def table_of(rows: np.ndarray, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """(table, tiles): int32 [rows, WORDS], and the tile of each partial, int32 [partials]. A split tile's
    partials are consecutive, in plan order; the last of its segments owns it."""
    table = np.zeros((len(rows), WORDS), np.int32)
    table[:, 0], table[:, 1] = np.divmod(rows["tile"], problem.tiles_n)
    table[:, 2], table[:, 3], table[:, 4] = rows["k0"], rows["k1"], NO_PARTIAL
    by_tile = np.argsort(rows["tile"], kind="stable")
    tile = rows["tile"][by_tile]
    owner = owners(rows["tile"])[by_tile]
    before = np.append(0, np.cumsum(~owner))  # partials before each row
    table[by_tile[~owner], 4] = before[:-1][~owner]
    peers = np.diff(before[1:][owner], prepend=0)
    split = by_tile[owner][peers > 0]
    table[split, 5] = peers[peers > 0]
    table[split, 4] = (before[1:][owner] - peers)[peers > 0]
    return table, tile[~owner].astype(np.int32)


def job(config: KernelConfig, product: Product, device: Device, memory: str, concurrent: bool) -> Job:
    """The thread blocks and segments of the schedule's plan, which lies in the GPU's memory. Raises
    KernelError where the partials of its split tiles do not fit there."""
    problem = config.problem(product)
    made = plan(config.schedule, problem, device)
    made.check(problem, device.slots)
    table, tiles = table_of(made.rows, problem)
    area, split, queue = problem.tile_m * problem.tile_n, len(tiles) > 0, len(made.shared) > 0
    size = 4 * len(tiles) * area
    if memory == "cuda" and size > torch.cuda.get_device_properties().total_memory // 2:
        raise KernelError(
            f"the plan has {len(tiles)} partials, which take {size / 1e9:.1f} GB; at most half of the GPU's"
            " memory is given to them"
        )

    def uploaded(array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array, np.int32)).to(memory)

    def workspace() -> Workspace:
        if not split and not queue:
            return {}
        flags = torch.zeros(len(tiles) + 1, dtype=torch.int32, device=memory)
        return dict(
            queue_head=torch.zeros(1, dtype=torch.int32, device=memory),
            partials=torch.empty(len(tiles), area, dtype=torch.float32, device=memory),
            flags=flags,
            fault=flags[-1:],
        )

    # A thread block with one segment has nothing to overlap, and C then shares the stages' memory.
    overlap = config.overlap and int(np.diff(made.offsets).max()) > 1 and not queue
    store_wait = SPLIT_STORE_WAIT_K_STEP if split else STORE_WAIT_K_STEP
    k_steps = np.append(0, np.cumsum(made.segments["k1"] - made.segments["k0"], dtype=np.int64))
    ahead = np.zeros((2, WORDS), np.int32)  # a thread block reads so far
    values = dict(
        table=uploaded(np.append(table, ahead, axis=0)), offsets=uploaded(made.offsets),
        k_steps=uploaded(np.diff(k_steps[made.offsets])),
        queue_start=len(made.segments), rows=len(made.rows),
        queue_head=None, partials=None, flags=None, fault=None, SPLIT=split, QUEUE=queue, FLATTEN=overlap,
        STORE_WAIT_K_STEP=store_wait if overlap else 0, WARPS=config.warps, TIMEOUT_NS=TIMEOUT_NS,
        EPILOGUE_SUBTILES=config.epilogue_subtiles,
    )  # fmt: skip
    if split:
        # By default ptxas takes so few registers that a fix-up has four loads in flight, not dozens.
        registers = SM_REGISTERS // (32 * config.warps * device.ctas_per_sm) // 8 * 8
        accumulator = config.tile[0] * config.tile[1] // (32 * config.warps)
        if registers >= accumulator + 64:  # else so many blocks do not fit, and `record` says so
            values["maxnreg"] = min(MAX_REGISTERS, registers)
    return simple_job(
        table_driven, made.ctas, config, product, values, workspace, concurrent, made.rows,
        partial(check, tiles),
    )  # fmt: skip


def check(tiles: np.ndarray, workspace: Workspace) -> None:
    """Raise KernelError, naming the tile, where a wait for a partial timed out; the flags are reset."""
    if workspace and (fault := int(workspace["fault"])):
        workspace["flags"].zero_()
        raise KernelError(
            f"tile {tiles[fault - 1]} waited for a partial that never came; its thread blocks gave up"
        )
