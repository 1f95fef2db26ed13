"""What more processes bring where cores are free: `python benchmarks/processes.py [ROUNDS]`.

The race is exported by 1, 2, 4 and 8 processes, as far as there are cores, and as many exports that share
nothing run at once. A race of three minutes shows what of the rest is the start and the end of a film. The
figures go to processes.json, with what they were taken on.
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
FILM, LONG = "race", ("--seconds", "180")
COUNTS = (1, 2, 4, 8)


def exported(count: int, *options: str) -> float:
    """Seconds that an export by `count` processes takes, its start included."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word.format(scene=FILM, folder=folder) for word in EXPORT]
        return process(*words, *options, "--jobs", str(count))["whole"]


def beside_each_other(count: int) -> float:
    """Seconds until `count` exports, begun at once and each by one process, are all done."""
    begin = perf_counter()
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(exported, [1] * count))
    return perf_counter() - begin


def shared(name: str, rounds: int, counts: list[int], *options: str) -> list[dict[str, Any]]:
    """Rows of how many times as fast as one process several are that share a film, in the same round."""
    taken = alternate({str(count): partial(exported, count, *options) for count in counts}, rounds)
    rows = []
    for count in counts[1:]:
        gains = [one / more for one, more in zip(taken["1"], taken[str(count)], strict=True)]
        rows.append(row(f"{name}: {count} processes against 1", gains, "times", f"at least {0.8 * count:g}"))
    return rows


def apart(name: str, rounds: int, counts: list[int]) -> list[dict[str, Any]]:
    """Rows of how many times as fast several are that share nothing, which is what the cores give."""
    taken = alternate({str(count): partial(beside_each_other, count) for count in counts}, rounds)
    rows = []
    for count in counts[1:]:
        gains = [count * one / more for one, more in zip(taken["1"], taken[str(count)], strict=True)]
        rows.append(row(f"{count} {name}s at once, a process each, against 1", gains, "times"))
    return rows


def main(rounds: int = 2) -> None:
    counts = [count for count in COUNTS if count <= cores()]
    found = [
        *shared(FILM, rounds, counts),
        *apart(FILM, rounds, counts),
        *shared(f"{FILM} of 3 minutes", rounds, counts, *LONG),
    ]
    print(text(found))
    about = {"machine": machine("manim", "av"), "rounds": rounds, "rows": found}
    RESULTS.write_text(json.dumps(about, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
