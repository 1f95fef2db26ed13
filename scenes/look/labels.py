"""Labels: what tilesim says of costs and of a GPU's constants, in the film's language."""

import re

from tilesim_scenes.look.language import tr

COSTS = re.compile("(.+) (costs|overheads)(?: for an? (.+?))?(?: on an? (.+))?")
"""What `tilesim.costs.badge` says of a GPU's costs: whose, what, scaled to which, and on which."""


def of_costs(label: str) -> str:
    """What `tilesim.costs.badge` gives; any other label stays as it is.

    >>> of_costs("H200 costs on an A100"), of_costs("H200 overheads for an A100 on a T4")
    ('H200 costs on A100', 'H200 overheads for A100 on T4')
    """
    known = {
        "ideal costs": tr("ideal costs"),
        "custom costs": tr("custom costs"),
        "unknown costs": tr("unknown costs"),
    }
    found = COSTS.fullmatch(label)
    if label in known or not found:
        return known.get(label, label)
    gpu, what, scaled, on = found.groups()
    said = tr("{gpu} costs", gpu=gpu) if what == "costs" else tr("{gpu} overheads", gpu=gpu)
    said = tr("{costs} for {gpu}", costs=said, gpu=scaled) if scaled else said
    return tr("{costs} on {gpu}", costs=said, gpu=on) if on else said


def of_constants(label: str) -> str:
    """What `tilesim.devices.presets.badge` gives; any other label stays as it is.

    >>> of_constants("A100, datasheet and microbenchmarks")
    'A100, datasheet and microbenchmarks'
    """
    gpu, _, rests_on = label.partition(", ")
    known = {
        "measured constants": tr("{gpu}, measured constants", gpu=gpu),
        "datasheet": tr("{gpu}, datasheet", gpu=gpu),
        "datasheet and microbenchmarks": tr("{gpu}, datasheet and microbenchmarks", gpu=gpu),
        "datasheet and measurements": tr("{gpu}, datasheet and measurements", gpu=gpu),
        "datasheet, microbenchmarks and measurements": tr(
            "{gpu}, datasheet, microbenchmarks and measurements", gpu=gpu
        ),
        "a file's figures": tr("{gpu}, a file’s figures", gpu=gpu),
    }
    return known.get(rests_on, label)
