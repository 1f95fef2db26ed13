"""`tilesim choose`, and what `tilesim bench choice` says of measured times."""

import json
from pathlib import Path

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


def test_sms_alone_are_so_many_of_an_h200():
    few, all_of_it = (json.loads(run("choose", *sms, "--json")) for sms in (["--sms", 4], []))
    assert few["device"] == "h200" and few["ranking"][0]["us"] > all_of_it["ranking"][0]["us"]


def test_measured_times_are_judged_without_a_gpu(tmp_path):
    shipped = json.loads(SHIPPED.read_text("utf-8"))
    rows = shipped["rows"][::6]
    (some := tmp_path / "some.json").write_text(json.dumps(shipped | {"rows": rows}))
    count = sum(row["held_out"] for row in rows)
    held_out = run("bench", "choice", "--measured", some).splitlines()[-1]
    assert held_out.startswith(f"held out: products {count}, mean_ratio")
    judged = json.loads(run("bench", "choice", "--measured", some, "--json"))["rows"]
    assert sum(row["held_out"] for row in judged) == count > 10
