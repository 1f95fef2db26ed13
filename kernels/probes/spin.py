"""Thread blocks that only spin, and stamp their SM, their begin and their end.

Every warp stamps: a block begins with its first warp and ends with its last. %clock64 counts the cycles of
one SM; %globaltimer (ns) is common to all. Gluon gives a block the shared memory that it asks for; PTX
declares at most 48 KB.
"""

from typing import Any

import numpy as np
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from ..errors import KernelError

WORDS = 6
"""int64 that a warp writes: SM, cycles to spin, begin (cycles, ns), end (cycles, ns)."""

BLOCK = np.dtype([(name, np.int64) for name in ("sm", "begin", "end", "begin_ns", "end_ns")])
"""A thread block as its warps stamped it; begin and end are cycles of its SM."""


@gluon.jit
def clocks():
    """(cycles of this SM, ns of the timer that all SMs share)."""
    return gl.inline_asm_elementwise(
        """mov.u64 $0, %clock64;
        mov.u64 $1, %globaltimer;""",
        "=l,=l", [], dtype=(gl.int64, gl.int64), is_pure=False, pack=1,
    )  # fmt: skip


NOUNROLL = '.pragma "nounroll";\n'


def loop(body: str, turns: int | str, name: str = "again") -> str:
    """PTX that does `body` so many times, a number or a b32 register of at least 1. It counts in `left` and
    branches by `on`, which the text around it declares. A body that begins with NOUNROLL stays one turn."""
    return f"""mov.u32 left, {turns};
    {name}:
    {body}
    sub.u32 left, left, 1;
    setp.ne.u32 on, left, 0;
    @on bra {name};
    """


@gluon.jit(do_not_specialize=["cycles", "extra"])
def spin(stamps, cycles, extra, KB: gl.constexpr, WARPS: gl.constexpr, HELD: gl.constexpr = 0):
    """Block b spins for `cycles` and for up to `extra` more, which b alone decides, and owns KB of shared
    memory. Meanwhile a thread holds HELD values, in registers as far as it may have them. stamps: int64
    [blocks, WARPS, WORDS]."""
    begin, begin_ns = clocks()
    if KB:
        smem = gl.allocate_shared_memory(gl.int32, [KB, 256], gl.SwizzledSharedLayout(1, 1, 1, [0]))
        smem.index(0).store(gl.full([256], 0, gl.int32, gl.BlockedLayout([1], [32], [WARPS], [0])))
    if HELD:
        each = gl.arange(0, HELD * 32 * WARPS, gl.BlockedLayout([HELD], [32], [WARPS], [0]))
        held = gl.inline_asm_elementwise(  # of a clock, so that no value can be computed again later
            "mov.u32 $0, %clock;", "=r,r", [each], dtype=gl.int32, is_pure=False, pack=1
        )
    # An iteration takes more than a cycle, so counting them ends the loop even where the clock stands still.
    gl.inline_asm_elementwise(
        """{
        .reg .pred first, on;
        .reg .b32 tid, cta, sm, warp, lane, row, hash, turns;
        .reg .b64 at, wanted, now, ns, where;
        mov.u32 tid, %tid.x;
        mov.u32 cta, %ctaid.x;
        mov.u32 sm, %smid;
        shr.u32 warp, tid, 5;
        and.b32 lane, tid, 31;
        setp.eq.u32 first, lane, 0;
        mad.lo.u32 row, cta, $6, warp;
        mad.wide.u32 at, row, 48, $1;
        mul.lo.u32 hash, cta, 0x9E3779B1;
        mad.hi.u32 turns, hash, $5, $4;
        cvt.u64.u32 wanted, turns;
        cvt.u64.u32 where, sm;
        @first st.global.v2.u64 [at], {where, wanted};
        @first st.global.v2.u64 [at + 16], {$2, $3};
        again:
        mov.u64 now, %clock64;
        sub.u64 now, now, $2;
        setp.lt.u64 on, now, wanted;
        sub.u32 turns, turns, 1;
        setp.ne.and.u32 on, turns, 0, on;
        @on bra again;
        mov.u64 ns, %globaltimer;
        mov.u64 now, %clock64;
        @first st.global.v2.u64 [at + 32], {now, ns};
        mov.u32 $0, 0;
        }""",
        "=r,l,l,l,r,r,r", [stamps, begin, begin_ns, cycles, extra, WARPS],
        dtype=gl.int32, is_pure=False, pack=1,
    )  # fmt: skip
    if HELD:  # noqa: SIM102, as `and` would leave a branch where HELD is 0
        if cycles < 0:  # never, which the compiler cannot know
            gl.store(stamps + each, held.to(gl.int64))


def shared_kb() -> int:
    """The most shared memory that a thread block can have on this GPU, in KB."""
    here = torch.cuda.current_device()
    return int(triton.runtime.driver.active.utils.get_device_properties(here)["max_shared_mem"]) // 1024


def stamp_buffer(launches: int, blocks: int, warps: int) -> torch.Tensor:
    """Zeroed stamps on the GPU: int64 [launches, blocks, warps, WORDS]."""
    return torch.zeros(launches, blocks, warps, WORDS, dtype=torch.int64, device="cuda")


def launch(
    stamps: torch.Tensor, cycles: int, extra: int = 0, kb: int = 0, cluster: int = 1, registers: int = 0
) -> Any:
    """One launch of spinning blocks into stamps [blocks, warps, WORDS]; `cluster` blocks share a cluster.
    `registers`: of a thread, as near as ptxas comes; 0: the few that it needs. Returns what Triton compiled.
    Clusters of more than one block cannot have shared memory here: kb must be 0 for them."""
    blocks, warps, _ = stamps.shape
    limit = {"HELD": 256, "maxnreg": registers} if registers else {}  # more values than registers
    return spin[(blocks // cluster,)](
        stamps, cycles, extra, KB=kb, WARPS=warps, num_warps=warps, num_ctas=cluster, **limit
    )


def blocks(stamps: torch.Tensor) -> np.ndarray:
    """What launches stamped, a block a row: BLOCK [launches, blocks] from [launches, blocks, warps, WORDS].
    Raises KernelError where a block did not stamp, or a clock did not go on as it should."""
    words = stamps.cpu().numpy()
    sm, wanted, begin, begin_ns, end, end_ns = np.moveaxis(words, -1, 0)
    if (end == 0).any():
        raise KernelError(f"{(end == 0).any(axis=-1).sum()} of the thread blocks launched recorded no time")
    if (end - begin < wanted).any() or (end_ns < begin_ns).any():
        raise KernelError("a clock of this GPU stopped or went backwards while thread blocks ran")
    if (sm != sm[..., :1]).any():
        raise KernelError("two warps of one thread block stamped different SMs")
    made = np.empty(words.shape[:2], BLOCK)
    made["sm"] = sm[..., 0]
    made["begin"], made["begin_ns"] = begin.min(axis=-1), begin_ns.min(axis=-1)
    made["end"], made["end_ns"] = end.max(axis=-1), end_ns.max(axis=-1)
    return made


def by_sm(run: np.ndarray) -> list[np.ndarray]:
    return [run[run["sm"] == sm] for sm in np.unique(run["sm"])]


def residents(run: np.ndarray) -> int:
    """How many blocks an SM held before the first of them left; the most of all SMs."""
    return max(int((here["begin"] < here["end"].min()).sum()) for here in by_sm(run))


def gaps(run: np.ndarray, slots: int, begin: str = "begin", end: str = "end") -> np.ndarray:
    """From each block's end to its successor's begin, where an SM has so many slots: int64 [gaps]."""
    each = by_sm(run)
    return np.concatenate([np.sort(here[begin])[slots:] - np.sort(here[end])[:-slots] for here in each])


def sm_mhz(runs: list[np.ndarray]) -> float:
    """Cycles per µs, from the first to the last stamp of each SM in each launch."""
    each = [here for run in runs for here in by_sm(run)]
    cycles = sum(int(here["end"].max() - here["begin"].min()) for here in each)
    ns = sum(int(here["end_ns"].max() - here["begin_ns"].min()) for here in each)
    if ns <= 0:
        raise KernelError("the global timer did not advance while thread blocks ran")
    return 1000 * cycles / ns
