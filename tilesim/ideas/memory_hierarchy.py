"""Memory hierarchy: how large, how fast and how far each level of a GPU's memory is, and what comes from it.

Every SM has registers and shared memory of its own; all SMs share the L2, and behind it is HBM, the device's
memory, or other DRAM. The nearer, the smaller, the faster, the sooner. `levels` takes
sizes, rates and latencies from tilesim.devices.facts, where each figure has its source:

size        registers of 32 bits, and KiB of shared memory, of an SM; MB of L2; GB of HBM
bandwidth   registers: what the FMA units read at their peak, three operands of 4 bytes for 2 FLOP in fp32
            shared memory: bytes a clock and SM, times SMs, times the highest clock
            L2 and HBM: the most that somebody measured all SMs together to read
latency     of one load that waits for the one before (a pointer chase), in cycles of the SM's clock; to read
            a register is part of an instruction and takes none of its own

What a kernel asks for does not have to come from far. Each tile of a product loads a row of blocks of A and a
column of B into its SM, so tiles of 128 x 256 ask for each byte of A N / 256 times, and of B M / 128 times.
What SMs ask for at about the same time is read once at the L2, and what the L2 holds HBM need not send. How
much is left is counted by `tilesim bench memory-hierarchy`; `stream` has what tilesim.model.traffic expects.
"""

from typing import NamedTuple

from tilesim.devices.device import Device
from tilesim.devices.facts import sources
from tilesim.devices.presets import entry_of, facts
from tilesim.errors import DeviceError
from tilesim.ideas.l2_order import traced
from tilesim.problems import Problem

REGISTER_BYTES = 4
WITH_HBM = ("volta", "ampere", "hopper", "blackwell", "cdna3")
"""Architectures of devices.json whose DRAM is HBM, as their whitepapers and datasheets say."""
READ_PER_FLOP = 3 * REGISTER_BYTES / 2
"""Bytes of registers that a fused multiply-add reads, for each of its two FLOP."""


class Level(NamedTuple):
    """A level of memory: `per_sm` bytes of each SM's own, 0 where all share it, and `size` bytes in all.

    `gb_per_s`: what all SMs together read, in 10⁹ bytes. `cycles`: the latency of a load; None for registers.
    `facts`: what of tilesim.devices.facts it follows from.
    """

    name: str
    per_sm: int
    size: int
    gb_per_s: float
    cycles: float | None
    facts: tuple[str, ...]


def levels(device: str) -> tuple[Level, ...]:
    """The levels of a preset's memory, the nearest first.

    Raises DeviceError where there is no such device, or not all of that is known of it.

    >>> for level in levels("h200"):
    ...     print(f"{level.name:13} {level.per_sm:6} {level.size:12} {level.gb_per_s:6.0f} {level.cycles}")
    registers     262144     34603008 402000 None
    shared memory 233472     30818304  33454 23.0
    L2                 0     50000000   9400 282.7
    HBM                0 141000000000   4500 685.7
    """
    known = facts(device)
    far = "HBM" if entry_of(device).get("architecture") in WITH_HBM else "DRAM"
    needed = {
        "registers": ("sms", "registers_per_sm", "peak_tflops"),
        "shared memory": (
            "sms",
            "shared_kib_per_sm",
            "shared_bytes_per_clock",
            "max_sm_mhz",
            "shared_latency",
        ),
        "L2": ("l2_mb", "l2_gb_per_s", "l2_latency"),
        far: ("memory_gb", "dram_read_gb_per_s", "dram_latency"),
    }
    lacking = sorted({name for names in needed.values() for name in names} - set(known))
    if not lacking and "fp32" not in known["peak_tflops"].value:
        lacking = ["peak_tflops of fp32"]
    if lacking:
        raise DeviceError(
            f"nothing is known of {' and '.join(lacking)} of {device}, so of its levels of memory"
        )
    of = {name: fact.value for name, fact in known.items()}
    registers, shared = REGISTER_BYTES * of["registers_per_sm"], 1024 * of["shared_kib_per_sm"]
    figures = {
        "registers": (
            registers,
            of["sms"] * registers,
            1000 * READ_PER_FLOP * of["peak_tflops"]["fp32"],
            None,
        ),
        "shared memory": (
            shared,
            of["sms"] * shared,
            of["shared_bytes_per_clock"] * of["sms"] * of["max_sm_mhz"] / 1000,
            of["shared_latency"],
        ),
        "L2": (0, round(of["l2_mb"] * 10**6), of["l2_gb_per_s"], of["l2_latency"]),
        far: (0, round(of["memory_gb"] * 10**9), of["dram_read_gb_per_s"], of["dram_latency"]),
    }
    return tuple(Level(name, *figures[name], names) for name, names in needed.items())


def sourced(device: str, level: Level) -> tuple[str, ...]:
    """Where the figures of a level are from: titles of sources, and rules by which they follow from others.

    >>> sourced("h200", levels("h200")[3])[0]
    'NVIDIA H200 Tensor Core GPU datasheet'
    """
    known = facts(device)
    names = (known[name] for name in level.facts)
    said = (
        sources()[one.source].title if one.source in sources() else one.source or one.rule for one in names
    )
    return tuple(dict.fromkeys(said))


class Stream(NamedTuple):
    """Bytes of A and B that tiles ask for, and those of them that HBM sends."""

    asked: float
    sent: float

    @property
    def reuse(self) -> float:
        """How often a byte from HBM is used."""
        return self.asked / self.sent


def stream(problem: Problem, device: Device) -> Stream:
    """What a product asks for, and what of that HBM sends behind the L2 of `device`, by the model.

    Raises what `tilesim.ideas.l2_order.traced` raises.

    >>> h200 = Device.named("h200")
    >>> found = stream(Problem(4096, 4096, 4096, order="grouped:8"), h200)
    >>> round(found.asked / 1e6), round(found.sent / 1e6), round(found.reuse, 1)
    (1611, 108, 14.9)
    """
    return Stream(problem.asked_bytes, traced(problem, device).hbm_bytes)
