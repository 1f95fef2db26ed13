"""GPUs: which preset a GPU is, by what its driver says of it and by the names that drivers give it."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from math import log
from typing import Any, NamedTuple

from tilesim.devices.facts import FEATURES, shipped
from tilesim.devices.presets import in_words, presets, registered

COMPARED = ("sms", "memory_gb", "memory_gb_per_s")
"""The facts that must agree, and how far two GPUs are apart where they do not."""
TOLERANCE = 0.1
"""Drivers count memory in other units, and keep some of it."""
SLICE = re.compile(r"(.+) MIG (\d+[cg]\..+)", re.IGNORECASE)
"""The name of a MIG slice: the GPU's, and the slice's profile."""


class Gpu(NamedTuple):
    """A GPU by its driver's `name`: the `preset` whose constants it has, "" where none can stand for it, its
    own number of `sms`, and a `note` on how it differs from its preset."""

    name: str
    preset: str
    sms: int
    note: str = ""


class Known(NamedTuple):
    """A GPU that is listed, or a preset: what it is called, and facts that are published of it."""

    names: tuple[str, ...]
    preset: str
    capability: str
    facts: Mapping[str, Any]


@cache
def listed() -> tuple[Known, ...]:
    """The GPUs of gpus.json, by the names that drivers give them."""
    groups = json.loads(files("tilesim").joinpath("data/gpus.json").read_text("utf-8"))["groups"]
    return tuple(
        Known((one["name"],), one["preset"], group["capability"], one)
        for group in groups
        for one in group["gpus"]
    )


def named(name: str) -> Gpu | None:
    """The GPU of that name, a driver's or a preset's, in capital or small letters; None where none has it. A
    MIG slice has none: its name does not say how many SMs it has."""
    if (preset := presets().get(name.lower())) is not None:
        return Gpu(preset["title"], name.lower(), preset["sms"])
    found = next(_of_name(name), None)
    return None if found is None else _is(found.names[0], found, found.facts)


def preset_of(name: str) -> str:
    """The preset whose constants the GPU of a driver's name has, "" where nobody knows it."""
    gpu = named(name)
    return gpu.preset if gpu else ""


def identified(name: str, capability: str, facts: Mapping[str, Any]) -> Gpu:
    """The GPU that a driver describes: its name, its compute capability, "9.0" say, and facts of COMPARED."""
    part = SLICE.fullmatch(name)
    of_name = [known for known in _of_name(part[1] if part else name) if known.capability == capability]
    for known in of_name:
        if not part and _agree(known.facts, facts):
            return _is(name, known, facts)
    known = of_name[0] if part and of_name else _nearest(capability, facts)  # type: ignore[assignment]
    sms = int(facts["sms"])
    if known is None:
        return Gpu(name, "", sms, f"tilesim has no constants for the {name}")
    whose = in_words(known.preset)
    if part:
        of = f"{part[2]}, of {whose} with {sms} of {presets()[known.preset]['sms']} SMs"
        note = f"it is a MIG slice, {of}; its L2 and DRAM count as those of a whole one"
    elif any(_of_name(name)):
        size = f"{sms} SMs and {facts.get('memory_gb', 0):g} GB"
        note = f"the driver calls it {name}, but with {size} it is taken for {whose}"
    else:
        note = f"tilesim does not know the {name} and takes it for {whose} with {sms} SMs"
    return Gpu(name, known.preset, sms, note)


def _is(name: str, known: Known, facts: Mapping[str, Any]) -> Gpu:
    """A GPU that is `known`; the note says what its preset has otherwise."""
    sms, note = int(facts["sms"]), ""
    if not _agree(presets()[known.preset], known.facts):
        whose = in_words(known.preset)
        note = f"the constants of {whose} stand for those of the {name}, with {sms} SMs"
    return Gpu(name, known.preset, sms, note)


def _every() -> Iterator[Known]:
    for name, entry in {**registered(), **shipped()["devices"]}.items():
        preset, architecture = presets()[name], shipped()["architectures"].get(entry.get("architecture"), {})
        names = preset["title"], preset["short"], name
        yield Known(names, name, architecture.get("capability", ""), preset)
    yield from listed()


def _of_name(name: str) -> Iterator[Known]:
    wanted = _plain(name)
    return (known for known in _every() if wanted in map(_plain, known.names))


def _plain(name: str) -> str:
    """A name without what drivers of some years, and people, leave out."""
    return re.sub(r"\b(nvidia|geforce|tesla)\b|[\s_-]", "", name.lower())


def _agree(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether SMs are as many, and the rest is alike as far as both know it."""
    rest = [abs(one[name] / other[name] - 1) for name in COMPARED[1:] if name in one and name in other]
    return one["sms"] == other["sms"] and max(rest, default=0.0) <= TOLERANCE


def _nearest(capability: str, facts: Mapping[str, Any]) -> Known | None:
    def distance(known: Known) -> float:
        both = [name for name in COMPARED if name in known.facts and name in facts]
        return sum(abs(log(known.facts[name] / facts[name])) for name in both)

    alike = [known for known in _every() if known.capability == capability]
    has = set(features_of(capability))
    runs = [one for one in _every() if one.capability and has >= set(presets()[one.preset]["features"])]
    return min(alike or runs, key=distance, default=None)


def features_of(capability: str) -> tuple[str, ...]:
    """What kernels may need of a GPU of a compute capability, of tilesim.devices.facts.FEATURES."""
    major = int(capability.partition(".")[0])
    return tuple(feature for feature, majors in FEATURES.items() if major in majors)
