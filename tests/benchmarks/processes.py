"""What more processes bring where cores are free: `python tests/benchmarks/processes.py [ROUNDS]`.

The race is exported by 1, 2, 4 and 8 processes, as far as there are cores, and as many exports that share
nothing run at once. The figures go to processes.json, with what they were taken on.
"""

import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import perf_counter
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


def beside_each_other(count: int) -> float:
    """Seconds until `count` exports, begun at once and each by one process, are all done."""
    begin = perf_counter()
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(exported, [1] * count))
    return perf_counter() - begin


def measure(rounds: int, available: int) -> list[dict[str, Any]]:
    """Rows of the table: how many times as fast as one process several are that share a film, and as many
    that share nothing, which is what the cores give. Both are of the same round."""
    counts = [count for count in COUNTS if count <= available]
    ways = {
        f"{name} {count}": partial(way, count)
        for name, way in (("one film", exported), ("films", beside_each_other))
        for count in counts
        if way is exported or count > 1
    }
    taken = alternate(ways, rounds)
    alone = taken["one film 1"]
    rows = []
    for count in counts[1:]:
        shared = [one / all_ for one, all_ in zip(alone, taken[f"one film {count}"], strict=True)]
        free = [count * one / all_ for one, all_ in zip(alone, taken[f"films {count}"], strict=True)]
        rows += [
            row(f"{FILM}: {count} processes against 1", shared, "times", f"at least {0.8 * count:g}"),
            row(f"{count} films at once, a process each, against 1", free, "times"),
        ]
    return rows


def main(rounds: int = 2) -> None:
    found = measure(rounds, cores())
    print(text(found))
    about = {"machine": machine("manim", "av"), "rounds": rounds, "rows": found}
    RESULTS.write_text(json.dumps(about, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
