"""The types of arguments and options: what a value must look like, and how a shell completes it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from tilesim.cli.arguments import schedule_files
from tilesim.devices import gpus
from tilesim.devices.files import ENDING
from tilesim.devices.presets import discard, presets
from tilesim.errors import ScheduleError, TilesimError, shown
from tilesim.kernel_costs.calibration import register
from tilesim.orders import ORDERS
from tilesim.problems import DTYPE_BYTES
from tilesim.schedules import SCHEDULES
from tilesim.storage import files
from tilesim.text import example, resolve


@contextmanager
def usage() -> Iterator[None]:
    """Whatever tilesim refuses in here is the fault of a value on the command line: exit code 2."""
    try:
        yield
    except TilesimError as error:
        raise click.UsageError(str(error)) from None


def with_parameters(registry: Mapping[str, Callable[..., Any]]) -> Iterator[str]:
    """The names of a registry, each with an example of what it needs: "row-major", "grouped:8"."""
    for name in registry:
        try:
            yield example(name, registry[name], 2)
        except TilesimError:  # one that cannot be loaded
            continue


class Name(click.ParamType):
    """A name that the shell completes, or with `files` that of a file where none fits; whether there is such
    a thing is for the noun to say."""

    name = "NAME"

    def __init__(self, choices: Callable[[], Iterable[str]], files: bool = False) -> None:
        self.choices, self.files = choices, files

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        fitting = [CompletionItem(name) for name in self.choices() if name.startswith(incomplete)]
        return fitting or [CompletionItem(incomplete, type="file")] * self.files


ORDER = Name(lambda: with_parameters(ORDERS))


class DeviceName(Name):
    """The name of a device, as tilesim or a driver calls it, or a file of one: "my-gpu.json", a device called
    "my-gpu" until the command ends."""

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        if ctx and ctx.resilient_parsing:
            return value
        if value.lower().endswith(ENDING):
            with usage():
                name = register(value)
            if ctx:
                ctx.call_on_close(partial(discard, name))
            return name
        gpu = gpus.named(value)
        if gpu is None:
            return value  # the noun says so
        if gpu.note:
            click.echo(f"note: {gpu.note}", err=True)
        return gpu.preset if gpu.sms == presets()[gpu.preset]["sms"] else gpu.name


DEVICES = DeviceName(presets, files=True)
DTYPES = Name(lambda: DTYPE_BYTES)
COSTS = Name(lambda: ("ideal", *presets()), files=True)
INPUT = click.Path()
"""A file to be read; whether it is there is for its reader to say."""


class Names(click.ParamType):
    """Values of a type of their own, separated by commas."""

    def __init__(self, kind: click.ParamType) -> None:
        self.kind, self.name = kind, kind.name

    def convert(self, value: Any, param: Any, ctx: Any) -> Sequence[Any]:
        return [self.kind.convert(word.strip(), param, ctx) for word in value.split(",")]

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        before, comma, word = incomplete.rpartition(",")
        items = self.kind.shell_complete(ctx, param, word)
        return [CompletionItem(before + comma + item.value, item.type) for item in items]


class Whole(click.IntRange):
    """A whole number from one on, and up to another if that is given."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            most = "" if self.max is None else f" to {self.max}"
            self.fail(f"{shown(value)} is not a whole number from {self.min}{most}", param, ctx)


class Text(click.ParamType):
    """A text of some form, which `make` turns into a value; what is no text is a value already."""

    def __init__(self, name: str, form: str, what: str, make: Callable[[re.Match[str]], Any]) -> None:
        self.name, self.form, self.what, self.make = name, form, what, make

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if not isinstance(value, str):
            return value
        if not (found := re.fullmatch(self.form, value)):
            self.fail(f"{shown(value)} is {self.what}", param, ctx)
        return self.make(found)


TILE_SHAPE = Text(
    "MxNxK",
    r"([0-9]{1,15})[xX]([0-9]{1,15})[xX]([0-9]{1,15})",
    "not three sizes such as 128x256x64",
    lambda found: tuple(map(int, found.groups())),
)
PERCENT = Text(
    "PERCENT",
    r"([0-9]{1,4}(?:\.[0-9]{0,4})?)%?",
    "not a percentage such as 2%",
    lambda found: float(found[1]) / 100,
)
SECONDS = Text(
    "S",
    r"([0-9]{1,15}(?:\.[0-9]*)?)s?",
    "not a number of seconds such as 6.5",
    lambda found: float(found[1]),
)
NS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6}
INSTANT = Text(
    "TIME",
    r"([0-9]{1,15}(?:\.[0-9]{0,15})?)(?:s?|(ns|us|µs|ms))",
    "neither a second of the film such as 6.5, nor an instant of the trace such as 12.5us",
    lambda found: (float(found[1]) * NS.get(found[2], 1), "ns" if found[2] else ""),
)
"""A second of the film, or an instant of the trace in ns: (6.5, "") or (12500.0, "ns")."""


class Schedule(Name):
    """The name of a schedule, with its parameters, or of a function in a file: "mine.py:snake"."""

    name = "SCHEDULE"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        if ctx and ctx.resilient_parsing:  # the shell completes a line: nothing may run
            return value
        with usage():
            if schedule_files.file_and_name(value):
                text, value = value, schedule_files.register(value)
                if ctx:
                    ctx.meta.setdefault(schedule_files.__name__, []).append(text)
                    ctx.call_on_close(partial(SCHEDULES.discard, value.partition(":")[0]))
            else:
                resolve("schedule", value, SCHEDULES, 2, ScheduleError)
        return value


SCHEDULE = Schedule(lambda: with_parameters(SCHEDULES), files=True)


class OutputFile(click.Path):
    """A file to be written; what would keep it from being written is said before any work is done. Where its
    name has an ending, that must be one of `endings`, or `rule` is the error; not so for a device."""

    def __init__(self, *endings: str, rule: str = "") -> None:
        super().__init__()
        self.endings, self.rule = endings, rule

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        files.check(value)
        path = Path(value)
        fits = not self.endings or path.suffix.lower() in ("", *self.endings)
        if not fits and (path.is_file() or not path.exists()):
            self.fail(f"cannot write {value}: {self.rule}", param, ctx)
        return super().convert(value, param, ctx)
