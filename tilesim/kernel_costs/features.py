"""What a kernel needs that not every GPU has: a GPU's own costs are of what runs on it."""

from dataclasses import replace

from tilesim.devices.device import in_words, presets
from tilesim.errors import CostsError
from tilesim.variants import Variant

SCHEDULES = {"cluster-launch-control": "cluster-launch-control"}
"""Schedules that the hardware has to know, with the feature (see tilesim.devices.facts.FEATURES)."""

WORDS = {"cluster-launch-control": "cluster launch control", "tma": "TMA"}
AHEAD = {"tma", "async-copy"}
"""Either lets the next tile's loads fly while a thread block writes the one before."""


def check(name: str, schedule: str, kernel: str) -> None:
    """Raise CostsError where the device `name` lacks what a schedule, or a kernel by its name, needs."""
    has = features(name)
    needed = SCHEDULES.get(schedule.partition(":")[0], "")
    if needed and needed not in has:
        raise CostsError(
            f"{in_words(name)} has no {WORDS[needed]}, which {schedule} needs; "
            f"choose {_others(needed)}, or give costs"
        )
    if Variant.named(kernel, schedule).loads == "tma" and "tma" not in has:
        raise CostsError(f"{in_words(name)} has no {WORDS['tma']}, which the kernel {kernel} needs")


def usual(variant: Variant, name: str) -> Variant:
    """`variant` as it can be on the device `name`: loads through pointers without TMA, and no load flies
    during an epilogue where loads are not asynchronous."""
    has = features(name)
    loads = variant.loads if "tma" in has else "ptr"
    return replace(variant, loads=loads, overlap=variant.overlap and bool(AHEAD & has))


def features(name: str) -> set[str]:
    """What a device has of them."""
    return set(presets()[name].get("features", ()))


def _others(feature: str) -> str:
    found = [name for name in presets() if feature in features(name)]
    return " or ".join(found) or "another schedule"
