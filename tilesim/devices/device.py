"""Device: how many SMs there are, how many thread blocks fit on each, and who is in the way."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from os import PathLike
from typing import Any

import numpy as np

from tilesim.devices import facts as sourced
from tilesim.devices import files
from tilesim.devices.facts import Fact, published, shipped, values, with_derived
from tilesim.errors import DeviceError, unknown, whole
from tilesim.text import plural

MAX_SMS = 2**16
MAX_CTAS_PER_SM = 64


@cache
def presets() -> dict[str, dict[str, Any]]:
    """The devices known by name: title, short, and the values of what is published of each, as
    `tilesim.devices.facts.UNITS` explains them; `facts` says where each is from.

    Files of the user's own add to them: see `adopt`.
    """
    return {name: _preset(entry) for name, entry in shipped()["devices"].items()}


def _preset(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"title": entry["title"], "short": entry["short"], **values(published(entry))}


_adopted: dict[str, Mapping[str, Any]] = {}


def adopt(path: str | PathLike[str]) -> str:
    """Make the device of a file known by the file's name, which is returned: "my-gpu" for my-gpu.json.

    Raises DeviceError where it is no such file: see `tilesim.devices.files`.
    """
    name, entry = files.read(path)
    try:
        _check_tiers(entry)
    except DeviceError as error:
        raise DeviceError(f"{path}: {error}") from None
    add({name: entry})
    return name


def recall(name: str, entry: Any) -> None:
    """Make the device of a trace known again by what the trace holds of it; one that is known stays as it is.

    Raises DeviceError where that is no device, as for a file of one.
    """
    if name not in presets():
        _check_tiers(checked := files.checked(entry))
        add({files.name_of(name): checked})


def _check_tiers(entry: Mapping[str, Any]) -> None:
    found = _preset(entry)
    try:
        Device(found["sms"], sm_order=fill_order(found.get("sm_tiers", ())))
    except (TypeError, LookupError):
        raise DeviceError("sm_tiers must be a list of tiers, which list groups of SMs") from None


def add(entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Make devices known whose entries were read, in another process say."""
    _adopted.update(entries)
    presets().update({name: _preset(entry) for name, entry in entries.items()})


@contextmanager
def adding(name: str, entry: Mapping[str, Any]) -> Iterator[None]:
    """Inside, the device of `entry` is known as `name`, in place of an adopted one of that name."""
    before = _adopted.get(name)
    add({name: entry})
    try:
        yield
    finally:
        if before is None:
            discard(name)
        else:
            add({name: before})


def adopted() -> dict[str, Mapping[str, Any]]:
    """The entries of the devices that files have added, by name."""
    return dict(_adopted)


def entry_of(name: str) -> Mapping[str, Any]:
    """All that is known of a device, as devices.json or its file has it.

    Raises DeviceError where there is no such device.
    """
    if name not in presets():
        raise DeviceError(unknown("device", str(name), presets()))
    return _adopted.get(name) or shipped()["devices"][name]


def discard(name: str) -> None:
    """Forget a device that was adopted."""
    if _adopted.pop(name, None):
        presets().pop(name)


def facts(name: str) -> dict[str, Fact]:
    """What is known of a device, each with its source, and what follows from that, with the rule.

    Raises DeviceError where there is no such device.

    >>> facts("a100")["l2_gb_per_s"].source, facts("a100")["launch_cycles"].rule
    ('gpu-benches', 'as many cycles as on the H200')
    """
    return with_derived(published(entry_of(name)))


def badge(name: str) -> str:
    """What the constants of a device rest on, as a short label.

    >>> badge("a100")
    'A100, datasheet and microbenchmarks'
    """
    short = presets()[name]["short"]
    return f"{short}, a file's figures" if name in _adopted else sourced.badge(short, facts(name))


def fill_order(tiers: Sequence[Sequence[Sequence[int]]], first: Sequence[int] = ()) -> tuple[int, ...]:
    """The SMs of a GPU without work in the order in which the hardware gives each a thread block.

    A tier is a list of groups that take turns in a cycle, and a group lists its SMs: a GPC's, say, TPC by
    TPC. All of a tier comes before the next, and a group has all its SMs served in its turn. Earlier launches
    decide where in its cycle a tier begins, which `first` tells: for each tier, the first SM of the group
    whose turn it is. Without it, each tier's first group begins.

    Raises DeviceError where no group begins with such an SM.

    >>> fill_order([[[6, 7]], [[0, 1, 4, 5], [2, 3]]])
    (6, 7, 0, 1, 4, 5, 2, 3)
    >>> fill_order([[[6, 7]], [[0, 1, 4, 5], [2, 3]]], first=(6, 2))
    (6, 7, 2, 3, 0, 1, 4, 5)
    """
    order: list[int] = []
    for i, groups in enumerate(tiers):
        heads = [group[0] for group in groups]
        if first and first[i] not in heads:
            raise DeviceError(f"no group begins with SM {first[i]}; in this tier they begin with {heads}")
        at = heads.index(first[i]) if first else 0
        order += [sm for group in (*groups[at:], *groups[:at]) for sm in group]
    return tuple(order)


def in_words(name: str) -> str:
    """A preset's short name with its article; the letters of a word in capitals are spelt out.

    >>> in_words("a100"), in_words("t4")
    ('an A100', 'a T4')
    """
    short = presets()[name]["short"]
    vowels = "AEFHILMNORSX" if short.split()[0].isupper() else "AEIOaeio"
    return f"{'an' if short[0] in vowels else 'a'} {short}"


@dataclass(frozen=True, slots=True)
class Device:
    """`sms` streaming multiprocessors with room for `ctas_per_sm` thread blocks each.

    `sm_order`: how the hardware fills SMs: each once, for one block after the other, or each `ctas_per_sm`
    times, where some get their second block before others their first (empty: by number). `busy_sms` are held
    by another kernel, the first in that order. `name` is the preset's, if any.

    Raises DeviceError for a count out of range, no free SM, or an order that does not list each SM so often.
    """

    sms: int
    ctas_per_sm: int = 1
    busy_sms: int = 0
    name: str = ""
    sm_order: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name, what, low, high in (
            ("sms", "the number of SMs", 1, MAX_SMS),
            ("ctas_per_sm", "ctas_per_sm", 1, MAX_CTAS_PER_SM),
            ("busy_sms", "busy_sms", 0, MAX_SMS),
        ):
            object.__setattr__(self, name, whole(what, getattr(self, name), low, high, DeviceError))
        if self.busy_sms >= self.sms:
            raise DeviceError(f"{self.busy_sms} of {self.sms} SMs are busy; at least one must be free")
        self._check_order()
        if not isinstance(self.name, str) or (self.name and self.name not in presets()):
            raise DeviceError(unknown("device", str(self.name), presets()))

    def _check_order(self) -> None:
        order = tuple(self.sm_order) if isinstance(self.sm_order, Iterable) else None
        if order is None or not all(
            isinstance(sm, int | np.integer) and sm is not True and sm is not False for sm in order
        ):
            raise DeviceError("the SM order must be a list of the SMs' numbers")
        object.__setattr__(self, "sm_order", tuple(map(int, order)))
        times, rest = divmod(len(order), self.sms)
        alike = times in (0, 1, self.ctas_per_sm) and not rest
        if not alike or sorted(order) != [sm for sm in range(self.sms) for _ in range(times)]:
            or_more = f", or each {self.ctas_per_sm} times" if self.ctas_per_sm > 1 else ""
            raise DeviceError(f"the SM order must list each SM from 0 to {self.sms - 1} once{or_more}")

    @classmethod
    def named(cls, name: str, sms: int | None = None, ctas_per_sm: int = 1, busy_sms: int = 0) -> "Device":
        """A preset by its name, such as "h200"; `sms` keeps its costs but changes how many SMs it has."""
        if name not in presets():
            raise DeviceError(unknown("device", str(name), presets()))
        preset = presets()[name]
        order = fill_order(preset.get("sm_tiers", ())) if sms in (None, preset["sms"]) else ()
        return cls(preset["sms"] if sms is None else sms, ctas_per_sm, busy_sms, name, order)

    @classmethod
    def chosen(cls, values: Mapping[str, Any], default: "Device") -> "Device":
        """The device that options describe: device (a name), sms, ctas_per_sm, busy_sms, all optional.

        A name is a preset's. `sms` is so many SMs of that device, or of `default` where none is named;
        without both it is `default` with the rest of the options.
        """
        values = dict(values)
        name = str(values.pop("device", default.name if "sms" in values else "")).lower()
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
        return _adopted.get(self.name)

    @property
    def title(self) -> str:
        """How films and tables call it."""
        return presets()[self.name]["title"] if self.name else plural(self.sms, "SM")

    @property
    def free_sms(self) -> tuple[int, ...]:
        """The SMs that are free, in the order in which the hardware fills them."""
        return tuple(dict.fromkeys(self.sm_order or range(self.sms)))[self.busy_sms :]

    @property
    def filling(self) -> tuple[int, ...]:
        """The SM of each slot, in the order in which the hardware fills slots.

        >>> Device(3, ctas_per_sm=2, busy_sms=1, sm_order=(2, 0, 1)).filling
        (0, 1, 0, 1)
        >>> Device(2, ctas_per_sm=2, sm_order=(1, 1, 0, 0)).filling
        (1, 1, 0, 0)
        """
        if len(self.sm_order) <= self.sms:
            return self.free_sms * self.ctas_per_sm
        free = set(self.free_sms)
        return tuple(sm for sm in self.sm_order if sm in free)
