"""`tilesim choose`, and what `tilesim bench choice` says of measured times."""

import json
from pathlib import Path

import pytest
from command_line import said as run

import tilesim
from tilesim import Device
from tilesim.choice.choose import choose
from tilesim.products import Product

SHIPPED = Path(tilesim.__file__).parent / "data/choice/h200.json"


def test_the_ranking_is_the_library_s():
    shape = ["--m", 512, "--n", 4096, "--k", 4096, "--dtype", "fp8", "--layout", "nt"]
    printed = json.loads(run("choose", *shape, "--top", 3, "--json"))
    ranked = choose(Product(512, 4096, 4096, "fp8", "nt"), Device.named("h200"))
    assert printed["candidates"] == len(ranked)
    assert [one["us"] for one in printed["ranking"]] == [round(one.ns / 1000, 3) for one in ranked[:3]]
    assert printed["ranking"][0]["tile"] == list(ranked[0].config.tile)
    _, _, _, *lines = run("choose", *shape, "--top", 3).splitlines()
    assert len(lines) == 3 and all(one.limit in line for one, line in zip(ranked, lines, strict=False))


def test_a_gpu_whose_residents_nobody_can_count_is_refused_in_a_sentence():
    assert run("choose", "--device", "mi300x", code=1).startswith("error: how AMD MI300X shares an SM out")


def test_sms_alone_are_so_many_of_an_h200():
    few = json.loads(run("choose", "--sms", 4, "--json"))
    assert (
        few["device"] == "h200"
        and few["ranking"][0]["us"] > json.loads(run("choose", "--json"))["ranking"][0]["us"]
    )


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--m", 0], 2, "m is 0; it must be a whole number from 1"),
        (["--m", 2**40, "--n", 2**40], 1, "no kernel here computes 1099511627776x1099511627776x512"),
        (["--dtype", "int8"], 1, "no kernel here computes 4096x4096x512 int8 nn on NVIDIA H200"),
        (["--dtype", "fp8", "--device", "a100"], 1, "datasheet has no fp8 rate"),
        (["--ctas-per-sm", 2], 2, "leave out --ctas-per-sm"),
        (["--layout", "rows"], 2, "layout"),
    ],
)
def test_what_cannot_be_chosen_is_one_sentence(words, code, sentence):
    said = run("choose", *words, code=code)
    assert said.startswith("error: ") and sentence in said and said.count("\n") == 1


def test_measured_times_are_judged_without_a_gpu(tmp_path):
    shipped = json.loads(SHIPPED.read_text("utf-8"))
    rows = shipped["rows"][::6]
    (some := tmp_path / "some.json").write_text(json.dumps(shipped | {"rows": rows}))
    count = sum(row["held_out"] for row in rows)
    held_out = run("bench", "choice", "--measured", some).splitlines()[-1]
    assert held_out.startswith(f"held out: products {count}, mean_ratio")
    judged = json.loads(run("bench", "choice", "--measured", some, "--json"))["rows"]
    assert sum(row["held_out"] for row in judged) == count > 10


def test_a_measurement_that_is_none(tmp_path):
    (tmp_path / "m.json").write_text("{}")
    assert "is not a measurement" in run("bench", "choice", "--measured", tmp_path / "m.json", code=1)
