"""`tilesim bench latency-hiding` and `launch-latency`: what they print of a report, such as the shipped."""

import pytest

from tilesim.cli.commands.bench import latency_hiding, launch_latency
from tilesim.ladder.reports import report


def test_latency_hiding_has_a_line_for_each_case_and_thread_and_block():
    shipped = report("latency_hiding")
    lines = latency_hiding._table(shipped).splitlines()
    parts = shipped["rows"], shipped["host"]["rows"], shipped["blocks"]
    assert len(lines) == 3 + sum(map(len, parts))
    first, line = shipped["rows"][0], lines[2].split()
    assert line[:2] == ["1", "1"] and float(line[2]) == pytest.approx(first["cycles"]["p50"], abs=1e-4)


def test_launch_latency_has_a_line_for_each_kind_and_product():
    shipped = report("launch_latency")
    lines = launch_latency._table(shipped).splitlines()
    assert len(lines) == 2 + len(shipped["rows"]) + len(shipped["products"])
    for row, line in zip(shipped["rows"], lines[2:], strict=False):
        assert line.startswith(row["launch"]) and f"{row['ns']['p50']:.1f}" in line
