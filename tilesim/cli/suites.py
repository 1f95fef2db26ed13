"""Recording the suite of runs that `tilesim calibrate --device-file` needs into a folder."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from tilesim.calibration.suite import Run, suite
from tilesim.cli.output.figures import save_text, time
from tilesim.cli.packages import load
from tilesim.devices.facts import published, values
from tilesim.devices.files import checked
from tilesim.errors import DeviceError, TilesimError, TraceError
from tilesim.storage import files
from tilesim.traces import Trace


def record_suite(folder: str, repeats: int) -> None:
    """Record on this machine's GPU what `folder` lacks of the suite, each run a file and a line. Raises
    TilesimError where the folder is of another GPU, or no run could be recorded; OSError where it is none."""
    kernels = load("kernels")
    entry = kernels.gpu_facts()
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    _note(entry, path / DEVICE)
    runs, recorded = suite(values(published(checked(entry)))), 0
    for i, run in enumerate(runs, 1):
        click.echo(f"{i:2} of {len(runs)}  {run.name:24}", nl=False)
        recorded += _record(kernels, run, path / f"{run.name}{RUN}", repeats)
    if not recorded:
        raise TilesimError(f"no run of the suite could be recorded into {folder}")


def _record(kernels: Any, run: Run, path: Path, repeats: int) -> bool:
    """Whether the run lies in its file, now or since before."""
    if path.is_file():
        try:
            click.echo(f"kept, {time(Trace.load(path).makespan)}")
            return True
        except TilesimError:  # as an interrupted copy may be
            pass
    try:
        options = {"kernel": run.kernel, "stages": run.stages, "ctas_per_sm": run.ctas_per_sm}
        trace = kernels.record(run.schedule, run.problem, repeats=repeats, **options)
    except TilesimError as error:
        click.echo(f"left out: {error}")
        return False
    trace.save(path)
    click.echo(time(trace.makespan))
    return True


def _note(entry: Mapping[str, Any], path: Path) -> None:
    """Write what is known of the GPU, unless it was written before: a user may have added to that."""
    if path.is_file():
        title = files.read_json(path, DeviceError, checked)["title"]
        if title != entry["title"]:
            raise DeviceError(f"{path} is of {title!r}, and this machine has {entry['title']!r}")
        return
    save_text(path, json.dumps(entry, indent=1) + "\n")


DEVICE, MEMORY, RUN = "device.json", "memory.json", ".npz"


def found(paths: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """The files of traces, given or in folders, and those called DEVICE and MEMORY beside them; raises
    TraceError for a folder without a trace, and for two GPUs."""
    runs: list[str] = []
    beside: dict[str, str] = {}
    for path in map(Path, paths):
        if not path.is_dir():
            runs.append(str(path))
            continue
        inside = sorted(str(each) for each in path.iterdir() if each.suffix == RUN)
        if not inside:
            raise TraceError(f"{path}: there is no {RUN} in this folder; record some with --suite")
        runs += inside
        for name in (DEVICE, MEMORY):
            if (path / name).is_file():
                if name in beside:
                    raise TraceError(f"{beside[name]} and {path / name}: give the folder of one GPU")
                beside[name] = str(path / name)
    return runs, beside
