"""`tilesim calibrate`: costs from traces."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from tilesim.analysis.memory_system import MemorySystem
from tilesim.calibration.calibrate import calibrations, one_device, repeated
from tilesim.calibration.device_file import device_entry
from tilesim.cli import suites
from tilesim.cli.arguments.options import COSTS_FILE, json_option, output_option, usage
from tilesim.cli.arguments.parameter_types import DEVICES, INPUT, OutputFile
from tilesim.cli.output import device_table
from tilesim.cli.output.figures import save_text, time
from tilesim.devices.facts import CONSTANTS, published, shipped, with_derived
from tilesim.devices.files import checked, name_of
from tilesim.devices.presets import adding, entry_of, in_words
from tilesim.errors import DeviceError
from tilesim.formats.reader import read
from tilesim.kernel_costs.calibration import Calibration
from tilesim.storage import files
from tilesim.traces import Trace
from tilesim.version import __version__

SHOWN = (
    "launch", "prologue", "tile_gap", "k_step", "mainloop_overhead", "epilogue_overlap_penalty", "epilogue",
    "epilogue_serialisation", "partial", "merge", "fixup", "jitter",
)  # fmt: skip


@click.command(short_help="Fit costs to measured traces.")
@click.argument("traces", type=INPUT, metavar="TRACE|FOLDER...", nargs=-1, required=True)
@output_option(COSTS_FILE, "Write the costs of the kernels to this file (.json), for --costs.")
@output_option(
    OutputFile(".json", rule="a device is written as .json"),
    "Also fit the GPU's constants, and write them with the costs to this file (.json), for --device."
    " A file named after a preset, such as h100.json, replaces it in commands whose --device names the file.",
    "--device-file",
)
@click.option(
    "--device",
    type=DEVICES,
    metavar="NAME",
    help="GPU, or device file, to take the other facts from.  [FOLDER/device.json, or the traces' GPU]",
)
@click.option(
    "--memory",
    type=INPUT,
    metavar="FILE",
    help="Results of `bench memory` on it, for the device file.  [FOLDER/memory.json, if it exists]",
)
@json_option
def command(
    traces: tuple[str, ...], output: str | None, device_file: str | None, device: str | None,
    memory: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Fit one set of costs to all sizes of each kernel in the TRACE files, and show how accurate it is.

    Kernels differ in schedule, loads, overlap, warps, stages, dtype, tile, or thread blocks per SM. A FOLDER
    contains traces, such as those recorded by `tilesim record --suite`.

    With --device-file, latencies and bandwidths of the GPU are fitted too, as far as the traces reveal them.
    """
    if device_file is None and (device or memory):
        raise click.UsageError("--device and --memory need --device-file; add it, or leave them out")
    if device_file and output:
        raise click.UsageError(
            "--device-file writes a GPU's constants and costs, for --device, and --output writes only the"
            " costs, for --costs; give one of the two"
        )
    with usage():
        runs, beside = suites.found(traces)
        noted, report = beside.get(suites.DEVICE), memory or beside.get(suites.MEMORY)
        files.check_outputs((output, device_file), (*runs, noted, report))
        name = name_of(device_file) if device_file else ""
    loaded = {path: read(path) for path in runs}
    if device_file is None:
        fitted = calibrations(loaded)
        text = _text(fitted, loaded)
        if output:
            save_text(output, text)
        click.echo(text.rstrip() if as_json else "\n".join(_report(one, loaded) for one in fitted))
        return
    one_device(loaded)
    measured = MemorySystem.read(report).facts if report else {}
    entry, fitted, own = device_entry(name, _base(device, noted, loaded), loaded, measured)
    text = json.dumps(entry, indent=1) + "\n"
    save_text(device_file, text)
    if name in shipped()["devices"]:
        replaced = f"--device {device_file} now means {in_words(name)} with these constants"
        click.echo(f"note: {replaced}; --device {name} still means the preset", err=True)
    if as_json:
        click.echo(text.rstrip())
        return
    known = with_derived(published(entry))
    constants = {name: known[name] for name in ("sustained_mhz", *CONSTANTS) if name in known}
    with adding(name, entry):
        reports = [_report(one, own) for one in fitted]
        click.echo("\n".join([entry["title"], *device_table.named(constants), "", *reports]))


def _base(device: str | None, beside: str | None, traces: dict[str, Trace]) -> Mapping[str, Any]:
    if device:
        return entry_of(device)
    if beside:
        return files.read_json(beside, DeviceError, checked)
    first, trace = next(iter(traces.items()))
    if not trace.device.name:
        raise DeviceError(f"{first} does not say on which GPU it ran; give --device, a name or a device file")
    return entry_of(trace.device.name)


def _text(fitted: list[Calibration], traces: dict[str, Trace]) -> str:
    """A JSON list with one line per kernel; traces are identified by their file names, without folders."""
    entries = []
    for one in fitted:
        names = [Path(name).name for name in one.names]
        origins = sorted({traces[name].origin for name in one.names})
        made = {"device": traces[one.names[0]].device.title, "origins": origins, "tilesim": __version__}
        entries.append(one.as_json() | {"names": names} | made)
    return "[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n"


def _report(one: Calibration, traces: dict[str, Trace]) -> str:
    costs = one.costs
    values = {name: getattr(costs, name) for name in SHOWN if getattr(costs, name)}
    words = [
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in values.items()
    ]
    lines = [str(one.kernel), f"  {', '.join(words)}"]
    if costs.hardware:
        lines.append(f"  K-steps as the hardware of {in_words(costs.hardware)} takes them")
    elif costs.clock_mhz:
        cycles = costs.k_step * costs.clock_mhz / 1000
        lines.append(f"  a K-step has {cycles:.0f} cycles at {costs.clock_mhz} MHz")
    if one.unseen:
        lines.append(f"  not in the traces: {', '.join(one.unseen)}")
    lines.append("  from first multiply to last write:")
    for name in one.names:
        trace = traces[name]
        took, simulated = repeated(trace, costs)
        error = (simulated - took) / took
        itself = "" if trace.origin == "measured" else ", of a simulation"
        lines.append(
            f"    {Path(name).name}: {time(took)}{itself}, simulated {time(simulated)} ({error:+.1%})"
        )
    return "\n".join(lines)
