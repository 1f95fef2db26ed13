"""What commands write: whole or not at all, where it was asked for, and said on stderr with its size."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import said, tilesim

from tilesim import Device, Problem, Trace, simulate
from tilesim.cli import main
from tilesim.cli.output.figures import size, wrote

SMALL = ["--m", "256", "--n", "256", "--k", "64", "--sms", "2"]
WRITERS = {
    "simulate": ("out.npz", ["simulate", "naive", *SMALL, "-o"]),
    "convert": ("out.json", ["convert", "good.npz", "--to", "perfetto"]),
    "calibrate": ("out.json", ["calibrate", "good.npz", "-o"]),
    "sweep": ("out.csv", ["sweep", "--m", "128", "--n", "128", "--k", "64", "--jobs", "1", "-o"]),
}
writers = pytest.mark.parametrize("name, words", WRITERS.values(), ids=WRITERS)
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")


@pytest.fixture(autouse=True)
def good(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    simulate("naive", Problem(512, 512, 128), Device(4)).save("good.npz")


@writers
def test_what_was_written_is_said_on_stderr_with_its_size(name, words):
    result = tilesim(*words, name)
    assert result.stderr == f"wrote {name} ({size(os.path.getsize(name))})\n"
    assert "wrote" not in result.stdout


def test_nothing_is_said_of_a_device(capsys):
    wrote("/dev/null")
    assert capsys.readouterr() == ("", "")


def test_what_is_known_of_a_file_stands_before_its_size(capsys):
    Path("race.mp4").write_bytes(bytes(1_234_567))
    wrote(Path("race.mp4"), "15 s")
    assert capsys.readouterr().err == "wrote race.mp4 (15 s, 1.2 MB)\n"


@writers
def test_a_folder_without_permission(name, words, monkeypatch):
    # Tests may run as root, whom no folder refuses.
    monkeypatch.setattr(os, "access", lambda path, mode: mode == os.R_OK)
    assert "permission denied" in said(*words, name, code=1)


@needs_full
@writers
def test_a_full_disk(name, words):
    assert "No space left on device" in said(*words, "/dev/full", code=1)
    assert not os.path.isfile("/dev/full")


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), 1, "No space left"), (KeyboardInterrupt(), 130, "")],
)
@writers
def test_what_ends_a_command_leaves_what_was_there(name, words, error, code, sentence, monkeypatch):
    def fails(*_):
        raise error

    Path(name).write_text("older")
    before = sorted(Path().iterdir())
    monkeypatch.setattr(os, "replace", fails)
    result = CliRunner().invoke(main, [*words, name])
    assert result.exit_code == code and sentence in result.stderr
    assert len(result.stderr.splitlines()) <= 1 and bool(result.stderr.strip()) == bool(sentence)
    assert Path(name).read_text() == "older"
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("name", ["run", "run.NPZ", ".hidden"])
def test_a_trace_needs_no_ending(name):
    tilesim("simulate", "naive", *SMALL, "-o", name)
    assert Trace.load(name).spans.size == 2


def test_a_link_is_followed_and_kept():
    Path("link.npz").symlink_to("target.npz")
    tilesim("simulate", "naive", *SMALL, "-o", "link.npz")
    assert Path("link.npz").is_symlink()
    assert Trace.load("target.npz").spans.size == 2


def test_memory_that_is_not_there(monkeypatch):
    def none_left(*_):
        raise MemoryError

    monkeypatch.setattr("tilesim.simulate", none_left)
    assert "not enough memory" in said("simulate", "naive", code=1)


def shell(command):
    """Run `command` in a shell that knows `tilesim` as this Python's."""
    environment = {**os.environ, "PYTHON": sys.executable}
    line = command.replace("tilesim", '"$PYTHON" -m tilesim')
    return subprocess.run(line, shell=True, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_may_have_any_ending():
    os.mkfifo("pipe.txt")
    assert shell("tilesim simulate naive --sms 2 -o pipe.txt >&2 & head -c 2 pipe.txt").stdout == "PK"


def test_a_reader_that_leaves_early():
    result = shell("tilesim plan naive --all --m 65536 --n 65536 | head -1")
    assert result.stdout.startswith("naive on NVIDIA H200: 131072 tiles")
    assert result.stderr == ""


@needs_full
def test_standard_output_that_is_full():
    result = shell("tilesim list > /dev/full")
    assert result.returncode == 1
    assert result.stderr == "error: cannot use the output: No space left on device\n"
