"""`tilesim info`: the contents of a file, or what is known about a device or a film."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click

from tilesim.cli.arguments.options import facts_from, file_options, json_option
from tilesim.cli.arguments.parameter_types import INPUT, usage
from tilesim.cli.commands.export import command as export
from tilesim.cli.output import device_table
from tilesim.cli.output.figures import table, time
from tilesim.cli.output.reports import machine, tuned_kernels
from tilesim.cli.output.tables import text
from tilesim.cli.packages import COURSE, declared, scene_class
from tilesim.costs import Costs, with_current_names
from tilesim.declared import Declared, course, parts
from tilesim.devices.device import Device
from tilesim.devices.facts import published, with_derived
from tilesim.devices.files import checked
from tilesim.devices.presets import badge, facts, presets
from tilesim.errors import TilesimError, shown
from tilesim.formats.reader import read
from tilesim.kernel_costs.calibration import Calibration
from tilesim.ladder import file as ladder_file
from tilesim.storage import files
from tilesim.text import plural
from tilesim.traces import Trace

SAID = ("title", "question", "finding", "part", "shows")
DEFAULT = re.compile(r"  \[.*\]$")
"""How a help text ends that says what stands in where nothing is given."""


Content = tuple[str, list[str], Mapping[str, Any]]
"""What a file is, lines about it, and the same as JSON values."""


@click.command(short_help="Describe a file or a film, or show what is known about a device.")
@click.argument("file", type=INPUT, required=False)
@file_options
@json_option
def command(file: str | None, as_json: bool, **options: Any) -> None:
    """Describe FILE and show its figures, or show what is known about a device, each fact with its source.

    Where no file is called so, FILE is a film of `tilesim list`: its question, its length, what it shows, and
    its options with their defaults; or course, all films of it with their lengths.

    FILE is a trace in any format that `convert` reads, costs from `calibrate`, the ladder of kernels from
    `bench ladder`, a table from `tune`, or a device. Use the options for facts that a trace does not contain.
    Without FILE, --device names the GPU to show.
    """
    name = "" if file is None or Path(file).exists() else file.replace("_", "-")
    if file is None:
        values, lines = _known(options["device"])
    elif name in declared():
        values, lines = _film(name, declared()[name])
    elif name == COURSE:
        values, lines = _course()
    else:
        kind, about, more = _content(file, facts_from(options))
        values, lines = {"file": file, "kind": kind, **more}, [f"{file}: {kind}", *about]
    click.echo(json.dumps(values, ensure_ascii=False) if as_json else "\n".join(lines))


def _known(device: str | None) -> tuple[dict[str, Any], list[str]]:
    if device is None:
        raise click.UsageError("give a file, or a GPU with --device")
    with usage():
        device = Device.named(device).name
        known = facts(device)
    title, whence = presets()[device]["title"], badge(device)
    values = {"device": device, "title": title, "badge": whence} | device_table.as_json(known)
    return values, [f"{title}: {whence}", *device_table.lines(known)]


def _content(path: str, facts: Mapping[str, Any]) -> Content:
    values = _values(path)
    try:
        if isinstance(values, list) and values and all(_has(entry, "costs") for entry in values):
            return _calibrations(values)
        if isinstance(values, dict) and set(values) <= {field.name for field in fields(Costs)}:
            costs = Costs.from_mapping(values)
            named = {field.name: (getattr(costs, field.name), field.default) for field in fields(Costs)}
            lines = [f"  {name:22} {value}" for name, (value, usual) in named.items() if value != usual]
            return "costs", lines, {"costs": values}
        if _has(values, "title", "facts"):
            return _device(checked(values))
        if _has(values, "peak_tflops", "rows"):
            return _ladder(values)
        if _has(values, "machine", "rows") and all(_has(row, "layout", "us") for row in values["rows"]):
            return "tuned table", tuned_kernels(values).splitlines(), values
    except TilesimError as error:
        raise TilesimError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise TilesimError(f"{path}: a field is missing or invalid: {shown(str(error))}") from None
    if isinstance(values, dict) and not {"spans", "traceEvents", "launches"} & set(values):
        raise TilesimError(f"{path}: this is not a trace, costs, a ladder, a tuned table, or a device")
    return _trace(read(path, facts))


def _device(entry: dict[str, Any]) -> Content:
    known, costs = with_derived(published(entry)), entry.get("costs", [])
    lines, values = device_table.lines(known), device_table.as_json(known)
    if costs:
        kind, about, _ = _calibrations(costs)
        lines += [kind, *(f"  {line}" for line in about)]
    return "device", lines, values | {"calibrations": costs}


def _values(path: str) -> Any:
    """The JSON values of a file that may not be a trace; None if it is not JSON, or too large."""
    if not Path(path).is_file() or Path(path).stat().st_size > files.MOST_JSON:
        return None
    with open(path, "rb") as file:
        begin = file.read(64).lstrip()
    return files.read_json(path, TilesimError) if begin.startswith((b"{", b"[")) else None


def _has(values: object, *names: str) -> bool:
    return isinstance(values, dict) and set(names) <= set(values)


def _trace(trace: Trace) -> Content:
    noted = [
        f"  {name:12} {value}"
        for name, value in trace.meta.items()
        if isinstance(value, str | int | float) and name != "launches"
    ]
    return "trace", [table(trace), *noted], trace.summary()


def _calibrations(entries: list[dict[str, Any]]) -> Content:
    lines = []
    for entry in entries:
        one, listed = Calibration.from_mapping(entry), with_current_names(entry["costs"])
        took = ", ".join(
            f"{name} {time(round(getattr(one.costs, name)))}"
            for name in ("k_step", "launch", "prologue", "tile_gap", "epilogue")
            if listed.get(name)
        )
        traces = f"; of {plural(len(one.names), 'trace')}" * bool(one.names)
        lines += [str(one.kernel), f"  {took}{traces}"]
    return f"costs of {plural(len(entries), 'kernel')}", lines, {"calibrations": entries}


def _ladder(values: Mapping[str, Any]) -> Content:
    found = ladder_file.parse(values)
    rows = [asdict(row) | {"tflops": row.tflops} for row in found.rows]
    peak, bandwidth = found.peak_tflops, found.bandwidth_gb_per_s
    lines = [
        machine({"machine": found.machine}),
        f"measured peak {peak.measured:g} TFLOP/s, {bandwidth.measured:g} GB/s",
        *text(rows, "typed size | step | name | µs {us:.2f} | TFLOP/s"),
    ]
    return "ladder", lines, values


def _film(name: str, film: Declared) -> tuple[dict[str, Any], list[str]]:
    said = {key: getattr(film, key) for key in SAID}
    options = _options(name, film)
    values = {"film": name, "seconds": film.seconds, **said, "options": options}
    if not film.title:
        return values, [f"{name}: film", f"  {film.about}"]
    return values, [
        f"{name}: film" + (f" of {film.seconds} s" if film.seconds else ""),
        *(f"  {key:12} {value}" for key, value in said.items() if value),
        *(["  options"] if options else []),
        *(f"    {line}" for line in _explained(options)),
    ]


def _course() -> tuple[dict[str, Any], list[str]]:
    films = {name: declared()[name] for name in course(declared())}
    seconds = {name: film.seconds for name, film in films.items()}
    minutes = round(sum(seconds.values()) / 60)
    lines = [f"{COURSE}: {plural(len(films), 'film')}, about {plural(minutes, 'minute')} together"]
    for part, inside in parts(films).items():
        lines.append(f"  {part}")
        lines += [f"    {name:24} {seconds[name]:3} s  {films[name].title}" for name in inside]
    return {"course": seconds}, lines


def _options(name: str, film: Declared) -> dict[str, Any]:
    """Each option with its default, None where it has none, or where Manim is missing that the film needs."""
    try:
        shown = getattr(scene_class(name), "default", None)
    except TilesimError:
        shown = None
    known: dict[str, Any] = {}
    if shown:
        known = asdict(shown.problem) | asdict(shown.device)
        tile, schedules = "x".join(map(str, shown.problem.tile)), ", ".join(shown.schedules)
        known |= {"tile": tile, "schedule": schedules, "device": shown.device.name}
    return {key: known.get(key) for key in film.taken}


def _explained(options: Mapping[str, Any]) -> list[str]:
    context, rows = click.Context(export), []
    for parameter in export.params:
        record = parameter.get_help_record(context)
        if parameter.name in options and record:
            default = options[parameter.name]
            rows.append((record[0], DEFAULT.sub("", record[1]) + f"  [{default}]" * (default is not None)))
    width = max((len(written) for written, _ in rows), default=0) + 2
    return [f"{written:{width}}{about}" for written, about in rows]
