"""Costs: what each step of a thread block takes, one knob for each cause.

issue -launch, prologue-> start -overhead, K-steps-> drain -wait-> ready -fix-up-> fixup -epilogue-> done
   (later: tile_gap)                                    (a partial: drain -partial-> done)
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from tilesim.devices.device import Device
from tilesim.devices.presets import in_words, presets
from tilesim.errors import CostsError, shown
from tilesim.storage.decode import FILLED, ROUNDED, between, check, decode, one_of

MAX_NS = 10**15
MAX_JITTER = 10
"""Of a K-step, relative: a standard deviation of ten times its length."""
WHOLE = (
    "mainloop_overhead", "launch", "prologue", "tile_gap", "epilogue", "epilogue_serialisation",
    "epilogue_overlap_penalty", "partial", "merge", "fixup", "stages",
)  # fmt: skip
"""Costs that are whole numbers: ns, and the stages."""
RENAMED = {"handover": "tile_gap", "ramp": "mainloop_overhead", "contention": "epilogue_overlap_penalty"}
"""Costs by the names that files of versions before 0.2 have."""
Whole = Annotated[int, between(0, MAX_NS), ROUNDED]
Real = Annotated[int | float, between(0, MAX_NS)]
Preset = Annotated[str, one_of(presets, empty=True)]


@dataclass(frozen=True, slots=True)
class Costs:
    """Times are ns. Everything is 0 by default but the K-step, which takes 1 µs.

    `k_step`: what a K-step multiplies, alone on its SM. On a `device`, 0 is what its tensor cores take, and
    K-steps wait for memory, too: see tilesim.model.kstep. On none they take that, times `coresidency`.
    `mainloop_overhead`: what a main loop takes beyond its K-steps.
    `launch`: from a thread block's dispatch to its first instruction (CTA turnaround).
    `prologue`: from there to the first multiply, while the load pipeline fills. On a `device`, blocks that
    begin together get their loads in turn, and this in the mean: see tilesim.model.kstep.
    `tile_gap`: from a later segment's issue to its first multiply, inside one CTA.
    `epilogue`: writing a finished tile.
    `epilogue_serialisation`: where residents of an SM write in turn, the least time from the end of one
    epilogue to the end of another that began under it. A thread block launched under epilogues then loads
    nothing before the last of them has ended. Partials, and tiles to which some were added, take no turns. At
    0 nothing does.
    `overlap`: whether a CTA's next segment is issued at `fixup`, under the epilogue, or at `done`.
    `epilogue_overlap_penalty`: what a main loop takes longer while its CTA's epilogue of another tile runs
    under it.
    `partial`: storing a partial tile for another CTA, before this one goes on; None: as an epilogue.
    `merge`: from the last partial's arrival to the first addition. `fixup`: adding one partial.
    `jitter`: relative standard deviation of a K-step. K-steps vary independently: a tile of n of them varies
    by 1/sqrt(n) of that.
    `stages`: of K-steps, in which loads run ahead of the one that is multiplied; 0 where not known.
    `coresidency`: f(1), f(2), ... where there is no device: a main loop advances at 1/f(r) while r CTAs of
    its SM are in their main loops; f(1) is 1 and the last value holds beyond.
    `clock_mhz`: the SM clock at which these figures hold, 0 where not known.
    `device`: the preset on which they were measured, such as "h200"; "" where on none.
    `scaled_to`: the preset to which they were scaled, as it has none of its own; "" otherwise.
    `source`: where the figures come from, in words.

    Raises CostsError for a negative, infinite or missing value, or a k_step of 0 without a device.
    """

    k_step: Real = 1000.0
    mainloop_overhead: Whole = 0
    launch: Whole = 0
    prologue: Whole = 0
    tile_gap: Whole = 0
    epilogue: Whole = 0
    epilogue_serialisation: Whole = 0
    overlap: bool = False
    epilogue_overlap_penalty: Whole = 0
    partial: Whole | None = None
    merge: Whole = 0
    fixup: Whole = 0
    jitter: Annotated[int | float, between(0, MAX_JITTER)] = 0.0
    stages: Whole = 0
    coresidency: Annotated[tuple[Annotated[float, between(0, above=True)], ...], FILLED] = (1.0,)
    clock_mhz: Real = 0.0
    device: Preset = ""
    scaled_to: Preset = ""
    source: str = ""

    def __post_init__(self) -> None:
        check(self, CostsError)
        if not self.k_step and not self.device:
            raise CostsError("k_step is 0; without a device a K-step must take time")
        if self.coresidency[0] != 1:
            raise CostsError(f"coresidency is {shown(list(self.coresidency))}; its first factor must be 1")

    @property
    def hardware(self) -> str:
        """The preset whose hardware takes the K-steps; "" where they take `k_step`."""
        return self.scaled_to or self.device

    def slowdown(self, residents: int) -> float:
        """f(r) without a device: how many times as long a K-step takes while `residents` CTAs multiply."""
        return self.coresidency[min(residents, len(self.coresidency)) - 1]

    @classmethod
    def ideal(cls) -> "Costs":
        """1 µs per K-step and nothing else: what the schedule alone does."""
        return cls(source="ideal: 1 µs per K-step, nothing else")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> "Costs":
        """Costs from parsed JSON; raises CostsError for a field that does not exist."""
        return decode(cls, with_current_names(values), "the costs", CostsError)


def with_current_names(costs: Any) -> Any:
    """Parsed JSON of costs with the fields' names of today; what is no object stays as it is."""
    if not isinstance(costs, Mapping):
        return costs
    return {name if RENAMED.get(name) in costs else RENAMED.get(name, name): costs[name] for name in costs}


def badge(costs: Costs | Mapping[str, Any], device: Device) -> str:
    """Whose costs a run on `device` has, as a short label; `costs` may also be what a trace's meta holds."""
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
        return f"{whose} timings" + ("" if runs_on == costs.device else f" on {in_words(runs_on)}")
    scaled = "" if runs_on == costs.scaled_to else f" for {in_words(costs.scaled_to)}"
    return f"{whose} overheads{scaled} on {in_words(runs_on)}"


OF_A_GPU = re.compile("(.+) (timings|overheads)(?: for an? (.+?))?(?: on an? (.+))?")
"""What `badge` says of a GPU's costs: whose, what, scaled to which, and on which."""


def said_of(label: str, tr: Callable[..., str]) -> str:
    """What `badge` gives, by a function that translates a sentence and fills in its fields."""
    found = OF_A_GPU.fullmatch(label)
    if label in ("ideal costs", "custom costs", "unknown costs"):
        return tr(label)
    if not found:
        return label
    gpu, what, scaled, on = found.groups()
    said = tr(f"{{gpu}} {what}", gpu=gpu)
    said = tr("{costs} for {gpu}", costs=said, gpu=scaled) if scaled else said
    return tr("{costs} on {gpu}", costs=said, gpu=on) if on else said
