"""`tilesim bench ladder`, `coalescing` and others: what they print of a report, such as the shipped."""

import json
from importlib.resources import files
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tilesim.cli import main
from tilesim.cli.commands.bench import (
    bank_conflicts,
    coalescing,
    l2_order,
    ladder,
    memory_hierarchy,
    pipelining,
    split_k_and_friends,
)
from tilesim.cli.output.reports import product_times


def shipped(folder: str) -> dict:
    return json.loads(files("tilesim").joinpath("data", folder, "h200.json").read_text("utf-8"))


def test_every_step_has_a_line_with_its_figures():
    report = shipped("ladder")
    head, peaks, names, *lines = ladder._table(report).splitlines()
    assert "gpu NVIDIA H200" in head and "TFLOP/s" in names
    assert f"{report['peak_tflops']['measured']} TFLOP/s" in peaks
    left_out = [line for line in lines if line.startswith("left out: ")]
    assert len(left_out) == len(report["left_out"]) == 3
    for line, row in zip(lines, report["rows"], strict=False):
        size, *rest = line.split()
        assert size == f"{row['m']}x{row['n']}x{row['k']}"
        assert rest[:1] == ([row["name"]] if row["step"] is None else [str(row["step"])])
        assert f"{row['us']:.2f}" in rest and f"{row['tflops']:.1f}" in rest
        assert float(line.split("%")[0].split()[-1]) == pytest.approx(
            100 * row["tflops"] / report["peak_tflops"]["measured"], abs=0.06
        )


def test_bytes_from_a_model_are_said_to_be():
    report = shipped("ladder")
    row = report["rows"][0] | {"bytes_from": "model"}
    assert ladder._table(report | {"rows": [row], "left_out": {}}).endswith("(model)")


def test_the_article_stands_above_what_was_measured():
    report = shipped("coalescing")
    _, head, article, *lines = coalescing._table(report).splitlines()
    assert article.split() == ["the", "article", "261.94", "1.57"] and "sectors a load" in head
    assert len(lines) == len(report["rows"]) == 4
    for line, row in zip(lines, report["rows"], strict=True):
        assert line.split()[:2] == [row["kernel"], row["dtype"]] and row["bound"] in line


def test_without_counters_the_table_says_so():
    report = shipped("coalescing")
    row = {name: value for name, value in report["rows"][0].items() if "sector" not in name}
    assert coalescing._table(report | {"rows": [row]}).count("not counted") == 2


def test_stages_have_a_line_each_with_what_a_k_step_takes():
    report = shipped("pipelining")
    _, head, *lines = pipelining._table(report).splitlines()
    assert "K-step ns" in head and len(lines) == len(report["rows"]) == 4
    for line, row in zip(lines, report["rows"], strict=True):
        figures = [float(word) for word in line.split()]
        assert figures[0] == row["stages"] and figures[-2:] == [row["k_step_ns"], row["k_step_cycles"]]


@pytest.mark.parametrize(("bench", "about"), [(l2_order, "order"), (memory_hierarchy, "asked_bytes")])
def test_bytes_that_were_counted_stand_beside_the_times(bench, about):
    report = shipped(bench.__name__.rpartition(".")[2])
    _, head, *lines = bench._table(report).splitlines()
    assert "L2 hits" in head and len(lines) == len(report["rows"])
    for line, row in zip(lines, report["rows"], strict=True):
        assert line.startswith(f"{row['m']}x{row['n']}x{row['k']} ") and f"{row['us']:.2f}" in line
        assert line.split()[-1] == f"{row['dram_read_bytes'] / 1e6:.0f}"
        assert (row["order"] if about == "order" else f"{row[about] / 1e6:.0f}") in line
    bare = {name: value for name, value in report["rows"][0].items() if not name.startswith("l2_")}
    assert bench._table(report | {"rows": [bare]}).endswith("not counted")


def test_beats_are_those_of_one_thread_block():
    report = shipped("bank_conflicts")
    _, head, *lines = bank_conflicts._table(report).splitlines()
    assert "load beats" in head and len(lines) == len(report["rows"]) == 5
    assert [line.split()[:3] for line in lines[:2]] == [
        ["interleaved", "94.00", "55.00"],
        ["sequential", "24.00", "20.00"],
    ]


def test_every_schedule_of_a_bad_tail_has_a_line_for_each_product():
    report = shipped("split_k_and_friends")
    _, head, *lines = product_times(report).splitlines()
    assert "TFLOP/s" in head and len(lines) == len(report["rows"]) == 36
    for line, row in zip(lines, report["rows"], strict=True):
        assert row["kernel"] in line.split() and f"{row['us']:.2f}" in line.split()


def test_so_many_samples_are_asked_for(monkeypatch):
    asked = []
    kernels = SimpleNamespace(
        split_k_and_friends=lambda samples: asked.append(samples) or shipped("split_k_and_friends"),
        bank_conflicts=lambda: shipped("bank_conflicts"),
    )
    for module in (split_k_and_friends, bank_conflicts):
        monkeypatch.setattr(module, "load", lambda name: kernels)
    for words in (["split-k-and-friends", "--samples", "7"], ["bank-conflicts"]):
        result = CliRunner().invoke(main, ["bench", *words])
        assert result.exit_code == 0, result.output
    assert asked == [7]
