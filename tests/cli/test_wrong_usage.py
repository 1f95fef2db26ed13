"""Whatever is wrong gives one sentence on stderr, the right exit code and no file."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.cli import main
from tilesim.formats import save

SMALL = ["--m", "256", "--n", "256", "--k", "64", "--sms", "2"]

WRONG_USAGE = {
    "zero size": (["simulate", "naive", "--m", "0"], "m is 0; it must be a whole number from 1"),
    "negative size": (["plan", "naive", "--k", "-1"], "k is -1"),
    "absurd size": (["simulate", "naive", "--n", str(2**50)], "n is 1125899906842624"),
    "absurd number of tiles": (["simulate", "naive", "--m", "10000000", "--n", "10000000"], "at most"),
    "too many tiles for here": (["plan", "naive", "--m", "1000000", "--n", "1000000"], "4194304"),
    "absurd number of K-steps": (["simulate", "naive", "--k", str(2**40), "--tile", "64x64x16"], "K-steps"),
    "size that is no number": (["simulate", "naive", "--m", "many"], "'many' is not a valid integer"),
    "tile of two sizes": (["simulate", "naive", "--tile", "128x256"], "'128x256' is not three sizes"),
    "tile of no sizes": (["simulate", "naive", "--tile", "axbxc"], "'axbxc' is not three sizes"),
    "tile of zero": (["simulate", "naive", "--tile", "0x256x64"], "tile[0] is 0"),
    "unknown dtype": (["simulate", "naive", "--dtype", "bf61"], "did you mean 'bf16'?"),
    "dtype without a rate": (["simulate", "naive", "--device", "v100"], "no bf16 rate"),
    "unknown order": (["simulate", "naive", "--order", "hilbrt"], "did you mean 'hilbert'?"),
    "order without its parameter": (["simulate", "naive", "--order", "grouped"], "grouped:G"),
    "order of zero": (["simulate", "naive", "--order", "grouped:0"], "whole number from 1"),
    "no SMs": (["simulate", "naive", "--sms", "0"], "sms is 0"),
    "all SMs busy": (["simulate", "naive", "--sms", "4", "--busy-sms", "4"], "at least one must be free"),
    "negative busy SMs": (["simulate", "naive", "--busy-sms", "-1"], "busy_sms is -1"),
    "no CTA per SM": (["simulate", "naive", "--ctas-per-sm", "0"], "ctas_per_sm is 0"),
    "unknown device": (["simulate", "naive", "--device", "h20"], "did you mean 'h200'?"),
    "unknown schedule": (["plan", "persistant"], "did you mean 'persistent'?"),
    "parameter of a schedule that has none": (["simulate", "naive:2"], "'naive:2' has 1 parameter but"),
    "no schedule": (["simulate"], "Missing argument 'SCHEDULE'"),
    "negative seed": (["simulate", "naive", "--seed", "-1"], "the seed is -1"),
    "lanes too narrow": (["simulate", "naive", "--gantt", "--width", "1"], "'--width'"),
    "lanes as JSON": (["simulate", "naive", "--gantt", "--json"], "--gantt and --json cannot be combined"),
    "unknown command": (["simulat", "naive"], "did you mean 'simulate'?"),
    "unknown option": (["list", "--jsn"], "--jsn"),
    "unknown format": (["convert", "a.npz", "b.json", "--to", "perfeto"], "'perfeto'"),
    "format that is not clear": (["convert", "a.npz", "b.txt"], "b.txt has no extension of a known format"),
    "no trace": (["calibrate"], "TRACE"),
    "no output": (["record", "naive"], "'-o'"),
    "kernel that is not there": (["record", "naive", "--kernel", "cutlass", "-o", "x.npz"], "'cutlass'"),
    "trace of another name": (["simulate", "naive", "-o", "x.txt"], "x.txt: a trace is written as .npz"),
    "record of another name": (["record", "naive", "-o", "x.png"], "x.png: a trace is written as .npz"),
    "costs of another name": (["calibrate", "a.npz", "-o", "x.txt"], "x.txt: costs are written as .json"),
    "figures of another name": (["bench", "-o", "x.csv"], "x.csv: figures are written as .json"),
    "poster of another name": (["export", "naive", "-o", "a.mp4", "--poster", "x.jpg"], "x.jpg: a poster"),
    "conversion into a trace": (["convert", "a.npz", "b.NPZ", "--to", "csv"], "b.NPZ would look like a"),
    "page: frames a second": (["export", "race", "-o", "a.html", "--fps", "30"], "--fps is of a film"),
    "page: size": (["export", "race", "-o", "a.html", "--size", "4k"], "--size is of a film"),
    "page: length": (["export", "race", "-o", "a.html", "--seconds", "9"], "--seconds is of a film"),
    "page: part": (["export", "race", "-o", "a.html", "--from", "1"], "--from is of a film"),
    "page: captions": (["export", "race", "-o", "a.html", "--captions"], "--captions is of a film"),
    "page: a second": (["export", "race", "-o", "a.html", "--at", "3"], "such as 12.5us"),
    "page: fragment of a film": (["export", "race", "-o", "a.mp4", "--fragment"], "--fragment is of a page"),
    "page: film without a trace": (["export", "coalescing", "-o", "a.html"], "these films do: naive, "),
    "page: tile of two sizes": (["export", "race", "-o", "a.html", "--tile", "128x128"], "not three sizes"),
    "slides: another ending": (["export", "race", "--format", "slides", "-o", "a.mp4"], "not as 'a.mp4'"),
    "slides: an instant": (["export", "race", "-o", "a.pptx", "--at", "3"], "--at is of a still"),
    "slides: no ground": (["export", "race", "-o", "a.pptx", "--transparent"], "cannot be transparent"),
    "slides: captions": (["export", "race", "-o", "a.pptx", "--captions"], "--captions is of a film"),
    "bench of two sizes": (["bench", "--size", "4096x4096"], "not three sizes"),
}


def run(*args, **kwargs):
    return CliRunner().invoke(main, list(map(str, args)), **kwargs)


def one_sentence(result, code, words):
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    line, rest = result.stderr.split("\n", 1)
    assert rest == "", result.stderr
    assert line.startswith("error: ")
    assert words in line
    assert not result.exception or isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("args, words", WRONG_USAGE.values(), ids=WRONG_USAGE)
def test_wrong_usage_is_exit_code_2(args, words, tmp_path, monkeypatch):
    if args[0] == "export":
        pytest.importorskip("manim")
    monkeypatch.chdir(tmp_path)
    one_sentence(run(*args), 2, words)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.npz"
    simulate("naive", Problem(512, 512, 128), Device(4)).save(path)
    return path


@pytest.mark.parametrize("command", ["convert", "calibrate"])
def test_a_file_that_is_no_trace(command, good, tmp_path):
    """What else is refused of a trace, tests/formats and tests/test_traces.py show."""
    out = tmp_path / ("out.csv" if command == "convert" else "out.json")
    words = [out] if command == "convert" else ["-o", out]
    good.write_bytes(good.read_bytes()[:-100])
    one_sentence(run(command, good, *words), 1, f"{good}: this is not a complete tilesim trace")
    one_sentence(run(command, tmp_path / "none.npz", *words), 1, "there is no such file")
    assert not out.exists()


def test_costs_that_are_none(tmp_path):
    path = tmp_path / "costs.json"
    path.write_text('{"k_steps": 3}')
    one_sentence(
        run("simulate", "naive", *SMALL, "--costs", path),
        1,
        f"{path}: there is no field of the costs 'k_steps'",
    )


def test_costs_file_that_does_not_exist(tmp_path):
    one_sentence(run("simulate", "naive", "--costs", tmp_path / "no.json"), 1, "there is no such file")


def test_costs_too_large_for_int64(tmp_path):
    path = tmp_path / "costs.json"
    path.write_text('{"k_step": 1e15}')
    one_sentence(run("simulate", "naive", "--k", 2**36, "--costs", path), 2, "the run could last")


READ_AND_WRITTEN = {
    "convert": (["convert", "run.json", "folder/../run.json", "--to", "csv"], "it is read as run.json"),
    "convert, through a link": (["convert", "link.json", "run.json"], "run.json: it is read as link.json"),
    "convert, by another name": (["convert", "run.json", "hard.json", "--to", "csv"], "hard.json: it is"),
    "calibrate": (["calibrate", "run.json", "-o", "run.json"], "run.json: it is read as run.json"),
    "calibrate, through a link": (["calibrate", "run.json", "-o", "link.json"], "link.json: it is read as"),
    "simulate": (["simulate", "naive", "--costs", "c", "-o", "./c"], "./c: it is read as c"),
    "sweep": (["sweep", "--costs", "c", "-o", "c"], "c: it is read as c"),
    "sweep's picture": (["sweep", "--costs", "c", "--picture", "c"], "c: it is read as c"),
    "sweep's table and picture": (["sweep", "-o", "new", "--picture", "./new"], "they are the same file"),
}


@pytest.mark.parametrize("args, words", READ_AND_WRITTEN.values(), ids=READ_AND_WRITTEN)
def test_no_command_writes_over_what_it_reads(args, words, good, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(Trace.load(good), "run.json", "json")
    Path("c").write_text('{"k_step": 700}')
    Path("link.json").symlink_to("run.json")
    Path("hard.json").hardlink_to("run.json")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    Path("folder").mkdir()
    one_sentence(run(*args), 2, words)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("name", ["run", "run.NPZ", ".hidden"])
def test_a_trace_needs_no_ending(name, tmp_path):
    assert run("simulate", "naive", *SMALL, "-o", tmp_path / name).exit_code == 0
    assert Trace.load(tmp_path / name).spans.size == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_may_have_any_ending(tmp_path):
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    assert shell(f"tilesim simulate naive --sms 2 -o {pipe} >&2 & head -c 2 {pipe}").stdout == "PK"


WRITERS = {
    "simulate": ("out.npz", lambda good, out: ["simulate", "naive", *SMALL, "-o", out]),
    "convert": ("out.json", lambda good, out: ["convert", good, out, "--to", "perfetto"]),
    "calibrate": ("out.json", lambda good, out: ["calibrate", good, "-o", out]),
}


@pytest.mark.parametrize("name, args", WRITERS.values(), ids=WRITERS)
class TestOutput:
    def test_folder_that_does_not_exist(self, name, args, good, tmp_path):
        out = tmp_path / "no" / name
        one_sentence(run(*args(good, out)), 1, f"the folder {out.parent} does not exist")
        assert not out.parent.exists()

    def test_folder_instead_of_a_file(self, name, args, good, tmp_path):
        one_sentence(run(*args(good, tmp_path)), 1, "it is a folder")

    def test_folder_without_permission(self, name, args, good, tmp_path, monkeypatch):
        # Tests may run as root, whom no folder refuses.
        monkeypatch.setattr(os, "access", lambda path, mode: os.fspath(path) != os.fspath(tmp_path))
        one_sentence(run(*args(good, tmp_path / name)), 1, "permission denied")

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
    def test_full_disk(self, name, args, good):
        one_sentence(run(*args(good, "/dev/full")), 1, "No space left on device")
        assert not os.path.isfile("/dev/full")

    def test_full_disk_leaves_what_was_there(self, name, args, good, tmp_path, monkeypatch):
        def full(*_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        out = tmp_path / name
        out.write_text("older")
        before = sorted(tmp_path.iterdir())
        monkeypatch.setattr(os, "replace", full)
        one_sentence(run(*args(good, out)), 1, "No space left on device")
        assert out.read_text() == "older"
        assert sorted(tmp_path.iterdir()) == before

    def test_interrupt_leaves_what_was_there(self, name, args, good, tmp_path, monkeypatch):
        def interrupted(*_):
            raise KeyboardInterrupt

        out = tmp_path / name
        out.write_text("older")
        before = sorted(tmp_path.iterdir())
        monkeypatch.setattr(os, "replace", interrupted)
        result = run(*args(good, out))
        assert result.exit_code == 130
        assert result.stderr.strip() == ""
        assert out.read_text() == "older"
        assert sorted(tmp_path.iterdir()) == before


def test_a_link_is_followed_and_kept(good, tmp_path):
    link, target = tmp_path / "link.npz", tmp_path / "target.npz"
    link.symlink_to(target)
    assert run("simulate", "naive", *SMALL, "-o", link).exit_code == 0
    assert link.is_symlink()
    assert Trace.load(target).spans.size == 2


def test_memory_that_is_not_there(monkeypatch):
    def none_left(*_):
        raise MemoryError

    monkeypatch.setattr("tilesim.simulate", none_left)
    one_sentence(run("simulate", "naive"), 1, "not enough memory")


def shell(command):
    """Run `command` in a shell that knows `tilesim` as this Python's."""
    environment = {**os.environ, "PYTHON": sys.executable}
    line = command.replace("tilesim", '"$PYTHON" -m tilesim')
    return subprocess.run(line, shell=True, capture_output=True, text=True, env=environment, check=False)


def test_a_reader_that_leaves_early():
    result = shell("tilesim plan naive --all --m 65536 --n 65536 | head -1")
    assert result.stdout.startswith("naive on NVIDIA H200: 131072 tiles")
    assert result.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_standard_output_that_is_full():
    result = shell("tilesim list > /dev/full")
    assert result.returncode == 1
    assert result.stderr == "error: cannot use the output: No space left on device\n"


def test_costs_of_a_calibration_are_scaled_to_the_tile(tmp_path):
    entry = {"schedule": "naive", "dtype": "bf16", "tile": [128, 128, 64], "ctas_per_sm": 1}
    path = tmp_path / "costs.json"
    values = '[{"costs": {"k_step": 500, "epilogue": 100, "launch": 7}, %s]'
    path.write_text(values % str(entry)[1:].replace("'", '"'))
    assert run("simulate", "naive", *SMALL, "--costs", path, "-o", tmp_path / "t.npz").exit_code == 0
    trace = Trace.load(tmp_path / "t.npz")
    half = Costs(k_step=1000, epilogue=200, launch=7)
    expected = simulate("naive", trace.problem, trace.device, half)
    assert trace.makespan == expected.makespan == 7 + 1000 + 200
