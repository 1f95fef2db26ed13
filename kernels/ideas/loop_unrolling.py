"""Loops that are unrolled by a factor: a sum of values from memory, and chains of multiply-adds.

The sum has `factor` loads a turn. Where they go "together" all of them are under way before the first is
added; "one by one" each is predicated on the value before, so that unrolling saves the loop's own
instructions and nothing else. The chains are `factor` sequences of dependent multiply-adds, interleaved.
All is PTX, and no loop is unrolled further. Values are small whole numbers, so that sums in fp32 are exact.
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
"""Values are whole numbers below."""
TURN = 64
"""Multiply-adds of a turn, of all chains together."""

ONE = int(np.float32(1).view(np.int32))
"""The bits of 1.0, which no compiler sees."""

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
    """PTX of the sum: a thread's loads of a turn are `threads` values apart."""
    reads = [f"ld.global.cg.f32 v{i}, [at + {BYTES * threads * i}];" for i in range(factor)]
    adds = [f"add.f32 sum, sum, v{i};" for i in range(factor)]
    if loads == "together":
        body = reads + adds
    else:  # no value is below 0, so every load is made; but none before it is known of the one ahead
        waits = [f"setp.ge.f32 go, v{i}, 0f00000000;" for i in range(factor)]
        body = [f"@go {read} {add} {wait}" for read, add, wait in zip(reads, adds, waits, strict=True)]
    tile = factor * threads
    return _SUM.format(
        factor=factor, threads=threads, tile=tile, tile_bytes=BYTES * tile, body="\n".join(body)
    )


def chains_code(factor: int) -> str:
    """PTX of `factor` chains, each of TURN / factor multiply-adds a turn."""
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
    """Values, fp32 [n], in the GPU's memory; and launches that sum the first of them, a block on each SM."""

    def __init__(self, n: int, random: torch.Generator) -> None:
        self.x = torch.randint(LARGEST, (n,), generator=random, device=random.device).float()
        self.sms = torch.cuda.get_device_properties().multi_processor_count
        self.right = {n: float(self.x.sum(dtype=torch.float64))}

    def launch(self, n: int, factor: int, loads: str, warps: int) -> Launch:
        """Sum the first n values, a multiple of what all threads load in a turn.

        Raises KernelError where a sum is not exact.
        """
        threads = LANES * warps
        turns, rest = divmod(n, self.sms * threads * factor)
        if rest or not turns:
            raise KernelError(f"{n} values are no multiple of {self.sms * threads * factor} a turn")
        stamps, sums = stamp_buffer(self.sms), torch.full((self.sms * threads,), torch.nan, device="cuda")
        code = sum_code(factor, loads, threads)
        unrolled[(self.sms,)](stamps, self.x, sums, turns, ONE, CODE=code, num_warps=warps)
        got = float(sums.sum(dtype=torch.float64))
        if n not in self.right:
            self.right[n] = float(self.x[:n].sum(dtype=torch.float64))
        if got != self.right[n]:
            raise KernelError(f"a sum of {n} values with {factor} loads a turn is {got}, not {self.right[n]}")
        return read_stamps(stamps.cpu().numpy())


def chain(factor: int, warps: int, turns: int) -> Launch:
    """One thread block of `warps` warps, each thread of which does TURN * turns multiply-adds.

    Raises KernelError where a thread's sum is not exact.
    """
    stamps, sums = stamp_buffer(1), torch.full((LANES * warps,), torch.nan, device="cuda")
    unrolled[(1,)](stamps, sums, sums, turns, ONE, CODE=chains_code(factor), num_warps=warps)
    if (sums != TURN * turns).any():
        raise KernelError(f"{factor} chains of multiply-adds do not add up to {TURN * turns}")
    return read_stamps(stamps.cpu().numpy())
