"""`tilesim list`: the names that other commands take."""

import json
from collections.abc import Callable, Mapping
from inspect import Parameter, getmodule, signature

import click

from tilesim.cli.arguments.options import json_option
from tilesim.cli.packages import COURSE, declared
from tilesim.declared import parts
from tilesim.devices.presets import presets
from tilesim.errors import ScheduleError
from tilesim.orders import ORDERS
from tilesim.problems import DTYPE_BYTES
from tilesim.schedules import SCHEDULES
from tilesim.text import plural


@click.command("list", short_help="List schedules, orders, devices, scenes, and dtypes.")
@json_option
def command(as_json: bool) -> None:
    """List the available schedules, orders, devices, scenes, and dtypes.

    `tilesim info NAME` says more about a scene.
    """
    devices = {name: f"{preset['title']}, {preset['sms']} SMs" for name, preset in presets().items()}
    lists = {
        "schedules": _functions(SCHEDULES, _about),
        "orders": _functions(ORDERS, lambda name: ORDERS[name].__doc__),
        "devices": devices,
        "scenes": {name: film.about for name, film in declared().items()},
        "dtypes": {name: plural(size, "byte") for name, size in DTYPE_BYTES.items()},
    }
    if as_json:
        click.echo(json.dumps(lists, ensure_ascii=False))
        return
    width = max(len(name) for names in lists.values() for name in names) + 2
    for title, names in lists.items():
        click.echo(title)
        if title != "scenes":
            _rows(names, width)
            continue
        if names:
            _rows({COURSE: "All of these as one film, in this order"}, width)
        for part, films in parts(declared()).items():
            click.echo(f"  {part}")
            _rows({name: names[name] for name in films}, width - 2, indent=4)


def _rows(names: Mapping[str, str], width: int, indent: int = 2) -> None:
    for name, about in names.items():
        click.echo(f"{' ' * indent}{name:{width}}{about}".rstrip())


def _about(name: str) -> str:
    """What a schedule does: the docstring of its module or, if it is not built in, of its function."""
    function = SCHEDULES[name]
    if SCHEDULES.built_in(name):
        return getmodule(function).__doc__ or ""
    about = (function.__doc__ or "").strip().partition("\n")[0]
    return f"{about} (from {SCHEDULES.source(name)})".strip()


def _functions(registry: Mapping[str, Callable], about: Callable[[str], str | None]) -> dict[str, str]:
    """Each name with its parameters, and the first line of its description, or why it cannot be loaded."""
    found = {}
    for name in registry:
        try:
            function = registry[name]
        except ScheduleError as error:
            found[name] = str(error)
            continue
        words = [
            f":{one.name.upper()}" if one.default is Parameter.empty else f"[:{one.name.upper()}]"
            for one in list(signature(function).parameters.values())[2:]
        ]
        found["".join([name, *words])] = (about(name) or "").strip().partition("\n")[0]
    return found
