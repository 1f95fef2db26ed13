"""Loops unrolled by a factor: a sum of values from memory, and chains of multiply-adds.

The sum has `factor` loads per iteration. "together", all are in flight before the first is added; "one by
one", each is predicated on the previous value, so unrolling saves only the loop's own instructions. The
chains are `factor` interleaved sequences of dependent multiply-adds. All is PTX that is not unrolled further.
Values are small integers, so fp32 sums are exact.
"""

import numpy as np
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from ..errors import KernelError
from ..microbenchmarks.stamping import Launch, clocks, read_stamps, stamp, stamp_buffer

LANES = 32
FACTORS = (1, 2, 4, 8, 16)
LOADS = ("together", "one by one")
BYTES = 4
LARGEST = 8
"""Values are integers below this."""
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
    mov.u32 left, $3;
    again:
    .pragma "nounroll";
    {body}
    add.u64 at, at, step;
    sub.u32 left, left, 1;
    setp.ne.u32 on, left, 0;
    @on bra again;
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
    mov.u32 left, $3;
    again:
    .pragma "nounroll";
    {body}
    sub.u32 left, left, 1;
    setp.ne.u32 on, left, 0;
    @on bra again;
    {total}
    st.global.f32 [out], x0;
    bar.sync 0;
    mov.u32 $0, 0;
    }}"""


def sum_code(factor: int, loads: str, threads: int) -> str:
    """PTX of the sum; a thread's loads in an iteration are `threads` values apart."""
    reads = [f"ld.global.cg.f32 v{i}, [at + {BYTES * threads * i}];" for i in range(factor)]
    adds = [f"add.f32 sum, sum, v{i};" for i in range(factor)]
    if loads == "together":
        body = reads + adds
    else:  # values are never negative, so every load executes, but only after the previous value has arrived
        waits = [f"setp.ge.f32 go, v{i}, 0f00000000;" for i in range(factor)]
        body = [f"@go {read} {add} {wait}" for read, add, wait in zip(reads, adds, waits, strict=True)]
    tile = factor * threads
    return _SUM.format(
        factor=factor, threads=threads, tile=tile, tile_bytes=BYTES * tile, body="\n".join(body)
    )


def chains_code(factor: int) -> str:
    """PTX of `factor` chains, each with TURN / factor multiply-adds per iteration."""
    chains = range(factor)
    return _CHAINS.format(
        factor=factor,
        zeros="\n".join(f"mov.f32 x{i}, 0f00000000;" for i in chains),
        body="\n".join(f"fma.rn.f32 x{i}, x{i}, one, 1.0;" for i in chains) * (TURN // factor),
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


class Summing:
    """fp32 [n] values in GPU memory, and launches that sum the first of them with one block per SM."""

    def __init__(self, n: int, random: torch.Generator) -> None:
        self.x = torch.randint(LARGEST, (n,), generator=random, device=random.device).float()
        self.sms = torch.cuda.get_device_properties().multi_processor_count
        self.right = {n: float(self.x.sum(dtype=torch.float64))}

    def launch(self, n: int, factor: int, loads: str, warps: int) -> Launch:
        """Sum the first n values, a multiple of what all threads load per iteration. Raises KernelError if n
        is not such a multiple, or the sum is not exact."""
        threads = LANES * warps
        turns, rest = divmod(n, self.sms * threads * factor)
        if rest or not turns:
            raise KernelError(f"{n} values are not a multiple of {self.sms * threads * factor} per iteration")
        stamps, sums = stamp_buffer(self.sms), torch.full((self.sms * threads,), torch.nan, device="cuda")
        code = sum_code(factor, loads, threads)
        unrolled[(self.sms,)](stamps, self.x, sums, turns, ONE, CODE=code, num_warps=warps)
        got = float(sums.sum(dtype=torch.float64))
        if n not in self.right:
            self.right[n] = float(self.x[:n].sum(dtype=torch.float64))
        if got != self.right[n]:
            raise KernelError(f"the sum of {n} values with factor {factor} is {got}, not {self.right[n]}")
        return read_stamps(stamps.cpu().numpy())


def chain(factor: int, warps: int, turns: int) -> Launch:
    """One thread block of `warps` warps, whose threads do TURN * turns multiply-adds each. Raises KernelError
    if a thread's sum is not exact."""
    stamps, sums = stamp_buffer(1), torch.full((LANES * warps,), torch.nan, device="cuda")
    unrolled[(1,)](stamps, sums, sums, turns, ONE, CODE=chains_code(factor), num_warps=warps)
    if (sums != TURN * turns).any():
        raise KernelError(f"{factor} chains of multiply-adds do not add up to {TURN * turns}")
    return read_stamps(stamps.cpu().numpy())
