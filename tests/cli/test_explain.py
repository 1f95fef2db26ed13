"""`tilesim explain`: its table, its JSON, and the files that it refuses."""

import html
import json
from functools import partial

import pytest
from command_line import said

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.analysis.alternatives import alternatives
from tilesim.analysis.explain import explain
from tilesim.cli.commands.explain import SHOWN
from tilesim.cli.output.figures import time

TRACE = "tilesim/data/traces/h200-{}.npz"
RECORDED = "stream-k-1408x3840x4096-grouped8"

run = partial(said, "explain")


@pytest.fixture(params=["simulated", "measured"])
def trace_file(request, tmp_path, pytestconfig):
    """A run of each origin."""
    if request.param == "measured":
        return pytestconfig.rootpath / TRACE.format(RECORDED)
    simulate("persistent", Problem(2048, 2048, 1024), Device.named("h200", sms=24)).save(tmp_path / "run.npz")
    return tmp_path / "run.npz"


def test_json_is_what_the_library_finds_and_the_table_has_its_figures(trace_file):
    trace = Trace.load(trace_file)
    printed, lines = json.loads(run(trace_file, "--json")), run(trace_file).splitlines()
    found = trace.summary() | explain(trace).as_json() | alternatives(trace).as_json()
    assert printed == json.loads(json.dumps(found))
    assert max(map(len, lines)) <= 100, "a reader of a hundred columns sees it whole"
    begin = next(i for i, line in enumerate(lines) if "where the time went" in line) + 1
    end = next(i for i, line in enumerate(lines) if line.startswith("  makespan"))
    shown = {}
    for line in lines[begin:end]:
        name, (ns, percent, *_) = line[:29].strip(), line[29:].split()
        shown[name] = {"ns": int(ns.replace(",", "")), "percent": float(percent)}
    assert shown == {name: part for name, part in printed["parts"].items() if part["ns"]}
    assert lines[end].split() == ["makespan", f"{printed['makespan_ns']:,}", "100.0"]
    assert sum(part["ns"] for part in shown.values()) == printed["makespan_ns"]
    assert f"bound by {printed['bound']}" in "\n".join(lines)
    measured = printed["origin"] == "measured"
    assert ("estimated" in lines[end + 1]) == measured
    unchanged = next(line for line in lines if line.startswith("  unchanged"))
    assert (time(printed["makespan_ns"]) in unchanged[:62]) == measured
    for each in printed["alternatives"][:SHOWN]:
        line = next(line for line in lines if line.startswith(f"  {each['what']} {each['to']}  "))
        assert line.endswith(f"{time(each['makespan_ns'])}{each['gain']:>+8.1%}")


def test_costs_that_do_not_say_what_k_steps_wait_for_are_told_in_one_sentence(tmp_path):
    simulate("naive", Problem(512, 512, 256), Device(4), Costs.ideal()).save(tmp_path / "run.npz")
    table = run(tmp_path / "run.npz")
    assert table.count("ideal costs") == 1 and "main loops" in table
    printed = json.loads(run(tmp_path / "run.npz", "--json"))
    assert printed["unknown"] == printed["not_tried"] != ""
    assert printed["k_steps"] == {} and "alternatives" not in printed


def test_a_run_without_alternatives_says_why_and_a_long_name_of_a_kernel_breaks_no_line(tmp_path):
    trace = simulate("naive", Problem(512, 512, 256), Device.named("h200"))
    strange = Trace(trace.problem, trace.device, "naive", trace.spans, meta=trace.meta | {"seed": -1})
    strange.save(tmp_path / "run.npz")
    table = run(tmp_path / "run.npz")
    assert table.count("seed") == 1 and "tensor cores at peak rate" in table
    meta = {"kernel": "n" * 900}
    foreign = Trace(trace.problem, trace.device, "k" * 900, trace.spans, "measured", meta=meta)
    foreign.save(tmp_path / "run.npz")
    assert max(map(len, run(tmp_path / "run.npz").splitlines())) <= 100


def test_a_file_is_explained_on_its_own_device(tmp_path):
    said("simulate", "naive", "--sms", "16", "--m", "512", "-o", tmp_path / "run.csv")
    assert "16 SMs of NVIDIA H200" in run(tmp_path / "run.csv", "--device", "h100", code=2)
    assert "on 16 slots" in run(tmp_path / "run.csv", "--sms", "16", "--device", "h200")


def test_a_run_is_named_after_its_own_gpu(tmp_path, pytestconfig):
    stamps = (pytestconfig.rootpath / "tests" / "own_kernel.csv").read_text("utf-8")
    (tmp_path / "own.csv").write_text(stamps.replace('sms=132 gpu="NVIDIA H200"', 'gpu="NVIDIA L40S"'))
    text = run(tmp_path / "own.csv")
    assert "on NVIDIA L40S, measured" in text and "constants of an RTX 4090 stand for" in text
    assert "on NVIDIA L40S (142 SMs), measured" in said("info", tmp_path / "own.csv")


def test_an_explanation_is_a_page_that_has_all_of_it(tmp_path):
    said("simulate", "naive", "--sms", "8", "-o", tmp_path / "run.npz")
    text = run(tmp_path / "run.npz")
    assert run(tmp_path / "run.npz", "-o", tmp_path / "run.html") == ""
    page = html.unescape((tmp_path / "run.html").read_text("utf-8"))
    assert text.strip() in page and "slowest main loops" in page
