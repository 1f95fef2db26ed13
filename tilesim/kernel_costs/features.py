"""What a kernel needs that not every GPU has: a GPU's own costs are of what runs on it."""

from tilesim.devices.presets import in_words, presets
from tilesim.errors import CostsError
from tilesim.kernel_config import KernelConfig
from tilesim.text import base_name

SCHEDULES = {"cluster-launch-control": "cluster-launch-control"}
"""Schedules that the hardware has to know, with the feature (see tilesim.devices.facts.FEATURES)."""

WORDS = {"cluster-launch-control": "cluster launch control", "tma": "TMA"}
AHEAD = {"tma", "async-copy"}
"""Either makes loads asynchronous."""


def check(name: str, schedule: str, kernel: str) -> None:
    """Raise CostsError where the device `name` lacks what a schedule, or a kernel by its name, needs."""
    has = features(name)
    needed = SCHEDULES.get(base_name(schedule), "")
    if needed and needed not in has:
        raise CostsError(
            f"{in_words(name)} has no {WORDS[needed]}, which {schedule} needs; "
            f"choose {_others(needed)}, or give costs"
        )
    if KernelConfig.named(kernel, "", (1, 1, 1)).loads == "tma" and "tma" not in has:
        raise CostsError(f"{in_words(name)} has no {WORDS['tma']}, which the kernel {kernel} needs")


def loads_ahead(name: str) -> bool:
    """Whether the next tile's loads can fly on a device while a thread block writes the one before."""
    return bool(AHEAD & features(name))


def features(name: str) -> set[str]:
    return set(presets()[name].get("features", ()))


def _others(feature: str) -> str:
    found = [name for name in presets() if feature in features(name)]
    return " or ".join(found) or "another schedule"
