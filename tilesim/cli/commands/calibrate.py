"""`tilesim calibrate`: costs from traces."""

import json
from pathlib import Path

import click

from tilesim.calibration.calibrate import calibrations, repeated
from tilesim.cli.figures import time, wrote
from tilesim.cli.options import COSTS_FILE, json_option, output_option, usage
from tilesim.cli.parameter_types import INPUT
from tilesim.devices.device import in_words
from tilesim.formats.reader import read
from tilesim.kernel_costs.calibration import Calibration
from tilesim.storage import files
from tilesim.traces import Trace
from tilesim.variants import PLANNED
from tilesim.version import __version__

SHOWN = (
    "launch", "prologue", "handover", "k_step", "ramp", "contention", "epilogue",
    "epilogue_serialisation", "partial", "merge", "fixup", "jitter",
)  # fmt: skip


@click.command(short_help="Fit costs to measured traces.")
@click.argument("traces", type=INPUT, metavar="TRACE...", nargs=-1, required=True)
@output_option(COSTS_FILE, "Write the costs here (.json), for --costs.")
@json_option
def command(traces: tuple[str, ...], output: str | None, as_json: bool) -> None:
    """Fit one set of costs to all sizes of each kernel among the TRACE files, and say how true it is.

    Kernels differ in schedule, loads, overlap, warps, stages, dtype, tile or thread blocks per SM.
    """
    with usage():
        files.check_outputs((output,), traces)
    loaded = {path: read(path) for path in traces}
    fitted = calibrations(loaded)
    text = _text(fitted, loaded)
    if output:
        files.write(output, lambda file: file.write(text.encode()))
        wrote(output)
    click.echo(text.rstrip() if as_json else "\n".join(_report(one, loaded) for one in fitted))


def _text(fitted: list[Calibration], traces: dict[str, Trace]) -> str:
    """A JSON list, a line per kernel; traces go by their file's name, wherever it lies."""
    entries = []
    for one in fitted:
        names = [Path(name).name for name in one.names]
        origins = sorted({traces[name].origin for name in one.names})
        made = {"device": traces[one.names[0]].device.title, "origins": origins, "tilesim": __version__}
        entries.append(one.as_json() | {"names": names} | made)
    return "[\n" + ",\n".join(json.dumps(entry) for entry in entries) + "\n]\n"


def _report(one: Calibration, traces: dict[str, Trace]) -> str:
    """The costs of one kernel, then measured and simulated time of each of its traces."""
    costs, variant = one.costs, one.kernel.variant
    values = {name: getattr(costs, name) for name in SHOWN if getattr(costs, name)}
    words = [
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in values.items()
    ]
    planned, overlapped = "planned" * (variant.kernel == PLANNED), "overlapped" * costs.overlap
    kernel = " ".join(filter(None, (variant.schedule, planned, variant.loads, overlapped)))
    tile = "x".join(map(str, one.kernel.tile))
    lines = [
        f"{kernel}, {one.kernel.dtype}, tile {tile}, {one.kernel.ctas_per_sm} per SM",
        f"  {', '.join(words)}",
    ]
    if costs.hardware:
        lines.append(f"  K-steps as the hardware of {in_words(costs.hardware)} takes them")
    elif costs.clock_mhz:
        lines.append(
            f"  a K-step has {costs.k_step * costs.clock_mhz / 1000:.0f} cycles at {costs.clock_mhz} MHz"
        )
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
