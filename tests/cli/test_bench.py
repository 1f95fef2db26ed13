"""`tilesim bench` and its subcommands, with kernels that answer with the reports that ship."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import said as run

import tilesim
from tilesim.cli.commands import bench
from tilesim.cli.output import reports, tables
from tilesim.ladder.reports import report

BENCHES = [name for name in bench.command.list_commands(None) if name != "choice"]
TIMED = ("us", "p20", "p80")
DATA = Path(tilesim.__file__).parent / "data"
SHIPPED = [file for name in BENCHES for file in sorted(DATA.glob(f"{name.replace('-', '_')}/*.json"))]
"""The files of their reports, of every device."""


def shipped(name):
    return report(name.replace("-", "_"))


def shown(name, **changes):
    """What `tilesim bench NAME` prints of the report that ships, with changes."""
    return bench.command.get_command(None, name).text(shipped(name) | changes)


@pytest.fixture
def asked(monkeypatch):
    """What each bench was asked; it answers with the report that ships."""
    seen = []

    def load(folder, module=""):
        name = module.rpartition(".")[2]

        def measure(*sizes, **options):
            seen.append((name, sizes, options))
            return report(name)

        return SimpleNamespace(**{name: measure})

    def measure_kernels(*problems, **options):
        seen.append(options["kernels"])
        return {"machine": {"gpu": "none"}, "rows": []}

    kernels = SimpleNamespace(NAMES=("naive-tma", "cublas"), bench=measure_kernels)
    monkeypatch.setattr(reports, "load", load)
    monkeypatch.setattr(bench, "load", lambda folder: kernels)
    return seen


@pytest.mark.parametrize("name", BENCHES)
def test_json_is_the_report_and_so_is_the_file(name, asked, tmp_path):
    printed = run("bench", name, "--json", "-o", tmp_path / "a.json")
    assert json.loads(printed) == shipped(name)
    assert (tmp_path / "a.json").read_text("utf-8") == printed
    assert asked[0][:2] == (name.replace("-", "_"), ())


@pytest.mark.parametrize("name", BENCHES)
def test_a_table_has_a_line_for_each_row_with_its_times(name, asked):
    text = run("bench", name)
    assert text.startswith("gpu NVIDIA H200, driver ") and text == shown(name) + "\n"
    lines, found = text.splitlines(), shipped(name)
    for row in found.get("rows", []) if name not in ("coalescing", "execution-model") else []:
        if "us" in row:
            times = "  ".join(f" *{row[one]:.2f}" for one in TIMED)
            assert any(re.search(times, line) for line in lines), row


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_tables_have_rows_and_columns_name_fields_that_the_report_has(file):
    """A wrong name would say that something was not counted."""
    name, found = file.parent.name.replace("_", "-"), report(file.parent.name, file.stem)
    rows = found.get("rows", [])
    lacking = {
        "fusion": sum("dram_read_bytes" not in row for row in rows),
        "divergence": sum(not row.get("issued") for row in rows),
        "loop-unrolling": sum(not row.get("issued") for row in rows),
    }
    command = bench.command.get_command(None, name)
    assert command.text(found).count(tables.NOT_COUNTED) == lacking.get(name, 0)
    for part in command.parts:
        if isinstance(part, reports.Table):
            _, head, *lines = part.lines(found)
            assert head.strip() and lines


def test_options_are_passed_on(asked):
    run("bench", "turnaround", "--repeats", 3)
    run("bench", "sm-order", "--launches", 20)
    run("bench", "memory")
    run("bench", "fusion", "--samples", 7)
    run("bench", "reductions", "--size", 1, "--size", 2**30)
    run("bench", "ladder", "--size", "64x128x256", "--dtype", "fp16")
    run("bench", "bank-conflicts")
    run("bench", "busy-sms", "--size", "256x512x64", "--busy-sms", 3, "--busy-sms", 0, "--samples", 7)
    run("bench", "busy-sms")
    run("bench", "--kernel", "table:stream-k:108", "--kernel", "cublas")
    assert asked == [
        ("turnaround", (), {"repeats": 3}),
        ("sm_order", (), {"launches": 20}),
        ("memory", (), {"repeats": 5}),
        ("fusion", (), {"samples": 7}),
        ("reductions", (1, 2**30), {"samples": 100}),
        ("ladder", ((64, 128, 256),), {"dtype": "fp16", "samples": 50}),
        ("bank_conflicts", (), {}),
        ("busy_sms", ((256, 512, 64),), {"counts": (3, 0), "samples": 7}),
        ("busy_sms", (), {"samples": 50}),
        ("table:stream-k:108", "cublas"),
    ]


def test_products_have_a_column_for_the_host_where_it_was_timed():
    found = shipped("split-k-and-friends")
    assert "with host" not in "\n".join(reports.product_times(found))
    timed = {"rows": [found["rows"][0] | {"host_us": 123.456}]}
    assert [line.split()[-1] for line in reports.product_times(timed)[1:]] == ["host", "123.46"]


def test_a_time_beside_held_sms_is_a_multiple_of_that_without():
    rows = shipped("busy-sms")["rows"]
    held = {row["busy_sms"]: row["us"] for row in rows[:7]}
    lines = shown("busy-sms").splitlines()[3:10]
    assert [float(line.split()[-1]) for line in lines] == [round(us / held[0], 2) for us in held.values()]
    without = [row for row in rows if row["busy_sms"]]
    assert shown("busy-sms", rows=without[:1]).endswith(f"{without[0]['p80']:.2f}")


def test_what_is_not_counted_what_comes_from_a_model_and_what_is_left_out_is_said():
    row = shipped("coalescing")["rows"][0]
    bare = {name: value for name, value in row.items() if "sector" not in name}
    assert shown("coalescing", rows=[bare]).count("not counted") == 2
    for name, counted in (("l2-order", "l2_"), ("fusion", "dram_")):
        row = shipped(name)["rows"][0]
        bare = {name: value for name, value in row.items() if not name.startswith(counted)}
        assert "not counted" in shown(name, rows=[bare], products=[])
    assert "not counted" in shown("divergence", rows=[shipped("divergence")["rows"][0] | {"issued": 0}])
    row = shipped("ladder")["rows"][0] | {"bytes_from": "model"}
    assert shown("ladder", rows=[row], left_out={}).endswith("(model)")
    assert shown("fusion", left_out={"torch.compile": "no compiler"}).endswith("no compiler")
    assert shown("ladder", left_out={"element": "too slow"}).endswith("left out: element: too slow")


def test_the_article_stands_above_what_was_measured_and_beats_are_those_of_one_thread_block():
    assert shown("coalescing").splitlines()[3].split() == ["the", "article", "261.940", "1.57"]
    beats = shown("bank-conflicts").splitlines()[3].split()
    assert beats == ["interleaved", "94.00", "55.00", "1042.0", "24.8/32"]


def test_kernels_of_which_fewer_were_seen_than_the_driver_says_are_named():
    rows = shipped("execution-model")["rows"]
    found = shown("execution-model", rows=[rows[0] | {"seen": rows[0]["driver"] - 1}, rows[1]])
    assert "of 2 kernels that spin, 1 with as many residents" in found and "\nspin " in found


def test_tile_loads_stand_by_the_stages_in_flight_and_a_curve_may_have_no_plateaus():
    found = shipped("memory")["tile_loads"]
    alike = ("by", "sms", "source", "tile")
    first = [row for row in found if all(row[name] == found[0][name] for name in alike)]
    cycles = "  ".join(f" *{row['cycles']['p50']:.0f}" for row in first)
    assert re.search(r"64x64 +tma +L2 +1 +1" + cycles, shown("memory"))
    text = shown("memory", latency=shipped("memory")["latency"][:3])
    assert "\nnone: the pointer chase has 0 plateaus over its footprints; at least 2 are required\n" in text


def test_sm_order_says_what_is_known_of_the_groups():
    found = shipped("sm-order")
    text = shown("sm-order")
    assert all(f"\n  {' '.join(map(str, group))}\n" in text for groups in found["tiers"] for group in groups)
    assert "\nas the preset h200 says\nclusters join 8 GPCs; 8 of them are such groups\n" in text
    text = shown("sm-order", device="", as_preset=None, gpcs=[])
    assert "preset" not in text and "clusters" not in text


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--kernel", "naiv-tma"], "did you mean 'naive-tma'?"),
        (["--kernel", "table"], "there is no kernel 'table'; choose from naive-tma, cublas, table:SCHEDULE"),
        (["--kernel", "cublas", "--kernel", "table:nonsense"], "there is no schedule 'nonsense'"),
        (["--kernel", "table:split-k:0"], "it must be a whole number from 1"),
    ],
)
def test_a_kernel_that_is_not_there_is_wrong_usage(args, sentence, asked):
    assert sentence in run("bench", *args, code=2)
    assert asked == []


COLUMNS = "size {m}x{n} | kernel | µs {us:.1f} | of peak {share:.0%} | DRAM MB {dram[*]:.0f/1e6}"
ROWS = [
    {"m": 8, "n": 16, "kernel": "naive", "us": 9.54, "share": 0.5}
    | {"dram": {"p20": 2e9, "p50": 2.5e9, "p80": 3e9}},
    {"m": 8, "n": 1024, "kernel": None, "us": 1210.5, "share": 1},
]


def test_lines_of_a_table_for_the_command_line():
    assert tables.text(ROWS, COLUMNS) == [
        "size    kernel      µs  of peak      DRAM MB          p20          p80",
        "8x16    naive      9.5      50%         2500         2000         3000",
        "8x1024          1210.5     100%  not counted  not counted  not counted",
    ]
    assert tables.text([], "size {m} | µs {us}") == ["size  µs"]


def test_its_cells_for_a_page():
    head, rule, *rows = tables.markdown(ROWS, COLUMNS).splitlines()
    assert head == "| size | kernel | µs | of peak | DRAM MB | p20 | p80 |"
    assert rule == "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    assert rows == [
        "| 8x16 | naive | 9.5 | 50% | 2500 | 2000 | 3000 |",
        "| 8x1024 |  | 1210.5 | 100% | not counted | not counted | not counted |",
    ]
