"""Playground: the results that the documentation's playground page shows for its form."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import tilesim
from tilesim import player
from tilesim.devices.device import Device
from tilesim.devices.presets import presets
from tilesim.errors import ProblemError, TilesimError, shown
from tilesim.orders import ORDERS
from tilesim.plans import Plan, plan_lines
from tilesim.player import figures
from tilesim.problems import DTYPE_BYTES, Problem
from tilesim.schedules import SCHEDULES
from tilesim.text import example, plural

DEFAULT = {
    "m": "4096",
    "n": "4096",
    "k": "512",
    "tile": "128x256x64",
    "order": "row-major",
    "dtype": "bf16",
    "device": "h200",
    "sms": "",
    "schedules": "naive persistent",
}
"""The initial value of each field; schedules are separated by spaces."""
MOST_TILES = 2**14
"""Maximum number of tiles, and of segments per plan, that a browser handles without a noticeable wait."""
MOST_SEGMENTS = player.MOST_TRACES * MOST_TILES
MOST_STEPS = 2**22
"""Maximum total K-steps of all tiles, into which split-k may split them."""
BLOCKS = 8
"""Thread blocks listed per plan, and tiles listed per block."""


class FieldError(TilesimError):
    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


def choices() -> dict[str, dict[str, str]]:
    """The choices of the form by field, each name with its title."""
    own = filter(SCHEDULES.built_in, SCHEDULES)  # other packages are not installed in the browser
    names = {
        "order": [example(name, order, 2) for name, order in ORDERS.items()],
        "dtype": list(DTYPE_BYTES),
        "schedules": [example(name, SCHEDULES[name], 2) for name in own],
    }
    titles = {name: preset["title"] for name, preset in presets().items()}
    return {"device": titles} | {field: {name: name for name in given} for field, given in names.items()}


def answer(given: Mapping[str, str]) -> dict[str, Any]:
    """The results for the fields `given`; missing ones have the values of DEFAULT: {"errors": {field:
    sentence}} if any is invalid, else `command`, `plans`, `names`, `figures`: {figure: [one per run]}, and
    `page`: HTML."""
    fields = DEFAULT | {name: text.strip() for name, text in given.items() if name in DEFAULT}
    try:
        problem, device = _problem(fields), _device(fields)
        names = _names(fields["schedules"])
        plans = [_within("schedules", partial(tilesim.plan, name, problem, device)) for name in names]
        segments = sum(len(plan.segments) + len(plan.shared) for plan in plans)
        if segments > MOST_SEGMENTS:
            sentence = f"these split the tiles into {segments:,} segments; the playground plays at most "
            raise FieldError("schedules", f"{sentence}{MOST_SEGMENTS:,}")
        # A valid plan can be simulated unless the GPU has no rate for the dtype.
        traces = [_within("dtype", partial(tilesim.simulate, name, problem, device)) for name in names]
    except FieldError as error:
        return {"errors": {error.field: str(error)}}
    called, tables = figures.names(traces), [figures.table(trace) for trace in traces]
    rows = [name for name in tables[0] if name not in ("origin", "product")]
    return {
        "command": command(fields),
        "plans": [_plan(*one, problem, device) for one in zip(called, plans, strict=True)],
        "names": called,
        "figures": {name: [table[name] for table in tables] for name in rows},
        "page": player.page(traces, called),
    }


def command(fields: Mapping[str, str]) -> str:
    """The command line for the first schedule of valid fields, without options at their defaults."""
    words = ["tilesim", "simulate", fields["schedules"].split()[0]]
    for name in ("m", "n", "k", "tile", "order", "dtype", "device", "sms"):
        needed = fields[name] != DEFAULT[name] or (name == "device" and fields["sms"])
        words += [f"--{name}", fields[name]] if needed else []
    return " ".join(words)


def _within(field: str, make: Callable[[], Any]) -> Any:
    try:
        return make()
    except TilesimError as error:
        raise FieldError(field, str(error)) from None


def _problem(fields: Mapping[str, str]) -> Problem:
    """The problem; fields are checked one by one, to name the one at fault, and then together."""
    values: dict[str, Any] = {name: fields[name] for name in ("order", "dtype")}
    values |= {name: _within(name, partial(_whole, name.upper(), fields[name])) for name in ("m", "n", "k")}
    values["tile"] = _within("tile", partial(_tile, fields["tile"]))
    simple = Problem(1, 1, 1)
    for name, value in values.items():
        _within(name, partial(replace, simple, **{name: value}))
    problem = _within("tile", partial(Problem, **values))
    for field, count, what, most in (
        ("tile", problem.tiles, "tiles", MOST_TILES),
        ("k", problem.tiles * problem.k_steps, "K-steps in all tiles", MOST_STEPS),
    ):
        if count > most:
            raise FieldError(field, f"this makes {count:,} {what}; the playground takes at most {most:,}")
    return problem


def _device(fields: Mapping[str, str]) -> Device:
    name = fields["device"].lower()
    sms = _within("sms", partial(_whole, "the number of SMs", fields["sms"])) if fields["sms"] else None
    _within("device", partial(Device.named, name))
    return _within("sms", partial(Device.named, name, sms))


def _names(text: str) -> Sequence[str]:
    names = text.split()
    if not 1 <= len(names) <= player.MOST_TRACES:
        sentence = f"choose 1 to {player.MOST_TRACES} schedules, separated by spaces; these are {len(names)}"
        raise FieldError("schedules", sentence)
    return names


def _whole(what: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise ProblemError(f"{what} is {shown(text)}; it must be a whole number from 1")
    return int(text)


def _tile(text: str) -> tuple[int, ...]:
    sizes = text.lower().replace("×", "x").split("x")
    if len(sizes) != 3:
        raise ProblemError(f"{shown(text)} is not three sizes such as 128x256x64")
    return tuple(_whole(f"tile_{axis}", size.strip()) for axis, size in zip("mnk", sizes, strict=True))


def _plan(name: str, plan: Plan, problem: Problem, device: Device) -> dict[str, Any]:
    at_once = min(plan.ctas, device.slots)
    return {
        "name": name,
        "sentence": f"{plural(plan.ctas, 'thread block')}, {at_once} at once, "
        f"{plural(problem.tiles, 'tile')} of {plural(problem.k_steps, 'K-step')}",
        "rows": list(plan_lines(plan, problem, BLOCKS)),
    }
