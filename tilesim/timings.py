"""Kernel times that ship with tilesim: measured with `tilesim bench`, launch included, no tile in them."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from tilesim.problems import Problem

SHAPE = ("m", "n", "k", "tile", "dtype", "order")


@cache
def machines() -> tuple[Mapping[str, Any], ...]:
    """Every file of `tilesim bench` that ships: machine, method and rows of each."""
    folder = files("tilesim").joinpath("data/timings")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".json"))
    return tuple(json.loads(folder.joinpath(name).read_text("utf-8")) for name in names)


def kernel_times(problem: Problem, gpu: str) -> dict[str, Mapping[str, Any]]:
    """The rows measured for exactly `problem` on `gpu` (its full name), by kernel; empty if there are none.

    `us` is the median kernel time of a row in µs, `p20` and `p80` its spread.
    """
    shape = {name: getattr(problem, name) for name in SHAPE} | {"tile": list(problem.tile)}
    return {
        row["kernel"]: row
        for machine in machines()
        if machine["machine"]["gpu"] == gpu
        for row in machine["rows"]
        if all(row[name] == value for name, value in shape.items())
    }
