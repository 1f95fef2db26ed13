"""What the pages say in words of the data that ship, and of what others published."""

import json

import pytest
from figures import kernels, traffic
from figures.published import Published, _compared, data
from pages import ROOT

from tilesim import Problem, Trace
from tilesim.analysis.time_account import PARTS
from tilesim.devices.presets import presets
from tilesim.ladder.reports import report
from tilesim.schedules import SCHEDULES

DATA = ROOT / "tilesim" / "data"


def shape(trace: Trace) -> tuple:
    return trace.schedule, trace.problem.m, trace.problem.n, trace.problem.k, trace.problem.tile


def test_costs_are_fitted_to_all_recorded_runs_which_are_small_and_to_none_that_is_held_out() -> None:
    costs = json.loads((DATA / "costs" / "h200.json").read_text("utf-8"))
    fitted = {name for entry in costs for name in entry["names"]}
    assert fitted == {path.name for path in (DATA / "traces").glob("*.npz")}
    known = {shape(Trace.load(DATA / "traces" / name)) for name in fitted}
    assert not known & {shape(Trace.load(path)) for path in (DATA / "held_out").glob("*.npz")}
    assert sum(path.stat().st_size for path in DATA.glob("*/*.npz")) < 1.3 * 10**6


def test_a_plan_from_a_table_costs_persistent_nothing() -> None:
    for us in kernels.planned_times().values():
        assert abs(us["table:persistent"] / us["persistent-tma-overlap"] - 1) < 0.01


def test_the_shipped_table_knows_ten_shapes_and_a_small_one_takes_the_host_longer_than_the_gpu() -> None:
    rows = report("tuned")["rows"]
    sizes = {f"{row['m']} × {row['n']} × {row['k']}" for row in rows}
    assert sizes == set(kernels.by_size(report("library")["rows"])) and len(sizes) == 10
    assert len([row for row in rows if row["layout"] in ("nt", "tn")]) == 20
    small = kernels.by_size(report("library")["rows"])["1024 × 1024 × 1024"]
    assert min(row["host_us"] for row in small.values()) > small["tuned"]["us"]


def test_from_the_third_tree_on_memory_is_the_limit() -> None:
    shares = {r["name"]: r["share_of_copy"] for r in report("reductions")["rows"] if r["n"] == 2**28}
    fast = {name for name, share in shares.items() if share > 0.95}
    assert fast == {"unrolled", "shuffles", "multi-block", "torch.sum", "copy"}


def test_grouped_tiles_share_more_of_what_the_cache_holds() -> None:
    """Row by row, the change from naive to persistent costs time; in groups of 8 rows it saves some."""
    for order, sign in (("row-major", 1), ("grouped:8", -1)):
        rows = kernels.race(Problem(4096, 4096, 512, order=order))
        assert sign * (rows["persistent-tma"]["us"] - rows["naive-tma"]["us"]) > 0
        assert rows["persistent-tma-overlap"]["us"] < rows["persistent-tma"]["us"]


def test_groups_of_tiles_save_bytes_and_time_but_no_cycles_and_tables_say_what_was_counted() -> None:
    rows = {row["order"]: row for row in report("l2_order")["rows"] if row["k"] == 8192}
    first, groups = rows["row-major"], rows["grouped:8"]
    assert groups["dram_read_bytes"] < 0.7 * first["dram_read_bytes"] and groups["us"] < 0.96 * first["us"]
    assert abs(groups["us"] * groups["sm_mhz"] / (first["us"] * first["sm_mhz"]) - 1) < 0.01
    said = traffic.figures()
    for row in report("memory_hierarchy")["rows"]:
        assert f"{row['dram_read_bytes'] / 1e6:,.0f} MB" in said["memory_hierarchy_table"]
    assert said["l2_order_table"].count("\n") == 1 + len(report("l2_order")["rows"])


ROWS = data()["rows"]


def test_rows_are_complete_and_every_source_is_used():
    for row in ROWS:
        source = data()["sources"][row["source"]]
        assert source["address"].startswith("https://") and source["year"] >= 2023 and row["note"]
        assert row["device"] in presets() and set(row["schedules"]) <= set(SCHEDULES)
        assert any(row["published"])
    assert {row["source"] for row in ROWS} == set(data()["sources"])


@pytest.mark.parametrize("row", [row for row in ROWS if "corpus" not in row], ids=lambda row: row["source"])
def test_the_difference_is_accounted_for(row):
    one = _compared(row)
    assert one.simulated != 1 and set(one.parts) == set(PARTS)
    assert sum(one.parts.values()) == pytest.approx(1 - 1 / one.simulated, abs=1e-3)


AGREEMENT = [
    (1.2, 1.2, 1.15, True),
    (1.2, 1.2, 1.27, False),
    (0.9, 1.2, 1.0, True),
    (1.0, None, 0.99, False),
    (1.0, None, 5.0, True),
    (None, 1.0, 1.01, False),
    (None, 1.0, 0.9, True),
]


@pytest.mark.parametrize(("low", "high", "simulated", "agrees"), AGREEMENT)
def test_agreement(low, high, simulated, agrees):
    assert Published({}, low, high, simulated, {}).agrees == agrees
