"""Presets: the GPUs that are known by name, those that ship and those that files of the user's own add."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from tilesim.devices import files
from tilesim.devices.facts import CONSTANTS, Fact, published, shipped, sources, values, with_derived
from tilesim.errors import DeviceError, unknown


@cache
def presets() -> dict[str, dict[str, Any]]:
    """The devices known by name: title, short, and the values of what is published of each, as
    `tilesim.devices.facts.UNITS` explains them."""
    return {
        name: {"title": entry["title"], "short": entry["short"], **values(published(entry))}
        for name, entry in {**shipped()["devices"], **_registered}.items()
    }


_registered: dict[str, Mapping[str, Any]] = {}


def recall(name: str, entry: Any) -> None:
    """Make the device of a trace known again, unless a file says what it is; DeviceError where it is none."""
    if name not in _registered:
        add({files.name_of(name): files.checked(entry)})


def add(entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Make devices known whose entries were read, in another process say."""
    _registered.update(entries)
    presets.cache_clear()


@contextmanager
def adding(name: str, entry: Mapping[str, Any]) -> Iterator[None]:
    """Inside, the device of `entry` is known as `name`, in place of any other of that name."""
    before = _registered.get(name)
    add({name: entry})
    try:
        yield
    finally:
        discard(name)
        if before is not None:
            add({name: before})


def registered() -> dict[str, Mapping[str, Any]]:
    """The entries of the devices that files have added, by name."""
    return dict(_registered)


def entry_of(name: str) -> Mapping[str, Any]:
    """All that is known of a device, as devices.json or its file has it; DeviceError where there is none."""
    if name not in presets():
        raise DeviceError(unknown("device", str(name), presets()))
    return _registered.get(name) or shipped()["devices"][name]


def discard(name: str) -> None:
    """Forget a device that was registered; the preset whose place it took is back."""
    if _registered.pop(name, None):
        presets.cache_clear()


def facts(name: str) -> dict[str, Fact]:
    """What is known of a device, each with its source or rule; DeviceError where there is no such device."""
    return with_derived(published(entry_of(name)))


def badge(name: str) -> str:
    """What the constants of a device rest on, and never more, as a short label."""
    short, known = presets()[name]["short"], facts(name)
    if name in _registered:
        return f"{short}, a file's figures"
    whence = [known[constant].source for constant in CONSTANTS if constant in known]
    kinds = [sources()[source].kind if source else "" for source in whence]
    if set(kinds) == {"measured"} and len(kinds) == len(CONSTANTS):
        return f"{short}, measured constants"
    more = [kind for kind in ("microbenchmarks", "measured") if kind in kinds]
    words = ", ".join(["datasheet", *more]).replace("measured", "measurements")
    return f"{short}, {' and '.join(words.rsplit(', ', 1))}"


def in_words(name: str) -> str:
    """A preset's short name with its article; the letters of a word in capitals are spelt out."""
    short = presets()[name]["short"]
    vowels = "AEFHILMNORSX" if short.split()[0].isupper() else "AEIOaeio"
    return f"{'an' if short[0] in vowels else 'a'} {short}"
