"""Facts: what is published of a GPU, or was measured on it, and where each figure stands.

devices.json has sources, architectures and devices. Both of the latter have groups of facts, each of one
source; a device has its architecture's facts too, and a later group's replaces an earlier's. What nobody has
published follows from `RULES`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from tilesim.errors import DeviceError

REFERENCE = "h200"
"""The device whose constants stand for what nobody has published of another, and whose costs for those of a
device without a name or without calibrations."""
FEATURES = {
    "async-copy": range(8, 99), "tma": range(9, 99), "clusters": range(9, 99), "warpgroup-mma": (9,),
    "tcgen05-mma": (10,), "cluster-launch-control": range(10, 99),
}  # fmt: skip
"""What kernels may need: asynchronous copies into shared memory, the Tensor Memory Accelerator, thread block
clusters, wgmma, tcgen05.mma, and thread blocks that take over those not yet launched; and which major compute
capabilities have it (PTX ISA 9)."""
UNITS = {
    "sms": "",
    "max_sm_mhz": "MHz", "tensor_mhz": "MHz", "sustained_mhz": "MHz",
    "macs_per_clock": "MACs a clock and SM", "peak_tflops": "TFLOP/s",
    "l2_mb": "MB", "l2_gb_per_s": "GB/s", "l2_apart_gb_per_s": "GB/s", "l2_merged_gb_per_s": "GB/s",
    "memory_gb": "GB", "memory_gb_per_s": "GB/s", "dram_read_gb_per_s": "GB/s",
    "shared_latency": "cycles", "l2_latency": "cycles", "dram_latency": "cycles", "launch_cycles": "cycles",
    "shared_bytes_per_clock": "bytes a clock and SM",
    "shared_kib_per_sm": "KiB", "shared_kib_per_block": "KiB",
    "registers_per_sm": "", "blocks_per_sm": "", "warps_per_sm": "",
    "threads_per_sm": "", "threads_per_block": "", "threads_per_warp": "",
    "features": "", "sm_tiers": "",
}  # fmt: skip
"""The facts that there are, with their units.

`max_sm_mhz` is the highest clock of an SM, `tensor_mhz` the one at which tensor cores reach `peak_tflops`,
`sustained_mhz` one seen under load. `macs_per_clock` and `peak_tflops` are dense and by dtype. `l2_gb_per_s`
and `dram_read_gb_per_s` are what all SMs together read at most; `l2_apart_gb_per_s` where each reads other
bytes, `l2_merged_gb_per_s` where neighbours read the same at the same time. `memory_gb_per_s` is the
datasheet's. A MB is 10⁶ bytes. `launch_cycles` pass from the end of a thread block to the first instruction
of the next in its slot. What follows `shared_bytes_per_clock` are limits; registers have 32 bits. `sm_tiers`
say in which order SMs are filled: see `fill_order`.
"""
CONSTANTS = (
    "l2_gb_per_s", "l2_apart_gb_per_s", "l2_merged_gb_per_s", "dram_read_gb_per_s", "shared_latency",
    "l2_latency", "dram_latency", "launch_cycles",
)  # fmt: skip
"""Facts that somebody has to measure."""


class Source(NamedTuple):
    """A public document or a measurement; `kind` is "datasheet", "microbenchmarks" or "measured"."""

    title: str
    publisher: str
    year: int
    kind: str
    address: str


class Fact(NamedTuple):
    """A value with the name of its source, or with the rule by which it was derived.

    `unverified`: whoever wrote it down could not read it in its source.
    """

    value: Any
    source: str = ""
    note: str = ""
    unverified: bool = False
    rule: str = ""


@cache
def shipped() -> Mapping[str, Any]:
    """devices.json as it is."""
    return json.loads(files("tilesim").joinpath("data/devices.json").read_text("utf-8"))


@cache
def sources() -> Mapping[str, Source]:
    """The sources by the names that facts give them."""
    return {name: Source(**values) for name, values in shipped()["sources"].items()}


def published(entry: Mapping[str, Any]) -> dict[str, Fact]:
    """The facts of a device's entry, its architecture's first."""
    groups: Sequence[Mapping[str, Any]] = entry.get("facts", ())
    if architecture := entry.get("architecture"):
        groups = [*shipped()["architectures"][architecture]["facts"], *groups]
    found: dict[str, Fact] = {}
    for group in groups:
        whence = {name: group[name] for name in ("source", "note", "unverified") if name in group}
        found |= {name: Fact(value, **whence) for name, value in group.items() if name not in whence}
    return found


def _clock_of_peak(own: Mapping[str, Any]) -> float:
    """MHz at which tensor cores make the peak, of the dtype for which that is most."""
    macs, peaks = own["macs_per_clock"], own["peak_tflops"]
    return max(peaks.get(dtype, 0) * 1e6 / (2 * own["sms"] * macs[dtype]) for dtype in macs)


Rule = tuple[str, Callable[[Mapping[str, Any], Mapping[str, Any]], float]]
"""How a fact follows from a device's own facts and the reference's: in words, and the function."""


def _in_proportion(name: str, to: str, words: str) -> Rule:
    return words, lambda own, ref: own[to] * ref[name] / ref[to]


def _as_many_cycles(name: str) -> Rule:
    return "as many cycles as on the H200", lambda own, ref: ref[name]


RULES: dict[str, Rule] = {
    "tensor_mhz": (
        "peak_tflops / (2 · sms · macs_per_clock), at most max_sm_mhz",
        lambda own, ref: min(own["max_sm_mhz"], _clock_of_peak(own)),
    ),
    "l2_gb_per_s": (
        "as many bytes a clock and SM as on the H200, and no less than the memory's",
        lambda own, ref: max(
            ref["l2_gb_per_s"] * own["sms"] * own["max_sm_mhz"] / (ref["sms"] * ref["max_sm_mhz"]),
            own["memory_gb_per_s"],
        ),
    ),
    **{
        name: _in_proportion(name, "l2_gb_per_s", "as many times l2_gb_per_s as on the H200")
        for name in ("l2_apart_gb_per_s", "l2_merged_gb_per_s")
    },
    "dram_read_gb_per_s": _in_proportion(
        "dram_read_gb_per_s", "memory_gb_per_s", "the share of memory_gb_per_s that the H200 reads"
    ),
    **{name: _as_many_cycles(name) for name in CONSTANTS if UNITS[name] == "cycles"},
}
"""What may be derived where nobody has published it, in this order: one may need what one before it finds."""


def with_derived(known: Mapping[str, Fact]) -> dict[str, Fact]:
    """`known`, and what follows from it by `RULES`, in the order of UNITS."""
    found, own = dict(known), values(known)
    reference = values(published(shipped()["devices"][REFERENCE]))
    for name, (words, derived) in RULES.items():
        if name not in own:
            with suppress(KeyError):  # of a fact that is not known either
                own[name] = round(derived(own, reference), 1)
                found[name] = Fact(own[name], rule=words)
    return {name: found[name] for name in UNITS if name in found}


def values(known: Mapping[str, Fact]) -> dict[str, Any]:
    return {name: fact.value for name, fact in known.items()}


def fill_order(tiers: Sequence[Sequence[Sequence[int]]], first: Sequence[int] = ()) -> tuple[int, ...]:
    """The SMs of a GPU without work in the order in which the hardware gives each a thread block.

    A tier is a list of groups that take turns in a cycle, and a group lists its SMs. All of a tier comes
    before the next, and a group has all its SMs served in its turn. `first`: for each tier, the first SM of
    the group that begins; each tier's first without it. Raises DeviceError where no group begins so."""
    order: list[int] = []
    for i, groups in enumerate(tiers):
        heads = [group[0] for group in groups]
        if first and first[i] not in heads:
            raise DeviceError(f"no group begins with SM {first[i]}; in this tier they begin with {heads}")
        at = heads.index(first[i]) if first else 0
        order += [sm for group in (*groups[at:], *groups[:at]) for sm in group]
    return tuple(order)
