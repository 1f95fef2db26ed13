"""`tilesim bench` and its subcommands, with kernels that only answer."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

import tilesim
from tilesim.analysis.memory_system import MemorySystem
from tilesim.cli import main
from tilesim.cli.commands import bench

DATA = Path(tilesim.__file__).parent / "data"
SHIPPED = {
    "turnaround": json.loads((DATA / "turnaround/h200.json").read_text("utf-8")),
    "sm-order": json.loads((DATA / "sm_order/h200.json").read_text("utf-8")),
    "memory": json.loads((DATA / "memory/h200.json").read_text("utf-8")),
    "tiling-hierarchy": json.loads((DATA / "tiling_hierarchy/h200.json").read_text("utf-8")),
    "busy-sms": json.loads((DATA / "busy_sms/h200.json").read_text("utf-8")),
    "execution-model": json.loads((DATA / "execution_model/h200.json").read_text("utf-8")),
    "thread-indexing": json.loads((DATA / "thread_indexing/h200.json").read_text("utf-8")),
}
SUMS = {
    "machine": {"gpu": "none"},
    "method": "made up",
    "rows": [
        {
            "name": name, "n": n, "us": 2.0 * us, "p20": 1.75 * us, "p80": 2.5 * us, "gb_per_s": 1500.0 / us,
            "share_of_copy": 0.5 / us, "stages": 2, "relative_error": error, "why": f"{name} is there",
        }
        for n in (2**20, 2**28)
        for name, us, error in (("interleaved", 4.0, 1.5e-7), ("multi-block", 1.0, 0.0), ("copy", 0.5, None))
    ],
}  # fmt: skip
"""A report of `bench reductions`."""

REPORTS = {**SHIPPED, "reductions": SUMS}


@pytest.fixture
def asked(monkeypatch):
    """What the kernels were asked; they answer with the shipped figures."""
    seen = []

    def answer(name):
        def measure(count):
            seen.append((name, count))
            return SHIPPED[name]

        return measure

    kernels = SimpleNamespace(
        turnaround=answer("turnaround"),
        sm_order=answer("sm-order"),
        memory=answer("memory"),
        tiling_hierarchy=answer("tiling-hierarchy"),
        busy_sms=lambda *problems, **options: seen.append((problems, options)) or SHIPPED["busy-sms"],
        execution_model=answer("execution-model"),
        thread_indexing=answer("thread-indexing"),
        bench_reductions=lambda *sizes, samples: seen.append(("reductions", sizes, samples)) or SUMS,
        NAMES=("naive-tma", "cublas"),
        bench=lambda *problems, **options: (
            seen.append(options["kernels"]) or {"machine": {"gpu": "none"}, "rows": []}
        ),
    )
    for module in (*(f"bench.{name.replace('-', '_')}" for name in REPORTS), "bench"):
        monkeypatch.setattr(f"tilesim.cli.commands.{module}.load", lambda name: kernels)
    return seen


def run(*args):
    result = CliRunner().invoke(main, list(map(str, args)))
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("name", bench.command.list_commands(None))
def test_each_subcommand_is_listed_and_explains_each_option(name):
    assert f"\n  {name} " in run("bench", "--help")
    subcommand = bench.command.get_command(None, name)
    assert run("bench", name, "--help").startswith(f"Usage: tilesim bench {name} ")
    assert subcommand.short_help and subcommand.help
    assert all(option.help.endswith((".", "]")) for option in subcommand.params)


@pytest.mark.parametrize("name", REPORTS)
def test_json_is_the_report_and_so_is_the_file(name, asked, tmp_path):
    printed = run("bench", name, "--json", "-o", tmp_path / "a.json")
    assert json.loads(printed) == REPORTS[name]
    assert (tmp_path / "a.json").read_text("utf-8") == printed


def test_counts_are_passed_on(asked):
    run("bench", "turnaround", "--repeats", 3)
    run("bench", "sm-order", "--launches", 20)
    run("bench", "memory", "--repeats", 2)
    run("bench", "turnaround")
    run("bench", "sm-order")
    run("bench", "memory")
    assert asked == [
        ("turnaround", 3), ("sm-order", 20), ("memory", 2),
        ("turnaround", 5), ("sm-order", 200), ("memory", 5),
    ]  # fmt: skip


def test_kernels_are_passed_on(asked):
    run("bench", "--kernel", "planned:stream-k:108", "--kernel", "cublas")
    assert asked == [("planned:stream-k:108", "cublas")]


def test_sizes_and_samples_are_passed_on(asked):
    run("bench", "reductions")
    run("bench", "reductions", "--size", 1, "--size", 2**30, "--samples", 7)
    assert asked == [("reductions", (), 100), ("reductions", (1, 2**30), 7)]


def test_sizes_and_sms_to_hold_are_passed_on(asked):
    run("bench", "busy-sms", "--size", "256x512x64", "--busy-sms", 3, "--busy-sms", 0, "--samples", 7)
    run("bench", "busy-sms")
    asked_of = tilesim.Problem(256, 512, 64, order="grouped:8")
    assert asked == [((asked_of,), {"counts": (3, 0), "samples": 7}), ((), {"samples": 50})]


def test_busy_sms_as_a_table(asked):
    head, _, *lines = run("bench", "busy-sms").splitlines()
    rows = SHIPPED["busy-sms"]["rows"]
    assert "gpu NVIDIA H200" in head and len(lines) == len(rows)
    free = next(row["us"] for row in rows if row["kernel"] == "persistent" and row["busy_sms"] == 0)
    at = next(n for n, row in enumerate(rows) if row["kernel"] == "persistent" and row["busy_sms"] == 20)
    assert lines[at].split()[1:4] == ["persistent", "20", "132"]
    assert lines[at].endswith(f" {rows[at]['us'] / free:.2f}")


def test_tiling_hierarchy_as_a_table(asked):
    run("bench", "tiling-hierarchy", "--repeats", 2)
    assert asked == [("tiling-hierarchy", 2)]
    rows = SHIPPED["tiling-hierarchy"]["rows"]
    _, _, *lines = run("bench", "tiling-hierarchy").splitlines()
    assert [line.split()[:3] for line in lines] == [
        [row["dtype"], str(row["tile"][1]), f"{row['macs_per_clock']['p50']:.1f}"] for row in rows
    ]


def test_reductions_as_a_table(asked):
    head, columns, *lines = run("bench", "reductions").splitlines()
    rows, whys = lines[:6], lines[6:]
    assert head == "gpu none"
    assert " ".join(columns.split()) == "values sum µs p20 p80 GB/s of copy relative error"
    assert " ".join(rows[0].split()) == "1048576 interleaved 8.00 7.00 10.00 375.0 12.5% 1.5e-07"
    assert " ".join(rows[5].split()) == "268435456 copy 1.00 0.88 1.25 3000.0 100.0%"
    assert whys == [f"{name}: {name} is there" for name in ("interleaved", "multi-block", "copy")]


def test_turnaround_as_a_table(asked):
    report = SHIPPED["turnaround"]
    head, launch, _, *rows = run("bench", "turnaround").splitlines()
    assert "gpu NVIDIA H200" in head and f"clock {report['sm_mhz']} MHz" in head
    assert launch.startswith(f"launch {report['launch_ns']} ns")
    assert len(rows) == len(report["rows"])
    for line, row in zip(rows, report["rows"], strict=True):
        assert line.split()[:5] == [
            str(row[name]) if name != "cycles" else str(row["cycles"]["p50"])
            for name in ("threads", "shared_kb", "residents", "spin", "cycles")
        ]


def test_the_execution_model_as_a_table(asked):
    report = SHIPPED["execution-model"]
    head, columns, *lines = run("bench", "execution-model", "--launches", 3).splitlines()
    assert "gpu NVIDIA H200" in head and columns.split()[-2:] == ["driver", "seen"]
    for line, row in zip(lines, report["kernels"], strict=False):
        assert line.split()[2:] == [
            str(row[name]) for name in ("threads", "registers", "shared_bytes", "driver", "seen")
        ]
    assert f"of {len(report['rows'])} kernels that spin, {len(report['rows'])} with" in lines[-3]
    assert asked == [("execution-model", 3)]


def test_thread_indexing_as_a_table(asked):
    report = SHIPPED["thread-indexing"]
    _, _, *lines = run("bench", "thread-indexing").splitlines()
    assert [int(line.split()[0]) for line in lines] == [row["stride"] for row in report["rows"]]
    assert asked == [("thread-indexing", 40)]


def test_memory_as_tables(asked):
    report = SHIPPED["memory"]
    head, *parts = run("bench", "memory").split("\n\n")
    assert "gpu NVIDIA H200" in head and len(parts) == 5
    constants, latency, bandwidth, loads, rates = (part.strip("\n").split("\n")[1:] for part in parts)
    found = MemorySystem.of(report)
    for what, figure in {
        "DRAM, a load": f"{found.dram_latency.cycles:.1f} cycles, {found.dram_latency.ns:.1f} ns",
        "L2, reads by all SMs": f"{found.read_gb_per_s['L2']:.0f} GB/s",
        "tensor cores, bf16": f"{found.macs_per_clock['bf16']:.0f} MACs a clock and SM",
    }.items():
        assert f"{what:32} {figure}" in constants
    for line, row in zip(latency, report["latency"], strict=True):
        assert f" {row['cycles']['p50']:.1f} " in line and row.get("order", "") in line
    rows = report["bandwidth"] + report["merging"] + report["sharing"]
    for line, row in zip(bandwidth, rows, strict=True):
        assert f" {row['gb_per_s']['p50']:.0f} " in line
    names = ("by", "source", "tile", "sms", "together")
    kinds = {str([row[name] for name in names]) for row in report["tile_loads"]}
    assert len(loads) == 1 + len(kinds) + len(report["first_loads"])
    cycles = [int(cell) for line in loads[1 : 1 + len(kinds)] for cell in line.split()[5:]]
    assert sorted(cycles) == sorted(round(row["cycles"]["p50"]) for row in report["tile_loads"])
    assert len(rates) == sum(len(report[name]) for name in ("multiplying", "contention", "shared_reads"))


def test_memory_of_a_curve_without_plateaus(asked, monkeypatch):
    monkeypatch.setitem(SHIPPED, "memory", SHIPPED["memory"] | {"latency": SHIPPED["memory"]["latency"][:3]})
    constants = run("bench", "memory").split("\n\n")[1].splitlines()
    assert len(constants) == 2 and constants[1].startswith("none: the pointer chase has 0 plateaus")


def test_sm_order_as_a_table(asked):
    report = SHIPPED["sm-order"]
    text = run("bench", "sm-order")
    for groups in report["tiers"]:
        for group in groups:
            assert f"\n  {' '.join(map(str, group))}\n" in text
    assert "\nas the preset h200 says\n" in text
    assert (
        f"\nclusters join {len(report['gpcs'])} GPCs; {len(report['gpcs'])} of them are such groups\n" in text
    )
    assert len(text.splitlines()) == 1 + 2 + 10 + 2 + 1 + len(report["rows"])


def test_a_gpu_without_preset_and_clusters(asked, monkeypatch):
    unknown = {**SHIPPED["sm-order"], "device": "", "as_preset": None, "gpcs": []}
    monkeypatch.setitem(SHIPPED, "sm-order", unknown)
    text = run("bench", "sm-order")
    assert "preset" not in text and "clusters" not in text


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--kernel", "naiv-tma"], "did you mean 'naive-tma'?"),
        (["--kernel", "planned"], "there is no kernel 'planned'; did you mean 'planned:SCHEDULE'?"),
        (["--kernel", "cublas", "--kernel", "planned:nonsense"], "there is no schedule 'nonsense'"),
        (["--kernel", "planned:split-k:0"], "it must be a whole number from 1"),
        (["turnarond"], "did you mean 'turnaround'?"),
        (["--size", "64x64x64", "turnaround"], "--size before turnaround has no effect there"),
        (["-o", "a.json", "sm-order"], "--output before sm-order has no effect there"),
        (["turnaround", "--repeats", "0"], "0 is not in the range"),
        (["sm-order", "--launches", "1"], "1 is not in the range"),
        (["sm-order", "-o", "a.txt"], "figures are written as .json"),
        (["reductions", "--size", "0"], "0 is not in the range"),
        (["reductions", "--size", "1e6"], "'1e6' is not a valid integer"),
        (["reductions", "--samples", "0"], "0 is not in the range"),
        (["--size", "64x64x64", "reductions"], "--size before reductions has no effect there"),
    ],
)
def test_wrong_usage(args, sentence, asked):
    result = CliRunner().invoke(main, ["bench", *args])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ") and sentence in result.stderr
    assert asked == []
