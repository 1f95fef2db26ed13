"""`tilesim convert` as the way in, and commands that take a file of any format where they take a trace."""

import json
import subprocess
import sys

import others
import pytest
from command_line import said

from tilesim import Device, Problem, Trace, simulate

OWN = "tile,sm,start,end\n0,0,1000,2000\n1,1,1010,2100\n2,0,2200,3000\n3,1,2300,3100\n"
SAID = "# m=256 n=256 k=128 tile=128x128x64\n# device=h200 sms=2\n"
OPTIONS = ["--m", 256, "--n", 256, "--k", 128, "--tile", "128x128x64", "--device", "h200", "--sms", 2]


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own-kernel.csv").write_text(SAID + OWN)
    return tmp_path / "own-kernel.csv"


def test_a_csv_becomes_a_trace_and_is_taken_where_a_trace_is(own, tmp_path):
    assert said("convert", own, tmp_path / "a.npz") == ""
    trace = Trace.load(tmp_path / "a.npz")
    assert (trace.schedule, trace.origin) == ("own-kernel", "measured")
    assert trace.device == Device.named("h200", sms=2)
    assert trace.makespan == 2100
    assert "own-kernel.csv: " in said("calibrate", own)


def test_options_say_what_the_file_does_not(tmp_path):
    (tmp_path / "bare.csv").write_text(OWN)
    options = [*OPTIONS, "--order", "column-major", "--dtype", "fp16", "--ctas-per-sm", 2]
    said("convert", tmp_path / "bare.csv", tmp_path / "a.npz", *options, "--schedule", "mine")
    trace = Trace.load(tmp_path / "a.npz")
    assert trace.problem == Problem(256, 256, 128, (128, 128, 64), "fp16", "column-major")
    assert trace.device == Device.named("h200", 2, 2)
    assert trace.schedule == "mine"


def test_a_pipe_can_be_read(tmp_path):
    words = [sys.executable, "-m", "tilesim", "convert", "/dev/stdin", "/dev/stdout", "--to", "json"]
    piped = subprocess.run(words, input=SAID + OWN, capture_output=True, text=True, check=True)
    assert len(json.loads(piped.stdout)["spans"]) == 4


def test_what_is_wrong_with_a_file_is_a_failure(own, tmp_path):
    out = tmp_path / "a.npz"
    own.write_text(SAID + OWN.replace("2300", "soon"))
    refusal = said("convert", own, out, code=1)
    assert f"{own}: line 7: start is 'soon'; it must be a whole number" in refusal
    own.write_text(OWN)
    refusal = said("convert", own, out, code=1)
    assert f"{own}: it does not say m, n, k and tile of the problem" in refusal
    assert "--m 4096 --n 4096 --k 512 --tile 128x256x64" in refusal, "as the command line takes it"
    refusal = said("convert", own, out, *OPTIONS[:-1], 1, code=1)
    assert "line 3: sm is 1; it must be from 0 to 0" in refusal
    assert not out.exists()


@pytest.mark.parametrize("name", others.FILES)
def test_every_command_takes_a_profilers_file(tmp_path, name):
    file, told = others.write(tmp_path, name), others.MAPS[name]
    options = [*others.OPTIONS, "--tile-from", told["tile_from"]]
    for ours, theirs in told.get("map", {}).items():
        options += ["--map", f"{ours}={theirs}"]
    said("convert", file, tmp_path / "a.npz", *options)
    assert others.places(Trace.load(tmp_path / "a.npz")) == others.places(others.RUN)
    assert json.loads(said("info", file, "--json", *options))["waves"] == 3
    assert json.loads(said("explain", file, "--json", *options))["waves"] == 3


def test_several_runs_go_into_one_file_for_viewers(own, tmp_path):
    said("convert", own, tmp_path / "a.npz")
    simulated = simulate("persistent", others.PROBLEM, Device(4))
    simulated.save(tmp_path / "sim.npz")
    for ending in ("perfetto-trace", "perfetto.json", "pftrace"):
        said("convert", tmp_path / "sim.npz", tmp_path / "a.npz", tmp_path / f"both.{ending}")
        assert (tmp_path / f"both.{ending}").stat().st_size > 1000
    events = json.loads((tmp_path / "both.perfetto.json").read_text())["traceEvents"]
    begins = [(e["pid"] > 6, e["ts"]) for e in events if e["ph"] == "X" and e["cat"] == "main loop"]
    first = [min(ts for other, ts in begins if other == group) for group in (False, True)]
    assert first == [0, 0]
    assert "holds several runs for a viewer" in said("info", tmp_path / "both.perfetto.json", code=1)
    file = others.write(tmp_path, "iket.json")
    options = [*others.OPTIONS, "--tile-from", "order"]
    said("convert", tmp_path / "sim.npz", file, tmp_path / "more.pftrace", *options)
