"""Latency by a pointer chase: a warp loads an address, and then from that address the next one.

Each 128-byte line of a footprint holds the address of another, in one cycle over all lines, so loads can
neither overlap nor be predicted. In the order "anywhere" the next line is any line; in the order "in pages"
it is in the same 2 MiB page until all of that page have been visited, so that few hops miss the TLB. Loads
bypass the L1 (ld.global.cg), except to measure it (ld.global.ca).
"""

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from ..errors import KernelError
from ..probes.spin import clocks, loop
from .stamping import Launch, read_stamps, stamp, stamp_buffer

LINE = 128
"""Bytes per cache line."""

PAGE = 2 * 2**20
"""Bytes that CUDA maps at once, in allocations of at least this size."""

ORDERS = ("anywhere", "in pages")

UNROLLED = 16
"""Hops between two branches."""

_CHASE = """{{
    .reg .pred on;
    .reg .b32 left, taken;
    .reg .b64 at, out, before, after;
    mov.u64 at, $1;
    mov.u64 out, $2;
    {hops}
    over:
    mov.u64 $0, at;
    }}"""
FOLLOW_L2 = _CHASE.format(hops=loop("ld.global.cg.u64 at, [at];" * UNROLLED, "$3"))
FOLLOW_L1 = _CHASE.format(hops=loop("ld.global.ca.u64 at, [at];" * UNROLLED, "$3"))
TIME_L2 = _CHASE.format(
    hops=loop(
        """mov.u64 before, %clock64;
    ld.global.cg.u64 at, [at];
    setp.eq.u64 on, at, 0;
    @on bra over;
    mov.u64 after, %clock64;
    sub.u64 after, after, before;
    cvt.u32.u64 taken, after;
    st.global.u32 [out], taken;
    add.u64 out, out, 4;""",
        "$3",
    )
)
"""One hop a turn, whose cycles include the branch that waits for the address."""


@gluon.jit(do_not_specialize=["start", "turns"])
def chase(stamps, start, took, turns, FOLLOW: gl.constexpr):
    """From address `start`, follow the addresses of so many turns; the last one is the checksum. TIME_L2
    writes the cycles of each hop to `took`, int32 [turns]."""
    begin, begin_ns = clocks()
    last = gl.inline_asm_elementwise(
        FOLLOW, "=l,l,l,r", [start, took, turns], dtype=gl.int64, is_pure=False, pack=1
    )  # fmt: skip
    stamp(stamps, begin, begin_ns, last)


class Chain:
    """A footprint of `lines` lines, each with the address of the next in `order`, and a chase's position.
    Raises KernelError if a chase ends at a wrong line."""

    def __init__(self, lines: int, order: str, random: torch.Generator) -> None:
        self.visits = visits(lines, order, random)
        self.memory = torch.zeros(lines, LINE // 8, dtype=torch.int64, device=random.device)
        self.memory[self.visits, 0] = self._address(self.visits.roll(-1))
        self.at = 0

    def _address(self, line: torch.Tensor) -> torch.Tensor:
        return self.memory.data_ptr() + LINE * line

    def follow(self, hops: int, cached: bool = False) -> Launch:
        """Follow `hops` more addresses, a multiple of UNROLLED."""
        took = torch.zeros(1, dtype=torch.int32, device=self.memory.device)
        return self._launch(FOLLOW_L1 if cached else FOLLOW_L2, took, hops, hops // UNROLLED)

    def time_hops(self, hops: int) -> torch.Tensor:
        """Follow `hops` more addresses through the L2: the cycles of each, int32 [hops]."""
        took = torch.zeros(hops, dtype=torch.int32, device=self.memory.device)
        self._launch(TIME_L2, took, hops, hops)
        return took

    def _launch(self, code: str, took: torch.Tensor, hops: int, turns: int) -> Launch:
        stamps, start = stamp_buffer(1), int(self._address(self.visits[self.at]))
        chase[(1,)](stamps, start, took, turns, FOLLOW=code, num_warps=1)
        seen = read_stamps(stamps.cpu().numpy())
        self.at = (self.at + hops) % len(self.visits)
        if seen.checksum != int(self._address(self.visits[self.at])):
            raise KernelError(
                f"a pointer chase of {hops} hops over {len(self.visits)} lines ended at a wrong line"
            )
        return seen


def visits(lines: int, order: str, random: torch.Generator) -> torch.Tensor:
    """The lines in the order of a chase: each once, int64 [lines]."""
    each = PAGE // LINE
    if order == "anywhere" or lines <= each:
        return torch.randperm(lines, generator=random, device=random.device)
    keys = torch.rand(lines // each, each, generator=random, device=random.device)
    first = each * torch.randperm(lines // each, generator=random, device=random.device)
    return (first[:, None] + keys.argsort(dim=1)).flatten()


WORDS = 1024
"""4-byte words of a chase; the i-th holds the address of the one STRIDE further."""
STRIDE = 33
WARPS = 32
WIDTH = 16

CHASE = f"""{{
    .reg .pred on;
    .reg .b32 tid, base, at, next, left, i;
    .shared .align 16 .b32 ring[{WORDS}];
    mov.u32 base, ring;
    mov.u32 tid, %tid.x;
    mov.u32 i, tid;
    fill:
    mad.lo.u32 at, i, 4, base;
    add.u32 next, i, {STRIDE};
    and.b32 next, next, {WORDS - 1};
    mad.lo.u32 next, next, 4, base;
    st.shared.u32 [at], next;
    add.u32 i, i, 32;
    setp.lt.u32 on, i, {WORDS};
    @on bra fill;
    bar.sync 0;
    mov.u64 $0, %clock64;
    mov.u64 $1, %globaltimer;
    mov.u32 at, base;
    {loop("ld.shared.u32 at, [at];" * UNROLLED, "$3")}
    sub.u32 at, at, base;
    shr.u32 $2, at, 2;
    }}"""
READ = f"""{{
    .reg .pred on;
    .reg .b32 tid, base, at, left, sum, a, b, c, d;
    .shared .align 16 .b32 words[{32 * WARPS * WIDTH // 4}];
    mov.u32 base, words;
    mov.u32 tid, %tid.x;
    mad.lo.u32 at, tid, {WIDTH}, base;
    add.u32 a, tid, 1;
    st.shared.v4.u32 [at], {{a, a, a, a}};
    bar.sync 0;
    mov.u64 $0, %clock64;
    mov.u64 $1, %globaltimer;
    mov.u32 sum, 0;
    {loop("ld.volatile.shared.v4.u32 {a, b, c, d}, [at]; add.u32 sum, sum, a;" * UNROLLED, "$3")}
    mov.u32 $2, sum;
    bar.sync 0;
    }}"""


@gluon.jit(do_not_specialize=["turns"])
def shared(stamps, turns, WORK: gl.constexpr):
    """Run CHASE or READ; the checksum is the first thread's last word or sum."""
    begin, begin_ns, found = gl.inline_asm_elementwise(
        WORK, "=l,=l,=r,r", [turns], dtype=(gl.int64, gl.int64, gl.int32), is_pure=False, pack=1
    )  # fmt: skip
    stamp(stamps, begin, begin_ns, found)


def chase_shared(hops: int) -> Launch:
    """A warp's chase through shared memory, `hops` a multiple of UNROLLED. KernelError for a wrong end."""
    return _launch(CHASE, 1, 1, hops // UNROLLED, STRIDE * hops % WORDS)


def read_shared(blocks: int, loads: int) -> Launch:
    """Threads of `blocks` blocks of 1024 load WIDTH bytes `loads` times. KernelError for wrong values."""
    return _launch(READ, blocks, WARPS, loads // UNROLLED, blocks * loads)


def _launch(work: str, blocks: int, warps: int, turns: int, right: int) -> Launch:
    stamps = stamp_buffer(blocks)
    shared[(blocks,)](stamps, turns, WORK=work, num_warps=warps)
    seen = read_stamps(stamps.cpu().numpy())
    if seen.checksum != right:
        raise KernelError(f"loads from shared memory added up to {seen.checksum} instead of {right}")
    return seen
