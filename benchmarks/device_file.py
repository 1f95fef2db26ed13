"""How true a device file is: one made of the suite that an H200 recorded as if it were unknown.

    python benchmarks/device_file.py

compares simulations by that file, and by the costs that ship, with the held-out runs of other H200s, and
writes device_file.json beside this, which docs/devices.md shows.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from tilesim import Trace
from tilesim.analysis.compare import compare
from tilesim.calibration.device_file import device_entry
from tilesim.devices.presets import adding
from tilesim.engine.simulate import replay

DATA = Path(__file__).parents[1] / "tilesim" / "data"
SUITE = Path(__file__).parent / "suite"
RESULT = Path(__file__).with_suffix(".json")
NAME = "my-gpu"


def suite_entry():
    """The entry of the device file, and of how many runs."""
    runs = {path.name: Trace.load(path) for path in sorted(SUITE.glob("*.npz"))}
    base = json.loads((SUITE / "device.json").read_text("utf-8"))
    return device_entry(NAME, base, runs, {})[0], len(runs)


def off(name, runs):
    """How far simulations on the device `name` are off in cycles, percent: mean, median, most."""
    errors = []
    for run in runs:
        measured = replace(run, device=replace(run.device, name=name))
        errors.append(abs(compare(replay(measured), measured).run_cycles.error))
    figures = {"mean": np.mean(errors), "median": np.median(errors), "most": max(errors)}
    return {name: round(100 * float(share), 1) for name, share in figures.items()}


def main():
    held_out = [Trace.load(path) for path in sorted((DATA / "held_out").glob("*.npz"))]
    entry, count = suite_entry()
    with adding(NAME, entry):
        own = off(NAME, held_out)
    found = {"runs": count, "held_out": len(held_out), "own": own, "shipped": off("h200", held_out)}
    RESULT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
