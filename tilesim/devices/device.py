"""Device: how many SMs there are, how many thread blocks fit on each, and who is in the way."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from tilesim.devices import gpus
from tilesim.devices.facts import fill_order
from tilesim.devices.files import MAX_SMS
from tilesim.devices.presets import presets, registered
from tilesim.errors import DeviceError, unknown
from tilesim.storage.decode import between, check, one_of
from tilesim.text import plural

MAX_CTAS_PER_SM = 64


@dataclass(frozen=True, slots=True)
class Device:
    """`sms` streaming multiprocessors with room for `ctas_per_sm` thread blocks each.

    `sm_order`: how the hardware fills SMs: each once, or each `ctas_per_sm` times, where some get their
    second block before others their first (empty: by number). `busy_sms` are held by another kernel, the
    first in that order. `name` is the preset's, if any.

    Raises DeviceError for a count out of range, no free SM, or an order that does not list each SM so often.
    """

    sms: Annotated[int, between(1, MAX_SMS)]
    ctas_per_sm: Annotated[int, between(1, MAX_CTAS_PER_SM)] = 1
    busy_sms: Annotated[int, between(0, MAX_SMS)] = 0
    name: Annotated[str, one_of(presets, empty=True)] = ""
    sm_order: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check(self, DeviceError)
        if self.busy_sms >= self.sms:
            raise DeviceError(f"{self.busy_sms} of {self.sms} SMs are busy; at least one must be free")
        order = self.sm_order
        times = len(order) // self.sms
        if times not in (0, 1, self.ctas_per_sm) or sorted(order) != sorted([*range(self.sms)] * times):
            or_more = f", or each {self.ctas_per_sm} times" if self.ctas_per_sm > 1 else ""
            raise DeviceError(f"the SM order must list each SM from 0 to {self.sms - 1} once{or_more}")

    @classmethod
    def named(cls, name: str, sms: int | None = None, ctas_per_sm: int = 1, busy_sms: int = 0) -> "Device":
        """A preset by its name, such as "h200", or the GPU of a driver's name, such as "NVIDIA H200"; `sms`
        keeps its constants but changes how many SMs it has. Raises DeviceError where there is no such name.
        """
        gpu = gpus.named(name) if isinstance(name, str) else None
        if gpu is None:
            raise DeviceError(unknown("device", str(name), presets()))
        preset, sms = presets()[gpu.preset], gpu.sms if sms is None else sms
        order = fill_order(preset.get("sm_tiers", ())) if sms == preset["sms"] else ()
        return cls(sms, ctas_per_sm, busy_sms, gpu.preset, order)

    @classmethod
    def chosen(cls, values: Mapping[str, Any], default: "Device") -> "Device":
        """The device that options describe: device (a name that `named` knows), sms, ctas_per_sm, busy_sms,
        all optional. `sms` is so many SMs of that device, or of `default`; without both it is `default` with
        the other options."""
        values = dict(values)
        name = str(values.pop("device", default.name if "sms" in values else ""))
        if name:
            return cls.named(name, **values)
        return cls(**values) if "sms" in values else replace(default, **values)

    @property
    def slots(self) -> int:
        """Places for resident thread blocks on the SMs that are free."""
        return (self.sms - self.busy_sms) * self.ctas_per_sm

    @property
    def own_entry(self) -> Mapping[str, Any] | None:
        """All that is known of a device of a file, which its traces hold; None of a preset and of no name."""
        return registered().get(self.name)

    @property
    def title(self) -> str:
        return presets()[self.name]["title"] if self.name else plural(self.sms, "SM")

    @property
    def free_sms(self) -> tuple[int, ...]:
        """The SMs that are free, in the order in which the hardware fills them."""
        return tuple(dict.fromkeys(self.sm_order or range(self.sms)))[self.busy_sms :]

    @property
    def filling(self) -> tuple[int, ...]:
        """The SM of each slot, in the order in which the hardware fills slots."""
        if len(self.sm_order) <= self.sms:
            return self.free_sms * self.ctas_per_sm
        free = set(self.free_sms)
        return tuple(sm for sm in self.sm_order if sm in free)
