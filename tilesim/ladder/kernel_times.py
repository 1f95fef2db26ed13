"""Kernel times that ship with tilesim: measured with `tilesim bench`, launch included, no tile in them."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from tilesim.work import Work


@cache
def machines() -> tuple[Mapping[str, Any], ...]:
    """Every file of `tilesim bench` that ships: machine, method and rows of each."""
    folder = files("tilesim").joinpath("data/timings")
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".json"))
    return tuple(json.loads(folder.joinpath(name).read_text("utf-8")) for name in names)


def kernel_times(problem: Work, facts: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The rows measured for exactly `problem`, by kernel, on the machine that `facts` describe.

    A machine's facts are gpu (its full name), driver, cuda, torch, triton and date; those that `facts`
    holds must agree, at least gpu among them, so a measured trace's meta finds the times of its own day.
    `us` is the median kernel time of a row in µs, `p20` and `p80` its spread. Empty if there are none.
    """
    shape = problem.as_json()
    return {
        row["kernel"]: row
        for measured in machines()
        if "gpu" in facts
        and all(facts.get(name, value) == value for name, value in measured["machine"].items())
        for row in measured["rows"]
        if all(row.get(name) == value for name, value in shape.items())
    }
