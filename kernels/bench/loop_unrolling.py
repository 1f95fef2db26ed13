"""loop_unrolling: a sum with 1 to 16 loads a turn of its loop, and 1 to 16 chains of multiply-adds, in PTX
that is not unrolled further. Values are small integers, so fp32 sums are exact."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from ..errors import KernelError
from ..measure.machine import measuring
from ..measure.timing import in_turns, spread
from ..microbenchmarks.cases import sms
from ..microbenchmarks.stamping import Launch, read_stamps, stamp, stamp_buffer
from ..probes.spin import NOUNROLL, clocks, loop
from .counters import INSTRUCTIONS, profiled

LANES = 32
FACTORS = (1, 2, 4, 8, 16)
LOADS = ("together", "one by one", "checked after")
BYTES = 4
LARGEST = 8
TURN = 64
"""Multiply-adds per iteration, over all chains."""

ONE = int(np.float32(1).view(np.int32))
"""The bits of 1.0, passed at run time so that the compiler cannot use it."""

_SUM = """{{
    .reg .pred on, go;
    .reg .b32 tid, cta, ctas, left;
    .reg .b64 at, step, out;
    .reg .f32 sum, v<{factor}>;
    mov.u32 tid, %tid.x;
    mov.u32 cta, %ctaid.x;
    mov.u32 ctas, %nctaid.x;
    mad.lo.u32 left, cta, {tile}, tid;
    mad.wide.u32 at, left, 4, $1;
    mad.lo.u32 left, cta, {threads}, tid;
    mad.wide.u32 out, left, 4, $2;
    mul.wide.u32 step, ctas, {tile_bytes};
    mov.f32 sum, 0f00000000;
    setp.ge.f32 go, sum, 0f00000000;
    {loop}
    st.global.f32 [out], sum;
    bar.sync 0;
    mov.u32 $0, 0;
    }}"""

_CHAINS = """{{
    .reg .pred on;
    .reg .b32 tid, left;
    .reg .b64 out;
    .reg .f32 one, x<{factor}>;
    mov.u32 tid, %tid.x;
    mad.wide.u32 out, tid, 4, $2;
    mov.b32 one, $4;
    {zeros}
    {loop}
    {total}
    st.global.f32 [out], x0;
    bar.sync 0;
    mov.u32 $0, 0;
    }}"""


def sum_code(factor: int, loads: str, threads: int) -> str:
    """PTX of the sum; a thread's loads in an iteration are `threads` values apart."""
    reads = [f"ld.global.cg.f32 v{i}, [at + {BYTES * threads * i}];" for i in range(factor)]
    adds = [f"add.f32 sum, sum, v{i};" for i in range(factor)]
    # A thread adds what comes before its first negative value. There is none, so every load executes.
    checked = [f"setp.ge.and.f32 go, v{i}, 0f00000000, go; @go {add}" for i, add in enumerate(adds)]
    if loads == "one by one":
        body = [f"@go {read} {check}" for read, check in zip(reads, checked, strict=True)]
    else:
        body = reads + (adds if loads == "together" else checked)
    turn, tile = loop(NOUNROLL + "\n".join([*body, "add.u64 at, at, step;"]), "$3"), factor * threads
    return _SUM.format(factor=factor, threads=threads, tile=tile, tile_bytes=BYTES * tile, loop=turn)


def chains_code(factor: int) -> str:
    chains = range(factor)
    adds = "\n".join(f"fma.rn.f32 x{i}, x{i}, one, 1.0;" for i in chains)
    return _CHAINS.format(
        factor=factor,
        zeros="\n".join(f"mov.f32 x{i}, 0f00000000;" for i in chains),
        loop=loop(NOUNROLL + adds * (TURN // factor), "$3"),
        total="\n".join(f"add.f32 x0, x0, x{i};" for i in chains[1:]),
    )


@gluon.jit(do_not_specialize=["turns", "one"])
def unrolled(stamps, x, sums, turns, one, CODE: gl.constexpr):
    """x, sums: fp32. `one`: the bits of 1.0. stamps: int64 [blocks, WORDS]."""
    begin, begin_ns = clocks()
    done = gl.inline_asm_elementwise(
        CODE, "=r,l,l,r,r", [x.to(gl.int64), sums.to(gl.int64), turns, one], dtype=gl.int32,
        is_pure=False, pack=1,
    )  # fmt: skip
    stamp(stamps, begin, begin_ns, done)


def integers(n: int) -> torch.Tensor:
    random = torch.Generator("cuda").manual_seed(0)
    return torch.randint(LARGEST, (n,), generator=random, device="cuda").float()


def launch(x: torch.Tensor, right: float, code: str, blocks: int, warps: int, turns: int) -> Launch:
    """Launch `code` once over x, fp32. Raises KernelError unless its sums add up to `right`."""
    stamps, sums = stamp_buffer(blocks), torch.full((blocks * LANES * warps,), torch.nan, device="cuda")
    unrolled[(blocks,)](stamps, x, sums, turns, ONE, CODE=code, num_warps=warps)
    got = float(sums.sum(dtype=torch.float64))
    if got != right:
        raise KernelError(f"sums of {turns} turns by {warps} warps add up to {got} instead of {right}")
    return read_stamps(stamps.cpu().numpy())


def of_sum(x: torch.Tensor, n: int, warps: int, loads: str, factor: int) -> Callable[[], Launch]:
    """Sums the first n values, a multiple of what all threads load a turn, with a thread block on each SM."""
    turns, right = n // (sms() * LANES * warps * factor), float(x[:n].sum(dtype=torch.float64))
    return partial(launch, x, right, sum_code(factor, loads, LANES * warps), sms(), warps, turns)


def of_chains(x: torch.Tensor, warps: int, factor: int) -> Callable[[], Launch]:
    """One thread block, whose threads each count to TURN * CHAIN_TURNS."""
    right = float(TURN * CHAIN_TURNS * LANES * warps)
    return partial(launch, x, right, chains_code(factor), 1, warps, CHAIN_TURNS)


WARPS = (1, 4, 8, 16, 32)
ROUNDS = (1, 8, 128)
"""Sizes of a sum: as many values as so many turns of the largest warps and factor take."""
CHAIN_TURNS = 256

METHOD = (
    "sums of fp32, one thread block on each SM, each thread with `factor` loads of 4 bytes a turn of its"
    " loop: together (all are under way before the first is added), one by one (a thread loads the next value"
    " if none before was negative) or checked after (together, and the same check before each is added);"
    " gb_per_s: bytes of the values by the time from the first block's begin to the last"
    f" one's end; chains: one thread block, {CHAIN_TURNS * TURN} multiply-adds a thread in `factor` chains of"
    " dependent ones; each launch's sums must be exact; {launches} launches of each in turn; issued:"
    " instructions that warps executed in one launch, by Nsight Compute, 0 where it reads no counters"
)


@measuring
def loop_unrolling(launches: int = 10) -> dict[str, Any]:
    """Time each factor: "sms", "rows" (of sums) and "chains". A row has factor, loads (one of LOADS), warps
    (on each SM), n (values); gb_per_s (the median), p20 and p80; sm_mhz, and issued. A row of chains has
    factor, warps, and cycles (the median), p20, p80 of one multiply-add of each thread."""
    sizes = [rounds * sms() * LANES * max(WARPS) * max(FACTORS) for rounds in ROUNDS]
    x = integers(sizes[-1])
    sums = list(product(sizes, WARPS, LOADS, FACTORS))
    chains = list(product(WARPS[1:], FACTORS))  # 1, 2, 4 and 8 warps on each of an SM's four partitions
    work = [of_sum(x, *case) for case in sums] + [of_chains(x, *case) for case in chains]
    seen = in_turns(work, launches)
    first = [case for case in sums if case[0] == sizes[0]]
    counts = profiled("loop_unrolling", first, len(first), INSTRUCTIONS, "^unrolled$")
    issued = {case: count.get("issued", 0) for case, count in zip(first, counts, strict=True)}
    rows = [
        {"factor": factor, "loads": loads, "warps": warps, "n": n}
        | spread([4 * n / run.ns for run in runs], "gb_per_s", None)
        | {"sm_mhz": round(float(np.median([run.sm_mhz for run in runs])), 1)}
        | {"issued": issued.get((n, warps, loads, factor), 0)}
        for (n, warps, loads, factor), runs in zip(sums, seen[: len(sums)], strict=True)
    ]
    chain_rows = [
        {"factor": factor, "warps": warps}
        | spread([run.cycles / (TURN * CHAIN_TURNS) for run in runs], "cycles", None)
        for (warps, factor), runs in zip(chains, seen[len(sums) :], strict=True)
    ]
    method = METHOD.format(launches=launches)
    return {"method": method, "sms": sms(), "rows": rows, "chains": chain_rows}


def once(cases: Sequence[Any]) -> list[Callable[[], Launch]]:
    x = integers(max(n for n, *_ in cases))
    return [of_sum(x, *case) for case in cases]
