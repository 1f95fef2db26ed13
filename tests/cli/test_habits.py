"""What people rely on: no colours that they do not want, no network, paths of any system."""

import contextlib
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path, PureWindowsPath

import pytest

import tilesim
from tilesim.cli.arguments.film_targets import FILM_TARGET
from tilesim.cli.arguments.schedule_files import file_and_name
from tilesim.storage import files

ROOT = Path(tilesim.__file__).parents[1]

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


COMMANDS = """
import shlex, sys
from tilesim.cli import main
for line in sys.argv[1:]:
    try:
        main(shlex.split(line))
    except SystemExit as ended:
        print(line, "ended with", ended.code)
"""
"""Runs one command of tilesim after the other."""


def test_no_command_asks_the_network(tmp_path):
    (tmp_path / "off").mkdir()
    (tmp_path / "off" / "sitecustomize.py").write_text(NO_NETWORK)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path / "off"), str(ROOT)])}

    def offline(code, *words):
        command = [sys.executable, "-c", code, *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )

    seen = offline("import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/')")
    assert "the network was asked" in seen.stderr, "the test would see a connection"
    lines = [
        "simulate persistent --m 384 --n 512 --sms 4 -o a.npz",
        "plan stream-k --m 384 --n 512 --sms 4",
        "list",
        "info --device a100",
        f"explain {ROOT}/tilesim/data/traces/h200-naive-4096x4096x512-grouped8.npz",
        "sweep --m 512 --n 512 --jobs 1 -o a.csv",
        "init mine.py",
        "export a.npz -o a.html",
    ]
    if find_spec("manim"):
        lines += ["doctor", "export a.npz --at 1us --size 64x64 -o a.png", "export race -o b.html"]
    done = offline(COMMANDS, *lines)
    assert done.stderr.count("error: ") == 0 and done.stdout.count(" ended with 0\n") == len(lines), done


SGR = re.compile(r"\x1b\[[0-9;]*m")
"""How a terminal is told to change its colours."""


def on_a_terminal(lines, cwd, **environment):
    """What commands write where both streams are a terminal."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", COMMANDS, *lines]
    process = subprocess.Popen(
        command, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | environment
    )
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # the end, as Linux says it
        while piece := os.read(ours, 65536):
            said += piece
    os.close(ours)
    process.wait(timeout=300)
    return said.decode(errors="replace")


def test_without_colour_means_without_colour(tmp_path):
    head = "from manim import *\nclass A(Scene):\n    def construct(self): "
    (tmp_path / "moves.py").write_text(f"{head}self.play(Create(Square()))\n")
    (tmp_path / "bad.py").write_text(f"{head}1 / 0\n")
    written = {
        "--help": "Usage: tilesim",
        "simulate naiv": "did you mean 'naive'?",
        "simulate naive --m 384 --n 512 --sms 4 --gantt": "SM 0",
        "list": "persistent",
    }
    if find_spec("manim"):
        written |= {
            "doctor": "films can be made",
            "export moves.py --size 128x72 --fps 5 --jobs 1 -o a.mp4": "wrote a.mp4",
            "export bad.py -o b.png": "error: bad.py, line 3",
        }
    said = on_a_terminal(written, tmp_path, NO_COLOR="1", TERM="xterm-256color")
    assert all(words in said for words in written.values()), said
    assert not SGR.search(said)


@pytest.mark.parametrize("scene", ["", "Race"])
@pytest.mark.parametrize(
    "path",
    [
        r"C:\films\mine.py",
        r"\\server\films\mine.py",
        "MINE.PY",
    ],
)
def test_a_windows_path_to_a_scene_is_a_path(path, scene):
    target = FILM_TARGET.convert(path + (f":{scene}" if scene else ""), None, None)
    assert (str(target.file), target.name) == (path, scene)
    assert PureWindowsPath(str(target.file)).stem.lower() == "mine"


def test_a_windows_path_to_a_schedule_is_a_path():
    assert file_and_name(r"D:\work in.py\mine.py:snake:2:3") == (r"D:\work in.py\mine.py", "snake:2:3")
    assert file_and_name("C:/films/MINE.PY") == ("C:/films/MINE.PY", "")
    assert file_and_name("split-k:2") is None


@pytest.mark.parametrize(("system", "refused"), [("linux", False), ("darwin", True), ("win32", True)])
def test_two_outputs_that_a_file_system_takes_for_one_are_refused(tmp_path, monkeypatch, system, refused):
    monkeypatch.setattr(files.sys, "platform", system)
    outputs = tmp_path / "run.npz", tmp_path / "RUN.npz"
    if refused:
        with pytest.raises(tilesim.errors.TilesimError, match="the same file"):
            files.check_outputs(outputs)
    else:
        files.check_outputs(outputs)
