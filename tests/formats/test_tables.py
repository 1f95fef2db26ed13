"""CSV and JSON say all that the trace says."""

import csv
import json

import pytest

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.formats import save


@pytest.fixture
def trace():
    costs = Costs(k_step=333.3, launch=10, epilogue=50, jitter=0.1)
    return simulate("persistent", Problem(640, 640, 128), Device.named("h200", sms=3), costs)


def test_csv_has_a_row_per_span_with_every_field(trace, tmp_path):
    save(trace, tmp_path / "t.csv", "csv")
    with open(tmp_path / "t.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(line for line in file if not line.startswith("#"))
    assert tuple(header) == trace.spans.dtype.names
    assert [tuple(map(int, row)) for row in rows] == trace.spans.tolist()
    assert b"\r" not in (tmp_path / "t.csv").read_bytes()


def test_json_is_enough_to_make_the_trace_again(trace, tmp_path):
    save(trace, tmp_path / "t.json", "json")
    values = json.loads((tmp_path / "t.json").read_text("utf-8"))
    spans = trace.spans.copy()
    for i, row in enumerate(values["spans"]):
        spans[i] = tuple(row.values())
        assert tuple(row) == spans.dtype.names
    device = {**values["device"], "sm_order": tuple(values["device"]["sm_order"])}
    again = Trace(
        Problem(**values["problem"]), Device(**device), values["schedule"], spans, values["origin"],
        values["tick_ns"], values["meta"],
    )  # fmt: skip
    trace.save(tmp_path / "a.npz")
    again.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
