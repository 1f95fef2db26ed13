"""Reports that ship are found by their bench and device, and kernel times by their problem, GPU and day."""

import json
from dataclasses import replace

import pytest

from tilesim import Problem
from tilesim.errors import ReportError
from tilesim.ladder.reports import kernel_times, machines, read, report, row


@pytest.mark.parametrize(
    "bench", ["coalescing", "pipelining", "ladder", "reductions", "bank_conflicts", "split_k_and_friends"]
)
def test_a_report_says_where_and_how_it_was_measured(bench):
    found = report(bench)
    assert found["machine"]["gpu"] == "NVIDIA H200" and found["method"] and found["rows"]


def test_what_is_not_there_is_named():
    with pytest.raises(ReportError, match=r"no report of h200 'coalesing'; did you mean 'coalescing'\?"):
        report("coalesing")
    with pytest.raises(ReportError, match="no report of h9000 'coalescing'"):
        report("coalescing", "h9000")
    with pytest.raises(ReportError, match="no row of stages 9, warps 8"):
        row(report("pipelining"), stages=9, warps=8)


@pytest.mark.parametrize("bench", ["coalescing", "reductions"])
def test_a_file_of_a_report_is_what_was_written(bench, tmp_path):
    """Of the reductions' rows one, the copy of a vector, has no error."""
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(report(bench)))
    assert read(path, bench) == report(bench)


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"rows": []}, r"rows is \[\]; it must be a list that is not empty"),
        ({"rows": [{}]}, r"rows\[0\] lacks m, n, "),
        ({"method": None}, "method is None; it must be a text"),
        ({"article": {"ms": 1e19, "tflops": 1}}, r"article\.ms is 1e\+19; it must be a number"),
    ],
)
def test_a_file_that_is_no_such_report_is_refused_in_a_sentence(changes, wrong, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(dict(report("coalescing")) | changes))
    with pytest.raises(ReportError, match=f"mine.json: .*{wrong}"):
        read(path, "coalescing")


RACE = Problem(4096, 4096, 512, order="grouped:8")


def test_every_row_is_found_by_its_problem_and_machine():
    for measured in machines():
        for timed in measured["rows"]:
            shape = {name: timed[name] for name in ("m", "n", "k", "dtype", "order")}
            problem = Problem(**shape, tile=tuple(timed["tile"]))
            assert kernel_times(problem, measured["machine"])[timed["kernel"]] == timed


@pytest.mark.parametrize("fact", ["gpu", "driver", "torch", "date"])
def test_another_machine_or_day_has_no_times(fact):
    facts = dict(machines()[0]["machine"]) | {fact: "another"}
    assert kernel_times(RACE, facts) == {}


def test_without_a_gpu_named_or_for_another_problem_there_are_no_times():
    gpu = {"gpu": "NVIDIA H200"}
    assert kernel_times(RACE, gpu | {"warps": 8}) != {}
    assert kernel_times(RACE, {}) == kernel_times(replace(RACE, k=513), gpu) == {}
