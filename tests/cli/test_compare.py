"""`tilesim compare`: its table, its JSON, and the traces that it refuses."""

import json
from dataclasses import replace
from functools import partial

import pytest
from command_line import said

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.analysis.compare import compare
from tilesim.analysis.divergence import since_first_multiply
from tilesim.metrics import run as length

H200 = Device.named("h200", sms=8)
PROBLEM = Problem(1024, 1024, 256)
COSTS = Costs(k_step=700, launch=165, prologue=300, epilogue=800, jitter=0.02)

run = partial(said, "compare")


def figures_of(printed):
    """What --json prints, without what it is of."""
    return {name: value for name, value in printed.items() if name not in ("simulated", "measured", "trace")}


@pytest.fixture
def files(tmp_path):
    """A simulated trace, and what a recorder would have seen of a slower run of the same plan."""
    simulated = simulate("naive", PROBLEM, H200, COSTS)
    slow = since_first_multiply(simulate("naive", PROBLEM, H200, replace(COSTS, k_step=770), seed=1))
    about = {"gpu": "NVIDIA H200", "sm_mhz": 1700}
    measured = Trace(PROBLEM, H200, "naive", slow.spans, "measured", 32, about)
    paths = tmp_path / "sim.npz", tmp_path / "measured.npz"
    for trace, path in zip((simulated, measured), paths, strict=True):
        trace.save(path)
    return *paths, simulated, measured


def test_json_has_the_figures_of_the_library_and_says_what_each_of_the_two_is(files):
    sim, measured, *traces = files
    printed = json.loads(run(sim, measured, "--json"))
    assert figures_of(printed) == compare(*traces).as_json()
    one, other = printed["simulated"], printed["measured"]
    assert (one["origin"], one["seed"], one["costs"]["k_step"]) == ("simulated", 0, 700)
    assert (other["origin"], other["seed"], other["costs"]) == ("measured", None, None)
    assert other["meta"] == {"gpu": "NVIDIA H200", "sm_mhz": 1700} and other["tick_ns"] == 32
    assert one["problem"] == other["problem"] and one["problem"]["m"] == 1024


def test_the_table_says_the_finding_first(files):
    sim, measured, *traces = files
    found = compare(*traces)
    table = run(sim, measured)
    first = table.splitlines()[0]
    assert f"{-found.run.error:.1%} shorter than the measured run" in first
    ends = [f"{length(trace) / 1000:.3f} µs" for trace in traces]
    assert first.endswith(f"{ends[0]} and {ends[1]}.")
    assert f"Kendall's tau {found.order:.3f}" in table
    assert "a measured trace shows no launch" in table
    assert "SM cycles" not in table
    assert run(measured, sim) == table, "either order will do"


def test_the_table_says_whose_costs_and_which_orders(files, tmp_path):
    sim, measured, simulated, _ = files
    costs = {"costs": {"source": "ideal: 1 µs per K-step, nothing else"}}
    other = replace(simulated, problem=replace(PROBLEM, order="grouped:2"), meta=costs)
    other.save(tmp_path / "other.npz")
    lines = run(tmp_path / "other.npz", measured).splitlines()
    assert ["order", "grouped:2", "row-major"] in [line.split() for line in lines]
    assert lines[-1].split(maxsplit=1) == ["costs", costs["costs"]["source"]]
    assert not any(line.startswith("  costs") for line in run(sim, measured).splitlines())


def test_alone_a_measured_trace_is_simulated_here(files, tmp_path):
    _, measured, _, trace = files
    again = simulate("naive", PROBLEM, H200)
    assert figures_of(json.loads(run(measured, "--json"))) == compare(again, trace).as_json()
    costs = tmp_path / "costs.json"
    costs.write_text(json.dumps({"k_step": 700.0, "jitter": 0.1}))
    found = json.loads(run(measured, "--costs", costs, "--seed", 5, "--json"))
    own = simulate("naive", PROBLEM, H200, Costs(k_step=700.0, jitter=0.1), 5)
    assert figures_of(found) == compare(own, trace).as_json()
    assert (found["simulated"]["seed"], found["simulated"]["costs"]["jitter"]) == (5, 0.1)


def test_several_measured_traces_make_a_table_and_cycles_need_the_clocks_of_both(files, tmp_path):
    _, measured, simulated, trace = files
    found = compare(simulate("naive", PROBLEM, H200), trace)
    *rows, summary, in_cycles, other_way = run(measured, measured, measured).splitlines()[1:]
    assert len(rows) == 3 and len(set(rows)) == 1
    assert "naive 1024x1024x256 row-major tile 128x256 " in rows[0]
    assert f"{found.run.error:+.1%}" in rows[0]
    error = f"{abs(found.run.error):.1%}"
    assert summary == f"in time: {error} off in the median, {error} at most"
    assert in_cycles.startswith("in cycles: ") and "--before" in other_way
    one, other, third = json.loads(run(measured, measured, measured, "--json"))
    assert one == other == third and one["trace"] == str(measured)
    clocked = replace(simulated, meta={"costs": {"clock_mhz": 1700}})
    clocked.save(tmp_path / "clocked.npz")
    assert "run in SM cycles" in run(tmp_path / "clocked.npz", measured)


def test_a_run_that_is_repeated_exactly_and_one_that_others_wrote(files, tmp_path):
    sim, _, simulated, measured = files
    replace(simulated, origin="measured").save(tmp_path / "same.npz")
    table = run(sim, tmp_path / "same.npz")
    assert "is as long as the measured run" in table.splitlines()[0]
    assert "divergence            nowhere" in table
    replace(measured, schedule="cutlass").save(tmp_path / "foreign.npz")
    found = json.loads(run(tmp_path / "foreign.npz", "--json"))
    again = json.loads(run(tmp_path / "measured.npz", "--json"))
    assert figures_of(found) == figures_of(again) and found["measured"]["schedule"] == "cutlass"
