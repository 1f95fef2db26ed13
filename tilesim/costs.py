"""Costs: what each step of a thread block takes, one knob for each cause.

issue -launch, prologue-> start -ramp, K-steps-> drain -wait-> ready -fix-up-> fixup -epilogue-> done
   (later: staging, handover)                       (a partial: drain -partial-> done)
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from math import inf, isfinite
from typing import Any

from tilesim.devices import Device, in_words, presets
from tilesim.errors import CostsError, shown, unknown

MAX_NS = 10**15
MAX_JITTER = 10
"""The jitter of a K-step is below this."""
MOST_JITTER = 0.99 * MAX_JITTER
"""The largest jitter that is fitted or comes out of scaling."""
WHOLE = (
    "ramp", "dispatch", "launch", "prologue", "handover", "epilogue", "epilogue_serialisation", "staging",
    "contention", "partial", "merge", "fixup", "cache",
)  # fmt: skip
"""Costs that are whole numbers: ns, and the bytes of the cache."""
REAL = (
    "k_step", "unloaded_latency", "bandwidth", "exposed_dram", "sole_exposed_dram", "unshared_l2", "jitter",
    "clock_mhz",
)  # fmt: skip
"""Costs that need not be whole."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Times are ns. Everything is 0 by default but the K-step, which takes 1 µs.

    `k_step`: one K-step of a main loop that has its SM to itself. What changes that is in
    tilesim.model.kstep.
    `ramp`: what a main loop takes beyond its K-steps.
    `dispatch`: the least time between two thread blocks that the hardware dispatches.
    `launch`: from a thread block's dispatch to its first instruction (CTA turnaround).
    `prologue`: from there to the first multiply, while the load pipeline fills.
    `handover`: from a later segment's issue to its first multiply, inside one CTA.
    `epilogue`: writing a finished tile.
    `epilogue_serialisation`: where residents of an SM write in turn, the least time from the end of one
    epilogue to the end of another that began under it. A thread block launched under epilogues then loads
    nothing before the last of them has ended. Partials, and tiles to which some were added, take no turns. At
    0 nothing does.
    `overlap`: whether a CTA's next segment is issued at `fixup`, under the epilogue, or at `done`.
    `staging`: the part of an overlapped epilogue that its CTA has to finish before the hand-over.
    `contention`: what a main loop takes longer while its CTA's epilogue of another tile runs under it.
    `partial`: storing a partial tile for another CTA, before this one goes on; None: as an epilogue.
    `merge`: from the last partial's arrival to the first addition. `fixup`: adding one partial.
    `coresidency`: f(1), f(2), ...: a main loop advances at 1/f(r) while r CTAs of its SM are in their main
    loops; f(1) is 1 and the last value holds beyond.
    `unloaded_latency`: share of a K-step that a main loop saves when it is alone on an SM of several slots,
    times the share of the device's slots that are idle meanwhile.
    `bandwidth`: bytes per ns (GB/s) that DRAM delivers behind a cache; 0: any.
    `cache`: bytes of that cache.
    `exposed_dram`: share of a K-step that its loads add where all operands come from DRAM; 0 without a
    bandwidth.
    `sole_exposed_dram`: the same, on top, for a main loop alone on an SM of several slots: none hides its
    waits.
    `unshared_l2`: share of a K-step that its loads add where no two slots load the same operand within a
    K-step: what several SMs ask for at a time, the L2 sends once.
    `jitter`: relative standard deviation of a K-step. K-steps vary independently: a tile of n of them varies
    by 1/sqrt(n) of that.
    `clock_mhz`: the SM clock at which these figures hold, 0 where not known.
    `device`: the preset on which they were measured, such as "h200"; "" where on none.
    `scaled_to`: the preset whose datasheet they were scaled to, as it has none of its own; "" otherwise.
    `source`: where the figures come from, in words.

    Raises CostsError for a negative, infinite or missing value, a k_step of 0, or a bandwidth but no cache.
    """

    k_step: float = 1000.0
    ramp: int = 0
    dispatch: int = 0
    launch: int = 0
    prologue: int = 0
    handover: int = 0
    epilogue: int = 0
    epilogue_serialisation: int = 0
    overlap: bool = False
    staging: int = 0
    contention: int = 0
    partial: int | None = None
    merge: int = 0
    fixup: int = 0
    coresidency: tuple[float, ...] = (1.0,)
    unloaded_latency: float = 0.0
    bandwidth: float = 0.0
    cache: int = 0
    exposed_dram: float = 0.0
    sole_exposed_dram: float = 0.0
    unshared_l2: float = 0.0
    jitter: float = 0.0
    clock_mhz: float = 0.0
    device: str = ""
    scaled_to: str = ""
    source: str = ""

    def __post_init__(self) -> None:
        for name in (*WHOLE, *REAL):
            value = getattr(self, name)
            if name == "partial" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < inf:
                raise CostsError(f"the cost {name} is {shown(value)}; it must be a finite number")
            if not 0 <= value <= MAX_NS:
                raise CostsError(f"the cost {name} is {shown(value)}; it must lie between 0 and {MAX_NS}")
            if name in WHOLE:
                object.__setattr__(self, name, round(value))
        if self.k_step <= 0:
            raise CostsError(f"the cost k_step is {shown(self.k_step)}; a K-step must take time")
        if self.bandwidth and not self.cache:
            raise CostsError(
                f"the bandwidth is {shown(self.bandwidth)}, so the cache in front of it needs a size"
            )
        for name, limit in (("jitter", MAX_JITTER), ("unloaded_latency", 1)):
            if getattr(self, name) >= limit:
                raise CostsError(f"the {name} is {shown(getattr(self, name))}; it must be below {limit}")
        if not isinstance(self.overlap, bool):
            raise CostsError(f"overlap is {shown(self.overlap)}; it must be true or false")
        if not isinstance(self.source, str):
            raise CostsError(f"the source is {shown(self.source)}; it must be words")
        for name in (self.device, self.scaled_to):
            if not isinstance(name, str) or (name and name not in presets()):
                raise CostsError(unknown("device", str(name), presets()))
        if isinstance(self.coresidency, str):
            raise CostsError(f"coresidency is {shown(self.coresidency)}; it must be a list of numbers")
        try:
            shares = tuple(float(value) for value in self.coresidency)
        except (TypeError, ValueError, OverflowError):
            raise CostsError(
                f"coresidency is {shown(self.coresidency)}; it must be a list of numbers"
            ) from None
        if not shares or shares[0] != 1 or not all(isfinite(f) and f > 0 for f in shares):
            raise CostsError(
                f"coresidency is {shown(list(shares))}; it must be positive factors, the first of them 1"
            )
        object.__setattr__(self, "coresidency", shares)

    def slowdown(self, residents: int) -> float:
        """f(r): how much longer a K-step takes while `residents` CTAs of the SM multiply."""
        return self.coresidency[min(residents, len(self.coresidency)) - 1]

    @classmethod
    def ideal(cls) -> "Costs":
        """1 µs per K-step and nothing else: what the schedule alone does."""
        return cls(source="ideal: 1 µs per K-step, nothing else")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> "Costs":
        """Costs from parsed JSON; raises CostsError for a field that does not exist."""
        known = [f.name for f in fields(cls)]
        for name in values:
            if name not in known:
                raise CostsError(unknown("cost", str(name), known))
        return cls(**values)


def even_shares(ctas_per_sm: int) -> tuple[float, ...]:
    """f(r) = r, the co-residency where none was measured: r main loops share their SM's rate.

    >>> even_shares(2)
    (1.0, 2.0)
    """
    return tuple(float(r) for r in range(1, ctas_per_sm + 1))


def badge(costs: Costs | Mapping[str, Any], device: Device) -> str:
    """Whose costs a run on `device` has, as a short label; `costs` may also be what a trace's meta holds.

    A device without a name has whatever GPU's SMs its costs were measured on. Costs that were measured on no
    preset are "custom costs", and what is no costs at all "unknown costs".

    >>> a100, h200 = Device.named("a100"), Device.named("h200", sms=4)
    >>> measured = Costs(k_step=600, device="h200")
    >>> badge(measured, h200), badge(measured, Device(4)), badge(measured, a100)
    ('H200 costs', 'H200 costs', 'H200 costs on an A100')
    >>> badge(replace(measured, scaled_to="a100"), a100)
    'H200 overheads on an A100'
    >>> badge(Costs.ideal(), h200), badge(Costs(k_step=5), h200), badge({}, h200)
    ('ideal costs', 'custom costs', 'unknown costs')
    """
    if not isinstance(costs, Costs):
        try:
            costs = Costs.from_mapping({"k_step": None} | dict(costs))
        except (CostsError, TypeError, ValueError):
            return "unknown costs"
    if replace(costs, source="") == Costs():
        return "ideal costs"
    if not costs.device:
        return "custom costs"
    whose, runs_on = presets()[costs.device]["short"], device.name or costs.scaled_to or costs.device
    if not costs.scaled_to:
        return f"{whose} costs" + ("" if runs_on == costs.device else f" on {in_words(runs_on)}")
    scaled = "" if runs_on == costs.scaled_to else f" for {in_words(costs.scaled_to)}"
    return f"{whose} overheads{scaled} on {in_words(runs_on)}"
