"""latency_hiding: y = a * x + y by 1 to 32 warps of an SM, by threads of the host, and a product's K-steps.

The clock is read before the loads and behind a branch that waits for their values, and recorded either in
every round or only in the first and last, which does not slow rounds down. Blocks always have 32 warps, of
which the surplus exits at once, so one program measures any number of warps.
"""

from typing import Any

import numpy as np
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from tilesim.problems import Problem

from ..errors import KernelError
from ..measure.host import axpy_by_threads
from ..measure.machine import measuring
from ..measure.record import record
from ..measure.timing import spread
from ..microbenchmarks.cases import flush_l2, sms
from .pipelining import k_step

WARPS = 32
"""Warps per thread block, and the most that can work."""
VALUES = 128
"""Values of x and of y per round of a warp: four fp32 per thread."""
ASKED = 2 * 4 * VALUES
"""Bytes that a warp loads per round; it stores half as many."""

_AXPY = """{{
    .reg .pred on, first, over;
    .reg .b32 tid, cta, ctas, warp, lane, left, row, step;
    .reg .b64 x, y, at, seen, asked, came, begun, ns, sm, next;
    .reg .f32 x0, x1, x2, x3, y0, y1, y2, y3;
    mov.u64 begun, %clock64;
    mov.u32 tid, %tid.x;
    mov.u32 cta, %ctaid.x;
    mov.u32 ctas, %nctaid.x;
    mov.u32 left, $7;
    shr.u32 warp, tid, 5;
    and.b32 lane, tid, 31;
    setp.eq.u32 first, lane, 0;
    setp.ge.u32 over, warp, $6;
    @over bra gone;
    mad.lo.u32 row, cta, $6, warp;
    mul.lo.u32 row, row, 32;
    add.u32 row, row, lane;
    mad.wide.u32 x, row, 16, $1;
    mad.wide.u32 y, row, 16, $2;
    mul.lo.u32 step, ctas, $6;
    mul.wide.u32 next, step, 512;
    mad.lo.u32 row, cta, $6, warp;
    mad.wide.u32 at, row, 32, $3;
    mul.lo.u32 step, left, 16;
    mad.wide.u32 seen, row, step, $4;
    again:
    mov.u64 asked, %clock64;
    ld.global.cg.v4.f32 {{x0, x1, x2, x3}}, [x];
    ld.global.cg.v4.f32 {{y0, y1, y2, y3}}, [y];
    fma.rn.f32 y0, x0, $5, y0;
    fma.rn.f32 y1, x1, $5, y1;
    fma.rn.f32 y2, x2, $5, y2;
    fma.rn.f32 y3, x3, $5, y3;
    setp.gt.f32 over, y0, 0f7F7FFFFF;
    @over bra done;
    mov.u64 came, %clock64;
    st.global.v4.f32 [y], {{y0, y1, y2, y3}};
    {stamping}
    add.u64 x, x, next;
    add.u64 y, y, next;
    sub.u32 left, left, 1;
    setp.ne.u32 on, left, 0;
    @on bra again;
    done:
    mov.u32 tid, %smid;
    cvt.u64.u32 sm, tid;
    cvt.u64.u32 ns, left;
    @first st.global.v2.u64 [at], {{sm, ns}};
    @first st.global.v2.u64 [at + 16], {{begun, came}};
    gone:
    mov.u32 $0, 0;
    }}"""
EACH_ROUND = _AXPY.format(stamping="@first st.global.v2.u64 [seen], {asked, came}; add.u64 seen, seen, 16;")
ENDS_ONLY = _AXPY.format(stamping="")


@gluon.jit(do_not_specialize=["warps", "rounds", "a"])
def axpy(x, y, ends, stamps, a, warps, rounds, WORK: gl.constexpr):
    """x, y: fp32 [rounds, blocks, warps, VALUES]. ends: int64 [blocks, warps, 4]: SM, rounds left, begin,
    end. stamps: int64 [blocks, warps, rounds, 2]: cycles of a request and of its answer."""
    gl.inline_asm_elementwise(
        WORK, "=r,l,l,l,l,f,r,r",
        [x.to(gl.int64), y.to(gl.int64), ends.to(gl.int64), stamps.to(gl.int64), a, warps, rounds],
        dtype=gl.int32, is_pure=False, pack=1,
    )  # fmt: skip


def vectors(blocks: int, warps: int, rounds: int, random: torch.Generator) -> tuple[torch.Tensor, ...]:
    """x and y, random halves up to 8, so that a * x + y is exact: fp32 [rounds, blocks, warps, VALUES]."""
    shape = (rounds, blocks, warps, VALUES)
    made = (torch.randint(-16, 17, shape, generator=random, device=random.device) for _ in "xy")
    return tuple(one.float() / 2 for one in made)


def launch(
    x: torch.Tensor, y: torch.Tensor, a: float, stamped: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Launch once over `vectors`, updating y; returns `ends` and `stamps` of `axpy`."""
    rounds, blocks, warps, _ = x.shape
    ends = torch.full((blocks, warps, 4), -1, dtype=torch.int64, device=x.device)
    stamps = torch.zeros(blocks, warps, rounds if stamped else 1, 2, dtype=torch.int64, device=x.device)
    work = EACH_ROUND if stamped else ENDS_ONLY
    axpy[(blocks,)](x, y, ends, stamps, a, warps, rounds, WORK=work, num_warps=WARPS)
    return ends, stamps


def cycles(ends: np.ndarray) -> np.ndarray:
    """Cycles of each block, from its first warp's begin to its last warp's end: int64 [blocks]. Raises
    KernelError if a warp did not finish, or blocks shared an SM."""
    sm, left, begin, end = np.moveaxis(ends, -1, 0)
    if (left != 0).any():
        raise KernelError(f"{(left != 0).sum()} of {left.size} warps did not finish their rounds")
    if len(np.unique(sm)) != len(sm) or (sm != sm[:, :1]).any():
        raise KernelError(f"{len(sm)} thread blocks need an SM each, but had {len(np.unique(sm))}")
    if (end <= begin).any():
        raise KernelError("a clock of this GPU stopped or went backward while warps ran")
    return end.max(axis=1) - begin.min(axis=1)


A = 1.5
ROUNDS = 64
FROM, SHOWN = 28, 6
"""Rounds of a warp whose stamps are kept, from where the median warp begins round FROM."""

PRODUCT = Problem(1536, 2816, 4096, tile=(128, 128, 64), order="grouped:8")
"""264 tiles: on 132 SMs each gets two, at once or one after the other."""

METHOD = (
    f"y = a * x + y in fp32, {ROUNDS} rounds of each warp, 16 bytes of x and of y a thread in a round, out of"
    " DRAM: a warp waits for both before it stores and asks again; one block an SM; y is compared with an"
    " exact sum first; cases take turns, {repeats} times; cycles: of an SM from its first warp's begin to its"
    " last warp's end, by the elements of that SM, median over SMs; wait: from a warp's question to its"
    f" answer, in launches that stamp each round; lanes: {SHOWN} requests of each warp of the SM whose waits"
    f" are then nearest to the mean of all, cycles from when its median warp began round {FROM}; blocks: a"
    " persistent kernel's main loops, as `tilesim record` stamps them"
)


@measuring
def latency_hiding(repeats: int = 9) -> dict[str, Any]:
    """Time warps, host threads and thread blocks, in JSON values: "sms", "rows", "lanes", "host", "blocks".

    A row per SMs at work (1 or all) and warps: sms, warps, cycles (an element; p20, p50, p80 over repeats),
    bytes_per_clock (asked and stored, by the median), wait (cycles, p20, p50, p80). Lanes, where all SMs
    work: sms, warps, asked and came, cycles [warps][requests]. Host: see kernels.measure.host. Blocks:
    blocks, stages, and what a K-step takes each of them, k_step_ns and k_step_cycles.
    """
    random = torch.Generator("cuda").manual_seed(0)
    cases = [(blocks, warps) for blocks in (1, sms()) for warps in range(1, WARPS + 1)]
    took: dict[tuple[int, int], list[float]] = {case: [] for case in cases}
    waited: dict[tuple[int, int], np.ndarray] = {}
    lanes = []
    for turn in range(repeats):
        for case in cases:
            x, y = vectors(*case, ROUNDS, random)
            if turn == 0:
                waited[case], kept = _stamped(x, y)
                if case[0] == sms():
                    lanes.append({"sms": case[0], "warps": case[1]} | kept)
            flush_l2()
            ends, _ = launch(x, y, A)
            took[case].append(float(np.median(cycles(ends.cpu().numpy()))) / (ROUNDS * case[1] * VALUES))
    steps = [
        {"blocks": blocks, "stages": stages}
        | k_step(record("persistent", PRODUCT, warps=4, stages=stages, ctas_per_sm=blocks))
        for blocks, stages in ((1, 3), (2, 3), (1, 6))
    ]
    return {
        "method": METHOD.format(repeats=repeats),
        "repeats": repeats,
        "sms": sms(),
        "rows": [row(*case, np.array(took[case]), waited[case]) for case in cases],
        "lanes": lanes,
        "host": axpy_by_threads(repeats),
        "blocks": steps,
    }


def row(blocks: int, warps: int, took: np.ndarray, waited: np.ndarray) -> dict[str, Any]:
    """What there is to say of a case: `took`, cycles an element of each repeat; `waited`, cycles of rounds.

    >>> row(1, 2, np.array([4.0, 4.0, 4.0]), np.array([700, 700]))["bytes_per_clock"]
    3.0
    """
    per_element = 1.5 * ASKED / VALUES
    return {
        "sms": blocks,
        "warps": warps,
        "cycles": spread(took, "p50", 4),
        "bytes_per_clock": round(float(per_element / np.median(took)), 3),
        "wait": spread(waited, "p50", 1),
    }


def window(asked: np.ndarray, came: np.ndarray, since: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(asked, came) of `count` requests of each warp, cycles from `since` on: int64 [warps, count].

    The first of them is under way then, or the next to be asked. Of a block's int64 [warps, rounds].

    >>> asked = np.array([[0, 100, 200, 300], [50, 250, 450, 650]])
    >>> window(asked, asked + 90, since=220, count=2)[0].tolist()
    [[-20, 80], [30, 230]]
    """
    first = np.minimum((came <= since).sum(axis=1), came.shape[1] - count)
    rounds = first[:, None] + np.arange(count)
    shown = (np.take_along_axis(times, rounds, axis=1) - since for times in (asked, came))
    return next(shown), next(shown)


def _stamped(x: torch.Tensor, y: torch.Tensor) -> tuple[np.ndarray, dict[str, Any]]:
    """(the wait of each round, the lanes to show) of one launch whose sums are checked."""
    right = A * x.double() + y.double()
    flush_l2()
    ends, stamps = launch(x, y, A, stamped=True)
    if not torch.equal(y.double(), right):
        raise KernelError(f"{x.shape[2]} warps of {x.shape[1]} SMs got a * x + y wrong, so none was timed")
    cycles(ends.cpu().numpy())
    asked, came = np.moveaxis(stamps.cpu().numpy(), -1, 0)
    if (came <= asked).any():
        raise KernelError("a clock of this GPU stopped or went backwards while warps ran")
    each = [
        window(*block, since=int(np.median(block[0][:, FROM])), count=SHOWN)
        for block in zip(asked, came, strict=True)
    ]
    waits = came - asked
    shown = min(each, key=lambda times: abs((times[1] - times[0]).mean() - waits.mean()))
    return waits.ravel(), {name: one.tolist() for name, one in zip(("asked", "came"), shown, strict=True)}
