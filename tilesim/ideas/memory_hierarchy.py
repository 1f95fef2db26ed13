"""Memory hierarchy: the size, bandwidth and latency of each level of a GPU's memory, from
tilesim.devices.facts.

Registers send what the FMA units read at their fp32 peak, three 4-byte operands per 2 FLOP; shared memory its
bytes per clock and SM, times SMs, times the maximum clock; L2 and DRAM the highest measured read rate of all
SMs together. A latency is SM cycles of a pointer chase.
"""

from typing import NamedTuple

from tilesim.devices.facts import sources, values
from tilesim.devices.presets import entry_of, facts
from tilesim.errors import DeviceError

REGISTER_BYTES = 4
WITH_HBM = ("volta", "ampere", "hopper", "blackwell", "cdna3")
"""Architectures in devices.json whose DRAM is HBM, according to their whitepapers and datasheets."""
REGISTERS = ("sms", "registers_per_sm", "peak_tflops")
SHARED = ("sms", "shared_kib_per_sm", "shared_bytes_per_clock", "max_sm_mhz", "shared_latency")
L2 = ("l2_mb", "l2_gb_per_s", "l2_latency")
FAR = ("memory_gb", "dram_read_gb_per_s", "dram_latency")
"""The facts from which each level follows."""
READ_PER_FLOP = 3 * REGISTER_BYTES / 2
"""Register bytes that a fused multiply-add reads per FLOP."""


class Level(NamedTuple):
    """A memory level with `per_sm` bytes private to each SM (0 if shared by all), and `size` bytes in total.
    `gb_per_s`: read rate of all SMs together; `cycles`: load latency, None for registers; `facts`: those of
    tilesim.devices.facts that it follows from."""

    name: str
    per_sm: int
    size: int
    gb_per_s: float
    cycles: float | None
    facts: tuple[str, ...]


def levels(device: str) -> tuple[Level, ...]:
    """The memory levels of a preset, nearest first; DeviceError if it is unknown or lacks a fact needed."""
    known = facts(device)
    lacking = sorted({*REGISTERS, *SHARED, *L2, *FAR} - set(known))
    if not lacking and "fp32" not in known["peak_tflops"].value:
        lacking = ["peak_tflops of fp32"]
    if lacking:
        raise DeviceError(f"the memory levels of {device} are unknown, because it lacks {', '.join(lacking)}")
    of = values(known)
    registers, shared = REGISTER_BYTES * of["registers_per_sm"], 1024 * of["shared_kib_per_sm"]
    register_rate = 1000 * READ_PER_FLOP * of["peak_tflops"]["fp32"]
    shared_rate = of["shared_bytes_per_clock"] * of["sms"] * of["max_sm_mhz"] / 1000
    l2, memory = round(of["l2_mb"] * 10**6), round(of["memory_gb"] * 10**9)
    far = "HBM" if entry_of(device).get("architecture") in WITH_HBM else "DRAM"
    return (
        Level("registers", registers, of["sms"] * registers, register_rate, None, REGISTERS),
        Level("shared memory", shared, of["sms"] * shared, shared_rate, of["shared_latency"], SHARED),
        Level("L2", 0, l2, of["l2_gb_per_s"], of["l2_latency"], L2),
        Level(far, 0, memory, of["dram_read_gb_per_s"], of["dram_latency"], FAR),
    )


def sourced(device: str, level: Level) -> tuple[str, ...]:
    """The sources of a level's figures: titles, or rules."""
    said = []
    for fact in (facts(device)[name] for name in level.facts):
        known = sources().get(fact.source)
        said.append(known.title if known else fact.source or fact.rule)
    return tuple(dict.fromkeys(said))
