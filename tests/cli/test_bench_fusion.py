"""`tilesim bench fusion`: what it asks for, and what it prints of the report that ships."""

import json
from types import SimpleNamespace

from click.testing import CliRunner

from tilesim.cli import main
from tilesim.cli.commands.bench import fusion
from tilesim.ladder.reports import report


def test_samples_are_passed_on_and_the_report_is_the_file(tmp_path, monkeypatch):
    asked = []
    kernels = SimpleNamespace(fusion=lambda samples: asked.append(samples) or report("fusion"))
    monkeypatch.setattr("tilesim.cli.commands.bench.fusion.load", lambda name: kernels)
    done = CliRunner().invoke(main, ["bench", "fusion", "--samples", "3", "-o", str(tmp_path / "a.json")])
    assert done.exit_code == 0 and asked == [3]
    assert json.loads((tmp_path / "a.json").read_text("utf-8")) == report("fusion")


def test_each_chain_and_each_product_has_a_line_with_its_times():
    shipped = report("fusion")
    _, head, *lines = fusion._table(shipped).splitlines()
    chains, (middle, *products) = lines[: len(shipped["rows"])], lines[len(shipped["rows"]) :]
    assert "DRAM MB" in head and middle.startswith("product") and len(products) == len(shipped["products"])
    for line, row in zip(chains, shipped["rows"], strict=True):
        assert line.split()[:4] == [
            str(row["elements"]), str(row["functions"]), row["kernel"], f"{row['us']:.2f}",
        ]  # fmt: skip
        assert line.endswith("not counted") == ("dram_read_bytes" not in row)
    for line, row in zip(products, shipped["products"], strict=True):
        assert row["kernel"] in line and f"{row['p20']:.2f}" in line


def test_what_is_left_out_is_said_last():
    assert fusion._table(report("fusion") | {"left_out": {"torch.compile": "no compiler"}}).endswith(
        "no compiler"
    )
