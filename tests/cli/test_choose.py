"""Which kernel is the fastest: `tilesim tune`, with kernels that only answer, and `tilesim choose`."""

import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import said

import tilesim
from tilesim import Device
from tilesim.choice.choose import choose
from tilesim.cli.output.reports import tuned_kernels
from tilesim.errors import TilesimError
from tilesim.kernel_config import current_name
from tilesim.products import Product

DATA = Path(tilesim.__file__).parent / "data"
SHIPPED = json.loads((DATA / "tuned" / "h200.json").read_text("utf-8"))
CHOICE = DATA / "choice" / "h200.json"


@pytest.fixture
def asked(monkeypatch):
    """What the kernels were asked; they answer with the shipped table, and read a file as JSON."""
    seen = []

    def answer(*problems, **options):
        options.pop("progress")(100)
        seen.append((problems, options))
        return SHIPPED

    def read(path):
        text = Path(path).read_text("utf-8")
        if not text:
            raise TilesimError(f"{path} is no table")
        return json.loads(text)

    modules = {"": SimpleNamespace(tune=answer), "tuning.tuner": SimpleNamespace(PROGRESS_UNITS=100)}
    modules["tuning.choice"] = SimpleNamespace(read=read)
    monkeypatch.setattr("tilesim.cli.commands.tune.load", lambda folder, module="": modules[module])
    return seen


run = partial(said, "tune")


def test_every_size_in_every_dtype_and_layout_is_asked_for(asked):
    run("--size", "64x32x16", "--size", "4096x4096x512", "--dtype", "fp8", "--dtype", "bf16")
    run("--layout", "nt", "--layout", "nn", "--samples", 7, "--seed", 5, "--top", 8)
    (first, usual), (one, options) = asked
    assert [(p.m, p.n, p.k, p.dtype) for p in first] == [
        (64, 32, 16, "fp8"), (64, 32, 16, "bf16"), (4096, 4096, 512, "fp8"), (4096, 4096, 512, "bf16"),
    ]  # fmt: skip
    assert usual == {"samples": 100, "seed": 0, "top": None, "table": None}
    assert one == tuple(Product(4096, 4096, 512, "bf16", layout) for layout in ("nt", "nn"))
    assert options == {"samples": 7, "seed": 5, "top": 8, "table": None}


def test_the_winner_and_its_ratio_to_cublas_are_shown_per_shape_that_it_can_multiply(asked):
    machine, head, *rows = run().splitlines()
    assert "gpu NVIDIA H200" in machine and head.endswith("ratio")
    assert len(rows) == len(SHIPPED["rows"])
    for line, row in zip(rows, SHIPPED["rows"], strict=True):
        assert line.startswith(f"{row['m']}x{row['n']}x{row['k']} {row['dtype']} {row['layout']} ")
        assert f" {current_name(row['kernel'])}" in line
        assert float(line.split()[-1]) == pytest.approx(row["cublas_us"] / row["us"], abs=5e-4)
    row = {**SHIPPED["rows"][0], "cublas_us": None, "kernel": "planned", "schedule": "split-k:2"}
    line = tuned_kernels({**SHIPPED, "rows": [row]}).splitlines()[-1]
    assert line.endswith(f" {row['us']:.2f}") and " table:split-k:2 " in line


def test_the_table_is_written_and_one_that_there_is_already_is_passed_on(asked, tmp_path):
    made, old, new = tmp_path / "made.json", tmp_path / "old.json", tmp_path / "new.json"
    printed = run("-o", made, "--json")
    assert json.loads(printed) == SHIPPED == json.loads(made.read_text("utf-8"))
    old.write_text('{"rows": [3]}', "utf-8")
    run("--table", old, "-o", new)
    assert asked[-1][1]["table"] == {"rows": [3]} == json.loads(old.read_text("utf-8"))
    assert json.loads(new.read_text("utf-8")) == SHIPPED
    run("--table", old)
    assert json.loads(old.read_text("utf-8")) == SHIPPED
    run("--table", tmp_path / "none.json")
    assert asked[-1][1]["table"] is None and (tmp_path / "none.json").exists()


def test_a_file_that_is_no_table_is_said_before_anything_is_measured(asked, tmp_path):
    (tmp_path / "old.json").write_text("", "utf-8")
    assert run("--table", tmp_path / "old.json", code=1).endswith("is no table\n")
    assert run("--table", tmp_path / "no" / "old.json", code=1).startswith("error: cannot write")
    assert asked == []


def test_the_ranking_is_the_library_s_and_sms_alone_are_so_many_of_an_h200():
    shape = ["--m", 512, "--n", 4096, "--k", 4096, "--dtype", "fp8", "--layout", "nt"]
    printed = json.loads(said("choose", *shape, "--top", 3, "--json"))
    ranked = choose(Product(512, 4096, 4096, "fp8", "nt"), Device.named("h200"))
    assert printed["candidates"] == len(ranked)
    assert [one["us"] for one in printed["ranking"]] == [round(one.ns / 1000, 3) for one in ranked[:3]]
    assert printed["ranking"][0]["tile"] == list(ranked[0].config.tile)
    _, _, _, *lines = said("choose", *shape, "--top", 3).splitlines()
    assert len(lines) == 3 and all(one.limit in line for one, line in zip(ranked, lines, strict=False))
    few, all_of_it = (json.loads(said("choose", *sms, "--json")) for sms in (["--sms", 4], []))
    assert few["device"] == "h200" and few["ranking"][0]["us"] > all_of_it["ranking"][0]["us"]


def test_measured_times_are_judged_without_a_gpu(tmp_path):
    shipped = json.loads(CHOICE.read_text("utf-8"))
    rows = shipped["rows"][::12]
    (some := tmp_path / "some.json").write_text(json.dumps(shipped | {"rows": rows}))
    count = sum(row["held_out"] for row in rows)
    held_out = said("bench", "choice", "--measured", some).splitlines()[-1]
    assert held_out.startswith(f"held out: products {count}, mean_ratio")
    judged = json.loads(said("bench", "choice", "--measured", some, "--json"))["rows"]
    assert sum(row["held_out"] for row in judged) == count > 5
