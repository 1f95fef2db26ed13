"""What a shell is offered while a command line is typed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from command_line import said

from tilesim import SCHEDULES
from tilesim.cli import main
from tilesim.cli.packages import declared
from tilesim.devices.presets import presets
from tilesim.problems import DTYPE_BYTES


def offered(*words):
    """(kind, value) of each word that is offered for the last of `words`."""
    *before, begin = words
    items = ShellComplete(main, {}, "tilesim", "_TILESIM_COMPLETE").get_completions(before, begin)
    return [(item.type, item.value) for item in items]


def names(*words):
    found = offered(*words)
    assert all(kind == "plain" for kind, _ in found)
    return [value for _, value in found]


PERSISTENT = [name for name in SCHEDULES if name.startswith("persistent")]
NAMES = {
    **{f"{command} pers": PERSISTENT for command in ("plan", "simulate", "record")},
    "simulate s": ["split-k:8", "stream-k", "stream-k-hybrid"],
    "simulate naive --device ": presets(),
    "simulate naive --dtype ": DTYPE_BYTES,
    "simulate naive --costs ": ["ideal", *presets()],
    "plan naive --order g": ["grouped:8"],
    "export ": [*declared(), "course"],
    "export course --films ": declared(),
    "sweep --schedule naive,split": ["naive,split-k:8"],
    "sweep --device h200,h1": [f"h200,{name}" for name in presets() if name.startswith("h1")],
}
FILES = (
    *("simulate naive -o x", "simulate naive --costs ./x", "simulate ./mi", "export race --schedule ./mi"),
    *("export race --ladder x", "export race --trace x", "convert x", "convert a.npz x", "compare x"),
    *("calibrate a.npz x", "info x"),
)


@pytest.mark.parametrize("line", NAMES)
def test_names(line):
    assert names(*line.split(" ")) == list(NAMES[line])


@pytest.mark.parametrize("line", FILES)
def test_files(line):
    words = line.split()
    assert offered(*words) == [("file", words[-1])]


def test_each_name_that_is_offered_is_one_that_is_taken():
    for name in names("simulate", ""):
        said("plan", name, "--m", "64", "--k", "512", "--sms", "2", "--json")
    for name in names("simulate", "naive", "--order", ""):
        said("plan", "naive", "--order", name)


def test_nothing_is_run_while_a_line_is_typed(tmp_path):
    marked, file = tmp_path / "run", tmp_path / "mine.py"
    file.write_text(f"open({str(marked)!r}, 'w')\ndef snake(problem, device): ...\n")
    assert names("simulate", f"{file}:snake", "--device", "h2") == ["h200"]
    assert not marked.exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_the_program_under_its_name(shell):
    script = CliRunner().invoke(main, env={"_TILESIM_COMPLETE": f"{shell}_source"}).stdout
    assert f"_TILESIM_COMPLETE={shell}_complete" in script and "tilesim" in script


def test_the_program_answers():
    program = Path(sys.executable).parent / "tilesim"
    if not program.exists():
        pytest.skip("the program is not installed")
    asked = {"_TILESIM_COMPLETE": "bash_complete", "COMP_WORDS": "tilesim simulate nai", "COMP_CWORD": "2"}
    done = subprocess.run([program], env=os.environ | asked, capture_output=True, text=True)
    assert done.stdout == "plain,naive\n"
