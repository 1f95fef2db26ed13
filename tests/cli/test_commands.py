"""What the commands print and write when nothing is wrong."""

import json
import re
import sys
from io import StringIO
from itertools import count
from types import SimpleNamespace

import pytest
from command_line import tilesim
from strategies import EVERY_SCHEDULE

from tilesim import SCHEDULES, Costs, Device, Problem, Trace, __version__, plan, simulate
from tilesim.cli import main
from tilesim.cli.commands.bench import command as bench
from tilesim.cli.output.figures import progress
from tilesim.cli.packages import load
from tilesim.formats import format_of
from tilesim.formats.reader import read

SMALL = ["--m", "384", "--n", "384", "--k", "128", "--tile", "128x128x4", "--sms", "4"]


def run(*args):
    result = tilesim(*args)
    assert all(line.startswith("wrote ") for line in result.stderr.splitlines()), result.stderr
    return result.stdout


def test_version_and_help():
    assert run("--version") == f"tilesim {__version__}\n"
    assert run() == run("--help") == run("-h")
    assert not [name for name in main.list_commands(None) if name.startswith("_")]


COMMANDS = [([], main, name) for name in main.list_commands(None)]
COMMANDS += [(["bench"], bench, name) for name in bench.list_commands(None)]


@pytest.mark.parametrize(("words", "group", "name"), COMMANDS, ids=lambda value: str(value))
def test_each_command_is_listed_and_explains_each_option(words, group, name):
    assert f"\n  {name} " in run(*words, "--help")
    command = group.get_command(None, name)
    assert run(*words, name, "--help").startswith(f"Usage: {' '.join(['tilesim', *words, name])} ")
    assert command.short_help and command.help
    for option in command.params:
        if option.param_type_name == "option":
            assert option.help and option.help.endswith((".", "]")), option.name


def helps(name):
    return {option.name: getattr(option, "help", None) for option in main.get_command(None, name).params}


def test_help_shows_the_defaults_that_hold():
    shared = ["m", "n", "k", "tile", "order", "dtype", "device", "sms", "ctas_per_sm", "busy_sms"]
    film, plain = helps("export"), helps("simulate")
    assert all(film[name].endswith("  [the film's own]") for name in shared)
    assert not [name for name in shared if "film" in plain[name]]
    ends = {"m": "[4096]", "k": "[512]", "tile": "[128x256x64]", "order": "[row-major]", "dtype": "[bf16]"}
    ends |= {"device": "[h200]", "ctas_per_sm": "[1]", "busy_sms": "[0]"}
    assert all(plain[name].endswith(f".  {end}") for name, end in ends.items())
    assert plain["sms"] == "Number of SMs of that GPU."


def test_the_shortest_and_the_longest_film_are_those_of_the_help():
    pytest.importorskip("manim")
    film = load("scenes", "film.configured_scene")
    ends = f", {film.MIN_SECONDS:g} to {film.MAX_SECONDS:g}.  [the film's own]"
    assert ends in helps("export")["seconds"]


def test_the_progress_of_a_film_is_a_percentage_without_a_time_left(monkeypatch):
    terminal = StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr("time.time", count(0, 60).__next__)
    with progress("race", 200) as done:
        done(1)
        done(49)
    assert " 25%" in terminal.getvalue()
    assert not re.search(r"\d:\d\d", terminal.getvalue())


def test_figures_of_the_literature_as_json():
    figures = json.loads(run("simulate", "naive", *SMALL, "--costs", "ideal", "--json"))
    wanted = {"makespan_ns", "utilization", "busy_share", "waves", "launches"}
    assert wanted <= set(figures)
    assert figures["utilization"] == 0.75  # Stream-K, arXiv 2301.03598, figure 1a
    assert (figures["waves"], figures["launches"], figures["makespan_ns"]) == (3, 9, 96_000)


def test_json_says_what_it_is_of(tmp_path):
    """Enough to make the same run again."""
    words = ["simulate", "split-k:2", *SMALL, "--seed", 5, "--json", "-o", tmp_path / "t.npz"]
    printed = json.loads(run(*words))
    trace = Trace.load(tmp_path / "t.npz")
    assert printed == json.loads(json.dumps(trace.summary()))
    values = {name: printed["device"][name] for name in ("sms", "ctas_per_sm", "busy_sms", "name")}
    problem = Problem(**printed["problem"] | {"tile": tuple(printed["problem"]["tile"])})
    costs, seed = Costs(**printed["costs"]), printed["seed"]
    again = simulate(printed["schedule"], problem, Device(**values), costs, seed)
    assert again.spans.tolist() == trace.spans.tolist()
    assert (printed["origin"], printed["tilesim"], printed["seed"]) == ("simulated", __version__, 5)
    assert printed["costs"]["device"] == "h200"


def test_figures_as_a_table():
    table = run("simulate", "persistent", *SMALL, "--costs", "ideal")
    assert "persistent on NVIDIA H200 (4 SMs), simulated" in table
    shown = dict(re.findall(r"^ *(\S[\S ]*?)  +(\S.*)$", table, re.MULTILINE))
    assert (shown["makespan"], shown["utilization"], shown["launches"]) == ("96.000 µs", "75.0%", "4")
    assert shown["launch time"].startswith("0 ns, ") and shown["tail"].startswith("32.000 µs; 96.000 µs idle")


@pytest.mark.parametrize("name", ["t.npz", "t.csv", "t.json", "t.perfetto.json", "T.JSON"])
def test_the_ending_of_an_output_tells_its_format(name, tmp_path):
    run("simulate", "persistent", *SMALL, "-o", tmp_path / "a.npz")
    run("convert", tmp_path / "a.npz", tmp_path / f"again-{name}")
    run("simulate", "persistent", *SMALL, "-o", tmp_path / name)
    begins = {"npz": b"PK", "csv": b"# m=384", "json": b'{"format"', "perfetto": b'{"'}[format_of(name)]
    for file in (name, f"again-{name}"):
        assert (tmp_path / file).read_bytes().startswith(begins)
        assert read(tmp_path / file).summary() == Trace.load(tmp_path / "a.npz").summary()


def device_of(tmp_path, *args):
    run("simulate", "naive", "--k", 64, *args, "-o", tmp_path / "t.npz")
    trace = Trace.load(tmp_path / "t.npz")
    return trace.device, trace.meta["costs"]["source"]


def test_which_device_is_meant(tmp_path):
    h200 = Device.named("h200")
    assert device_of(tmp_path)[0] == device_of(tmp_path, "--device", "H200")[0] == h200
    for named in ([], ["--device", "h200"]):
        device, source = device_of(tmp_path, "--sms", 4, *named)
        assert device == Device.named("h200", sms=4) and "H200" in source
    device, _ = device_of(tmp_path, "--ctas-per-sm", 2, "--busy-sms", 3)
    assert device == Device.named("h200", ctas_per_sm=2, busy_sms=3)


@pytest.mark.parametrize("schedule", EVERY_SCHEDULE)
def test_plan_as_json_is_the_plan(schedule):
    printed = json.loads(run("plan", schedule, *SMALL, "--json"))
    made = plan(schedule, Problem(384, 384, 128, tile=(128, 128, 4)), Device(4))
    rows = [tuple(row.values()) for row in printed["segments"] + printed["shared"]]
    assert rows == made.segments.tolist() + made.shared.tolist()
    assert (printed["launches"], printed["tiles"], printed["slots"]) == (made.ctas, 9, 4)
    assert (printed["schedule"], printed["tilesim"]) == (schedule, __version__)
    assert (printed["device"]["name"], printed["device"]["title"]) == ("h200", "NVIDIA H200")
    assert printed["problem"] == {
        "m": 384, "n": 384, "k": 128, "tile": [128, 128, 4], "dtype": "bf16", "order": "row-major",
    }  # fmt: skip


def test_plan_as_a_table_which_is_cut_unless_all_is_wanted():
    lines = run("plan", "persistent", *SMALL).splitlines()
    assert lines[0] == "persistent on NVIDIA H200: 9 tiles of 32 K-steps, 4 thread blocks, 4 at once"
    assert [line.split(maxsplit=1)[1] for line in lines[2:]] == ["0 4 8", "1 5", "2 6", "3 7"]
    assert "shared queue  0 1 2 3" in run("plan", "persistent-dynamic", *SMALL)
    short, whole = run("plan", "naive").splitlines(), run("plan", "naive", "--all").splitlines()
    assert "496 more" in short[-1]
    assert len(whole) == 2 + 512


def test_list():
    listed = json.loads(run("list", "--json"))
    assert set(listed) == {"schedules", "orders", "devices", "scenes", "dtypes"}
    assert set(SCHEDULES) <= {re.split(r"\[?:", name)[0] for name in listed["schedules"]}
    assert listed["devices"]["h200"] == "NVIDIA H200, 132 SMs"
    assert {"split-k:S", "stream-k[:G]", "stream-k-hybrid[:TILES]"} <= set(listed["schedules"])
    assert listed["orders"]["grouped:G"].startswith("Groups of G rows, ")
    table = run("list")
    for title, names in listed.items():
        assert f"{title}\n" in table
        assert all(f"  {name} " in table and about in table for name, about in names.items())


def test_calibrate_writes_costs_that_simulate_takes(tmp_path):
    costs = Costs(k_step=900, launch=168, prologue=200, epilogue=800, jitter=0.02)
    trace, fitted = tmp_path / "t.npz", tmp_path / "costs.json"
    simulate("naive", Problem(4096, 4096, 512), Device.named("h200"), costs).save(trace)
    report = run("calibrate", trace, "-o", fitted)
    assert "launch 168, prologue 200" in report
    assert "  from first multiply to last write:\n    t.npz: " in report
    assert report.count("first multiply") == 1 and report.count("µs, of a simulation, simulated ") == 1
    assert run("calibrate", trace, "--json") == fitted.read_text()
    (entry,) = json.loads(fitted.read_text())
    made = {"device": "NVIDIA H200", "origins": ["simulated"], "tilesim": __version__}
    assert made.items() <= entry.items()
    figures = json.loads(run("simulate", "naive", "--costs", fitted, "--json"))
    assert figures["makespan_ns"] == pytest.approx(Trace.load(trace).makespan, rel=0.02)


def test_record_passes_on_how_many_sms_another_kernel_is_to_hold(monkeypatch, tmp_path):
    seen = []

    def record(schedule, problem, **options):
        seen.append(options["busy_sms"])
        return simulate(schedule, problem, Device(4, busy_sms=options["busy_sms"]))

    kernels = SimpleNamespace(record=record)
    monkeypatch.setattr("tilesim.cli.commands.record.load", lambda name: kernels)
    for given in ([], ["--busy-sms", 3]):
        run("record", "naive", "--m", 256, *given, "-o", tmp_path / "a.npz")
    assert seen == [0, 3] and Trace.load(tmp_path / "a.npz").device.busy_sms == 3


def test_more_sms_than_a_gpu_has_are_noted():
    small = ("simulate", "naive", "--m", "256", "--n", "512")
    assert "has 132 SMs" in tilesim(*small, "--sms", "1000").stderr
    assert not tilesim(*small, "--sms", "132").stderr
