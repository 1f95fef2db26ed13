"""Bandwidth: thread blocks that only read, write or copy, over footprints from cache to DRAM.

In each step a block processes a 64 KiB tile: 1024 threads, 16 bytes at a time, four accesses in flight. In
each step the blocks take adjacent tiles, and after `round` steps they start over. Blocks in a group take the
same tile in the same step; a group is either adjacent blocks, which the hardware places in one GPC if
possible, or blocks spaced as far apart as possible. Loads bypass the L1.
"""

from dataclasses import dataclass

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

from ..errors import KernelError
from ..probes.spin import clocks
from .stamping import Launch, read_stamps, stamp, stamp_buffer, sum_of_rounds

WARPS = 32
TILE = 2**14
"""int32 per tile: 16 for each of 1024 threads."""

TILE_BYTES = 4 * TILE
LAYOUT = gl.constexpr(gl.BlockedLayout([4], [32], [WARPS], [0]))
ELEMENTS = gl.constexpr(TILE)

KINDS = ("read", "write", "copy")


@gluon.jit(do_not_specialize=["steps", "round", "value"])
def stream(stamps, x, y, steps, round, value, KIND: gl.constexpr, GROUP: gl.constexpr):
    """Read x, write `value` to y, or copy x to y: both int32 [tiles * TILE]. The checksum is the sum of all
    values read, modulo 2^32. GROUP: the grid axis that counts groups."""
    begin, begin_ns = clocks()
    lanes = gl.arange(0, ELEMENTS, LAYOUT)
    acc = gl.zeros([ELEMENTS], gl.int32, LAYOUT)
    tile = gl.program_id(GROUP)
    groups = gl.num_programs(GROUP)
    left = round
    for _ in range(steps):
        at = tile.to(gl.int64) * ELEMENTS + lanes
        if KIND == "write":
            gl.store(y + at, acc + value)
        else:
            found = gl.load(x + at, cache_modifier=".cg")
            if KIND == "copy":
                gl.store(y + at, found)
            else:
                acc += found
        left -= 1
        tile += groups
        if left == 0:
            left = round
            tile -= round * groups
    stamp(stamps, begin, begin_ns, gl.sum(acc, 0))


@dataclass(frozen=True, slots=True)
class Stream:
    """`blocks` thread blocks stream `steps` steps over `round` tiles per group of `together`."""

    kind: str
    blocks: int
    steps: int
    round: int
    together: int = 1
    neighbours: bool = True

    @property
    def tiles(self) -> int:
        """Tiles of the footprint; for a copy, of the source and of the target."""
        return self.blocks // self.together * self.round

    @property
    def footprint(self) -> int:
        """Bytes; for a copy, of source and target."""
        return self.tiles * TILE_BYTES * (2 if self.kind == "copy" else 1)

    @property
    def moved(self) -> int:
        """Bytes that the SMs read or write in total."""
        return self.blocks * self.steps * TILE_BYTES * (2 if self.kind == "copy" else 1)


class Streamed:
    """The random memory of a Stream, and launches over it. KernelError for wrong values."""

    def __init__(self, asked: Stream, random: torch.Generator) -> None:
        self.asked = asked
        size = asked.tiles * TILE
        self.x = torch.empty(size, dtype=torch.int32, device=random.device)
        self.x.random_(-(2**31), 2**31 - 1, generator=random)
        self.y = torch.empty_like(self.x) if asked.kind == "copy" else self.x
        self.value = 1
        rounds = self.x.view(asked.round, -1).sum(dim=1).tolist()
        self.sum = sum_of_rounds(rounds, asked.steps, asked.together)

    def launch(self) -> Launch:
        asked, stamps = self.asked, stamp_buffer(self.asked.blocks)
        self.value += 1
        groups = asked.blocks // asked.together
        stream[(asked.together, groups) if asked.neighbours else (groups, asked.together)](
            stamps, self.x, self.y, asked.steps, asked.round, self.value,
            KIND=asked.kind, GROUP=int(asked.neighbours), num_warps=WARPS,
        )  # fmt: skip
        seen = read_stamps(stamps.cpu().numpy())
        if asked.kind == "read" and (seen.checksum - self.sum) % 2**32:
            raise KernelError(f"a read of {asked.footprint} bytes has a wrong checksum")
        return seen

    def check(self) -> None:
        """Raise KernelError if a write or copy left wrong values."""
        asked = self.asked
        wrong = self.y != (self.value if asked.kind == "write" else self.x)
        if asked.kind != "read" and wrong.any():
            raise KernelError(f"a {asked.kind} left {int(wrong.sum())} of {len(wrong)} values wrong")
