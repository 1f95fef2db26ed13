"""What more processes bring where cores are free: `python tests/benchmarks/processes.py [ROUNDS]`.

The race is exported by 1, 2, 4 and 8 processes, as far as there are cores. The figures go to processes.json,
with what they were taken on.
"""

import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from alternation import alternate
from machine import machine
from rendering import EXPORT, process
from table import row, text

from tilesim.parallel import cores

RESULTS = Path(__file__).with_suffix(".json")
FILM = "race"
COUNTS = (1, 2, 4, 8)


def exported(count: int) -> float:
    """Seconds that an export by `count` processes takes, its start included."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word.format(scene=FILM, folder=folder) for word in EXPORT]
        return process(*words, "--jobs", str(count))["whole"]


def measure(rounds: int, available: int) -> list[dict[str, Any]]:
    """Rows of the table: how many times as fast each count is as one process, in the same round."""
    counts = [count for count in COUNTS if count <= available]
    taken = alternate({str(count): partial(exported, count) for count in counts}, rounds)

    def gains(count: int) -> list[float]:
        return [alone / shared for alone, shared in zip(taken["1"], taken[str(count)], strict=True)]

    return [
        row(f"{FILM}: {count} processes against 1", gains(count), "times", f"at least {0.8 * count:g}")
        for count in counts[1:]
    ]


def main(rounds: int = 2) -> None:
    found = measure(rounds, cores())
    print(text(found))
    about = {"machine": machine("manim", "av"), "rounds": rounds, "rows": found}
    RESULTS.write_text(json.dumps(about, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
