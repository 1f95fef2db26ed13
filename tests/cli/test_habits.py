"""What people rely on: no colours that they do not want, no network, paths of any system."""

import os
import re
import subprocess
import sys
from pathlib import Path, PureWindowsPath

import pytest
from click.testing import CliRunner

import tilesim
from tilesim.cli import main
from tilesim.cli.arguments.film_targets import FilmTarget
from tilesim.cli.arguments.schedule_files import file_and_name
from tilesim.storage import files

SMALL = ("--m", "384", "--n", "512", "--sms", "4")
STILL = ("--size", "480p")

NO_NETWORK = """
import socket

def refuse(*words, **options):
    raise SystemExit("the network was asked")

class Socket(socket.socket):
    def __init__(self, family=socket.AF_INET, *words, **options):
        if family in (socket.AF_INET, socket.AF_INET6):
            refuse()
        super().__init__(family, *words, **options)

socket.socket = Socket
socket.create_connection = socket.getaddrinfo = socket.gethostbyname = refuse
"""


@pytest.fixture
def offline(tmp_path):
    """Runs a command in a Python that stops where anybody asks the network."""
    (tmp_path / "off").mkdir()
    (tmp_path / "off" / "sitecustomize.py").write_text(NO_NETWORK)
    path = os.pathsep.join([str(tmp_path / "off"), str(Path(tilesim.__file__).parents[1])])

    def offline(*words):
        return subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=300,
        )

    return offline


def test_the_test_would_see_a_connection(offline):
    code = "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/')"
    assert "the network was asked" in offline("-c", code).stderr


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "persistent", *SMALL, "-o", "a.npz"),
        ("plan", "stream-k", *SMALL),
        ("list",),
        ("info", "--device", "a100"),
        ("explain", str(Path(tilesim.__file__).parent / "data/traces/h200-naive-4096x4096x512-grouped8.npz")),
        ("sweep", "--m", "512", "--n", "512", "-o", "a.csv"),
        ("init", "mine.py"),
    ],
    ids=lambda words: words[0],
)
def test_no_command_asks_the_network(offline, words):
    done = offline("-m", "tilesim", *words)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "words", [("doctor",), ("export", "one-tile", *STILL, "-o", "a.png"), ("export", "race", "-o", "a.html")]
)
def test_neither_films_nor_the_doctor_ask_the_network(offline, words):
    pytest.importorskip("manim")
    done = offline("-m", "tilesim", *words)
    assert done.returncode == 0, done.stderr


SGR = re.compile(r"\x1b\[[0-9;]*m")
"""How a terminal is told to change its colours."""


def on_a_terminal(words, cwd, **environment):
    """What a command writes where both streams are a terminal."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "tilesim", *words]
    process = subprocess.Popen(
        command, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | environment
    )
    os.close(theirs)
    said = b""
    try:
        while piece := os.read(ours, 65536):
            said += piece
    except OSError:  # the end, as Linux says it
        pass
    os.close(ours)
    process.wait(timeout=300)
    return said.decode(errors="replace")


@pytest.mark.parametrize(
    "words",
    [("--help",), ("simulate", "naiv"), ("simulate", "naive", *SMALL, "--gantt"), ("doctor",), ("list",)],
    ids=lambda words: words[0],
)
def test_without_colour_means_without_colour(tmp_path, words):
    said = on_a_terminal(words, tmp_path, NO_COLOR="1", TERM="xterm-256color")
    assert len(said) > 20
    assert not SGR.search(said)


def test_progress_and_errors_of_a_film_are_without_colour(tmp_path):
    pytest.importorskip("manim")
    (tmp_path / "moves.py").write_text(
        "from manim import *\nclass A(Scene):\n    def construct(self): self.play(Create(Square()))\n"
    )
    film = ("export", "moves.py", "--size", "128x72", "--fps", "5", "--jobs", "1", "-o", "a.mp4")
    said = on_a_terminal(film, tmp_path, NO_COLOR="1", TERM="xterm-256color")
    assert "wrote a.mp4" in said
    assert not SGR.search(said)
    (tmp_path / "bad.py").write_text("from manim import *\nclass A(Scene):\n    def construct(self): 1 / 0\n")
    said = on_a_terminal(("export", "bad.py", "-o", "b.png"), tmp_path, NO_COLOR="1", TERM="xterm-256color")
    assert "error: bad.py, line 3" in said
    assert not SGR.search(said)


@pytest.mark.parametrize("scene", ["", "Race"])
@pytest.mark.parametrize(
    "path",
    [
        r"C:\films\mine.py",
        r"C:mine.py",
        "C:/films/mine.py",
        r"\\server\films\mine.py",
        r"..\mine.py",
        "MINE.PY",
    ],
)
def test_a_windows_path_to_a_scene_is_a_path(path, scene):
    target = FilmTarget().convert(path + (f":{scene}" if scene else ""), None, None)
    assert (str(target.file), target.name) == (path, scene)
    assert PureWindowsPath(str(target.file)).stem.lower() == "mine"


def test_a_windows_path_to_a_schedule_is_a_path():
    assert file_and_name(r"D:\work in.py\mine.py:snake:2:3") == (r"D:\work in.py\mine.py", "snake:2:3")
    said = CliRunner().invoke(main, ["plan", r"D:\nowhere\mine.py:snake"])
    assert said.exit_code == 2
    assert r"D:\nowhere\mine.py: there is no such file" in said.stderr


@pytest.mark.parametrize(("system", "refused"), [("linux", False), ("darwin", True), ("win32", True)])
def test_two_outputs_that_a_file_system_takes_for_one_are_refused(tmp_path, monkeypatch, system, refused):
    monkeypatch.setattr(files.sys, "platform", system)
    outputs = tmp_path / "run.npz", tmp_path / "RUN.npz"
    if refused:
        with pytest.raises(tilesim.errors.TilesimError, match="the same file"):
            files.check_outputs(outputs)
    else:
        files.check_outputs(outputs)
