"""Playground: what the page of that name in the documentation shows for what its reader has typed.

The page runs this in the browser, so it uses the core of tilesim alone. `answer` takes the fields as text and
returns JSON values: a sentence beside each field that is wrong, or plans, figures and the player's page.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import tilesim
from tilesim import player
from tilesim.devices.device import Device
from tilesim.devices.presets import presets
from tilesim.errors import ProblemError, TilesimError, shown
from tilesim.formats import plan_lines
from tilesim.orders import ORDERS
from tilesim.plans import Plan
from tilesim.player import figures
from tilesim.problems import DTYPE_BYTES, Problem
from tilesim.schedules import SCHEDULES
from tilesim.text import example, plural
from tilesim.traces import Trace

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
"""Each field as it is when nobody has typed anything; several schedules stand apart by blanks."""

MOST_TILES = 2**14
"""Tiles, and segments of all plans together, that a browser plays while one waits."""
MOST_STEPS = 2**22
"""K-steps of all tiles, into which split-k may cut them."""
BLOCKS = 8
"""Thread blocks listed of each plan, and tiles of each."""


class FieldError(TilesimError):
    """What is wrong with one field of the form."""

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(sentence)
        self.field = field


def choices() -> dict[str, dict[str, str]]:
    """What the form offers, by field: each name with what it is called in words."""
    own = filter(SCHEDULES.built_in, SCHEDULES)  # what is installed beside tilesim is not in the browser
    names = {
        "order": [example(name, order, 2) for name, order in ORDERS.items()],
        "dtype": list(DTYPE_BYTES),
        "schedules": [example(name, SCHEDULES[name], 2) for name in own],
    }
    titles = {name: preset["title"] for name, preset in presets().items()}
    return {"device": titles} | {field: {name: name for name in given} for field, given in names.items()}


def answer(given: Mapping[str, str]) -> dict[str, Any]:
    """What to show for the fields `given`; one that is missing is as in DEFAULT.

    {"errors": {field: sentence}} where any is wrong, else `command`: the same on the command line; `plans`:
    name, sentence and rows (thread block, tiles) of each; `figures`: {figure: [of each run]}; `page`: HTML.

    >>> answer({"m": "0"})["errors"]
    {'m': 'M is 0; it must be a whole number from 1 to 1099511627776'}
    """
    fields = DEFAULT | {name: text.strip() for name, text in given.items() if name in DEFAULT}
    try:
        problem, device = _problem(fields), _device(fields)
        names = _names(fields["schedules"])
        plans = [_within("schedules", partial(tilesim.plan, name, problem, device)) for name in names]
        _check_size(plans)
        # What can be planned can be played, unless the GPU has no rate of the dtype.
        traces = [_within("dtype", partial(tilesim.simulate, name, problem, device)) for name in names]
    except FieldError as error:
        return {"errors": {error.field: str(error)}}
    called = figures.names(traces)
    return {
        "command": command(fields),
        "plans": [_plan(*one, problem, device) for one in zip(called, plans, strict=True)],
        "names": called,
        "figures": _figures(traces),
        "page": player.page(traces, called),
    }


def command(fields: Mapping[str, str]) -> str:
    """What to type for the first schedule of checked fields; what is as by default is left out.

    >>> command(DEFAULT | {"m": "512", "sms": "4"})
    'tilesim simulate naive --m 512 --device h200 --sms 4'
    """
    words = ["tilesim", "simulate", fields["schedules"].split()[0]]
    for name in ("m", "n", "k", "tile", "order", "dtype", "device", "sms"):
        needed = fields[name] != DEFAULT[name] or (name == "device" and fields["sms"])
        words += [f"--{name}", fields[name]] if needed else []
    return " ".join(words)


def _within(field: str, make: Callable[[], Any]) -> Any:
    """What `make` returns; whatever tilesim refuses in it is the fault of `field`."""
    try:
        return make()
    except TilesimError as error:
        raise FieldError(field, str(error)) from None


def _problem(fields: Mapping[str, str]) -> Problem:
    """The problem: each field by itself, so that the one at fault is named, then all of them together."""
    values: dict[str, Any] = {name: fields[name] for name in ("order", "dtype")}
    values |= {name: _within(name, partial(_whole, name.upper(), fields[name])) for name in ("m", "n", "k")}
    values["tile"] = _within("tile", partial(_tile, fields["tile"]))
    simple = Problem(1, 1, 1)
    for name, value in values.items():
        _within(name, partial(replace, simple, **{name: value}))
    problem = _within("tile", partial(Problem, **values))
    if problem.tiles > MOST_TILES:
        sentence = f"this makes {problem.tiles:,} tiles; the playground takes at most {MOST_TILES:,}"
        raise FieldError("tile", sentence)
    if problem.tiles * problem.k_steps > MOST_STEPS:
        sentence = (
            f"this makes {problem.tiles * problem.k_steps:,} K-steps of all tiles; the playground takes "
        )
        raise FieldError("k", f"{sentence}at most {MOST_STEPS:,}")
    return problem


def _device(fields: Mapping[str, str]) -> Device:
    name = fields["device"].lower()
    sms = _within("sms", partial(_whole, "the number of SMs", fields["sms"])) if fields["sms"] else None
    _within("device", partial(Device.named, name))
    return _within("sms", partial(Device.named, name, sms))


def _names(text: str) -> Sequence[str]:
    names = text.split()
    if not 1 <= len(names) <= player.MOST_TRACES:
        sentence = f"choose 1 to {player.MOST_TRACES} schedules, apart by blanks; these are {len(names)}"
        raise FieldError("schedules", sentence)
    return names


def _check_size(plans: Sequence[Plan]) -> None:
    segments = sum(len(plan.segments) + len(plan.shared) for plan in plans)
    if segments > player.MOST_TRACES * MOST_TILES:
        sentence = f"these split the tiles into {segments:,} segments; the playground plays at most "
        raise FieldError("schedules", sentence + f"{player.MOST_TRACES * MOST_TILES:,}")


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
        "rows": list(plan_lines.blocks(plan, problem, BLOCKS)),
    }


def _figures(traces: Sequence[Trace]) -> dict[str, list[str]]:
    """The rows of the player's table, less what is the same for all and stands at its head."""
    tables = [figures.table(trace) for trace in traces]
    return {
        name: [table[name] for table in tables] for name in tables[0] if name not in ("origin", "product")
    }
