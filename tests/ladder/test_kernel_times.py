"""Shipped kernel times are found for their own problem, GPU and day, and for no other."""

from dataclasses import replace

import pytest

from tilesim import Problem
from tilesim.ladder.reports import kernel_times, machines

RACE = Problem(4096, 4096, 512, order="grouped:8")


def test_every_row_is_found_by_its_problem_and_machine():
    for measured in machines():
        for row in measured["rows"]:
            shape = {name: row[name] for name in ("m", "n", "k", "dtype", "order")}
            problem = Problem(**shape, tile=tuple(row["tile"]))
            assert kernel_times(problem, measured["machine"])[row["kernel"]] == row


@pytest.mark.parametrize("fact", ["gpu", "driver", "torch", "date"])
def test_another_machine_or_day_has_no_times(fact):
    facts = dict(machines()[0]["machine"]) | {fact: "another"}
    assert kernel_times(RACE, facts) == {}


def test_without_a_gpu_named_or_for_another_problem_there_are_no_times():
    gpu = {"gpu": "NVIDIA H200"}
    assert kernel_times(RACE, gpu | {"warps": 8}) != {}
    assert kernel_times(RACE, {}) == kernel_times(replace(RACE, k=513), gpu) == {}
