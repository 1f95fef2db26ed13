"""All benchmarks, by `make bench` or `python benchmarks [ROUNDS [PART]...]`: a table, kept as JSON.

Of parts that are not named the file keeps what it has, if it is of the same machine.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import exports
import incremental
import rendering
import simulation
from alternation import alternate
from machine import machine
from table import row, text

RESULTS = Path(__file__).with_name("results.json")
PACKAGES = ("numpy", "numba", "simpy", "manim", "av", "click")


def started(*command: str) -> float:
    """Seconds until `tilesim COMMAND` is done."""
    begin = perf_counter()
    subprocess.run(
        [sys.executable, "-m", "tilesim", *command],
        capture_output=True,
        check=True,
        env=os.environ | rendering.COMPILED,
    )
    return perf_counter() - begin


def starts(rounds: int) -> list[dict]:
    """How long one waits for the command line."""
    commands = {name: lambda name=name: started(name) for name in ("--help", "list")}
    return [
        row(f"tilesim {name}", figures, "s", "at most 0.3")
        for name, figures in alternate(commands, 3 * rounds).items()
    ]


def main(rounds: int = 3, *wanted: str) -> None:
    here = machine(*PACKAGES)
    print(", ".join(f"{name} {value}" for name, value in here.items()))
    parts = {
        "rendering": rendering.measure,
        "any scene": incremental.measure,
        "export of any scene": exports.measure,
        "simulation": simulation.measure,
        "start": starts,
    }
    found = {}
    before = json.loads(RESULTS.read_text()) if wanted else {}
    if wanted and before["machine"] | {"date": here["date"]} != here:
        raise SystemExit(f"{RESULTS} is of another machine; leave the parts out")
    for name, measure in parts.items():
        if wanted and name not in wanted:
            found[name] = before[name]
            continue
        found[name] = measure(rounds)
        print(f"\n{name}, {rounds} rounds: median (least to most)\n{text(found[name])}", flush=True)
    RESULTS.write_text(json.dumps({"machine": here, "rounds": rounds, **found}, indent=1) + "\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
