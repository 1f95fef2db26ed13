"""Occupancy: how many thread blocks an SM holds at once, and which of its four limits they reach first.

An SM holds another thread block only while it has four things left:

    registers       a warp gets 32 times what a thread needs, rounded up to REGISTER_UNIT. An SM has PARTS
                    parts with a fourth of the registers each, and a warp lives in one of them. A block is
                    admitted as if its warps filled all parts evenly.
    shared memory   what the block asks for and what the system keeps for itself in each block: 1 KiB since
                    compute capability 8.0, nothing before. Rounded up to 128 bytes, before 8.0 to 256.
    threads         whole warps of 32.
    block slots     one each.

Source: cuda_occupancy.h of the CUDA Toolkit 13.0, functions cudaOccMaxBlocksPerSM...Limit; limits of each
compute capability: CUDA C++ Programming Guide, tables 26 and 27.
"""

from typing import NamedTuple

from tilesim.devices.facts import values
from tilesim.devices.presets import facts, presets
from tilesim.errors import DeviceError, whole

WARP, PARTS = 32, 4
REGISTER_UNIT, MOST_REGISTERS = 256, 255
"""Registers are given to a warp in units of 256, and a thread has at most 255."""
LIMITS = ("registers", "shared memory", "threads", "block slots")
UNLIMITED = 2**31 - 1
"""Blocks that a limit admits of which they need nothing."""
NEEDED = (
    "registers_per_sm", "shared_kib_per_sm", "shared_kib_per_block", "threads_per_sm", "threads_per_block",
    "blocks_per_sm",
)  # fmt: skip


class Use(NamedTuple):
    """Of one limit: what a block takes `of_block`, what there is `of_sm`, and how many `blocks` it admits.

    Registers have 32 bits, shared memory is in bytes.
    """

    limit: str
    of_block: int
    of_sm: int
    blocks: int


class Occupancy(NamedTuple):
    """Thread blocks on an SM: a Use for each of LIMITS, in their order."""

    uses: tuple[Use, ...]

    @property
    def residents(self) -> int:
        """Thread blocks that an SM holds at once; 0 where it cannot run one."""
        return min(use.blocks for use in self.uses)

    @property
    def binding(self) -> tuple[str, ...]:
        """The limits that keep the next block away, most often one."""
        return tuple(use.limit for use in self.uses if use.blocks == self.residents)

    @property
    def share(self) -> float:
        """Resident threads of those that an SM can hold, up to 1: what profilers call occupancy."""
        threads = self.uses[2]
        return self.residents * threads.of_block / threads.of_sm


def occupancy(device: str, threads: int, registers: int, shared_bytes: int = 0) -> Occupancy:
    """How many blocks of `threads` with so many `registers` each and `shared_bytes` an SM holds. Raises
    DeviceError for a device that is not known, one of another maker, or a number that no block can have."""
    known = values(facts(device))
    if known.get("threads_per_warp") != WARP or any(name not in known for name in NEEDED):
        title = presets()[device]["title"]
        raise DeviceError(f"how {title} shares an SM out to blocks is not known; take a GPU of NVIDIA's")
    threads = whole("threads", threads, 1, known["threads_per_block"], DeviceError)
    registers = whole("registers", registers, 1, MOST_REGISTERS, DeviceError)
    shared_bytes = whole("shared_bytes", shared_bytes, 0, 2**31, DeviceError)
    warps = -(-threads // WARP)
    of_warp = _up(registers * WARP, REGISTER_UNIT)
    fits = of_warp * _up(warps, PARTS) <= known["registers_per_sm"]
    in_part = known["registers_per_sm"] // PARTS // of_warp
    shared_of_sm = 1024 * known["shared_kib_per_sm"]
    reserved = shared_of_sm - 1024 * known["shared_kib_per_block"]
    shared = _up(shared_bytes + reserved, 128 if reserved else 256)
    taken = (
        (of_warp * warps, known["registers_per_sm"], in_part * PARTS // warps if fits else 0),
        (shared, shared_of_sm, shared_of_sm // shared if shared else UNLIMITED),
        (warps * WARP, known["threads_per_sm"], known["threads_per_sm"] // (warps * WARP)),
        (1, known["blocks_per_sm"], known["blocks_per_sm"]),
    )
    return Occupancy(tuple(Use(limit, *each) for limit, each in zip(LIMITS, taken, strict=True)))


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
