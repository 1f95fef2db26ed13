"""What the repository carries, and what it must not."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def tracked():
    """The files under version control; without git, those that .gitignore does not name."""
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        listed = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
        if listed.returncode == 0:
            return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]
    ignored = [line.strip("/") for line in (ROOT / ".gitignore").read_text("utf-8").split()] + [".git"]
    files = (path for path in ROOT.rglob("*") if path.is_file())
    return [
        path
        for path in files
        if not any(Path(part).match(line) for part in path.relative_to(ROOT).parts for line in ignored)
    ]


TRACKED = tracked()


def texts():
    for path in TRACKED:
        try:
            yield path.relative_to(ROOT), path.read_text("utf-8")
        except UnicodeDecodeError:
            continue


def lines_with(pattern, flags=re.IGNORECASE):
    found = re.compile(pattern, flags)
    return [f"{path}: {line}" for path, text in texts() for line in text.splitlines() if found.search(line)]


def test_the_list_is_not_empty():
    assert {ROOT / "pyproject.toml", ROOT / "Makefile", ROOT / "constraints.txt"} <= set(TRACKED)


def test_no_file_is_over_4_mib():
    assert not [path for path in TRACKED if path.stat().st_size > 4 * 2**20]


def test_no_file_names_a_package_registry():
    registries = (
        r"pypi\.org|python[h]osted|download\.pytorch|anaconda\.org|(index|find|trusted)-(url|links|host)\b"
    )
    assert not lines_with(registries)


def test_no_file_names_a_folder_of_the_machine_it_was_written_on():
    assert not lines_with(r"(?<![\w.$}])/(root|work|home|opt|Users)/\w")


@pytest.mark.parametrize("word", ["TO" + "DO", "FIX" + "ME"])
def test_nothing_is_put_off(word):
    assert not lines_with(rf"\b{word}\b", flags=0)


PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[0-9][0-9A-Za-z.]*)")
CONSTRAINTS = [
    line for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if not line.startswith("#")
]


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_constraints_are_names_and_versions_once_each():
    assert all(PIN.fullmatch(line) for line in CONSTRAINTS)
    names = [normal(line.partition("==")[0]) for line in CONSTRAINTS]
    assert len(names) == len(set(names))


def test_everything_that_the_package_asks_for_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = project["build-system"]["requires"] + project["project"]["dependencies"]
    for extra in project["project"]["optional-dependencies"].values():
        asked += extra
    names = {normal(re.match(r"[\w.-]+", line)[0]) for line in asked} - {"tilesim"}
    assert names <= {normal(line.partition("==")[0]) for line in CONSTRAINTS}


def run(*command, **options):
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, **options
    )


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_bare_make_lists_its_targets():
    listed = run("make")
    assert listed.returncode == 0
    for target in ("demo", "test", "clean"):
        assert re.search(rf"^  make {target}\t\w", listed.stdout, re.MULTILINE)


@pytest.mark.parametrize(("script", "shell"), [(".ci/run", "bash"), (".ci/venv", "sh")])
def test_scripts_can_be_run(script, shell):
    assert (ROOT / script).stat().st_mode & 0o111
    assert run(shell, "-n", script).returncode == 0


def test_ci_runs_make_test():
    assert (ROOT / ".ci/run").read_text("utf-8").splitlines()[-1] == "exec make test"


def test_set_up_without_a_python_says_so():
    made = run(ROOT / ".ci/venv", env={"PATH": "/usr/bin:/bin", "PYTHON": "python2.6"})
    assert made.returncode == 1
    assert made.stderr.startswith("error: tilesim needs Python 3.11 or newer, and here is no python2.6")
    assert made.stderr.count("\n") == 1


@pytest.fixture
def powerless(tmp_path):
    """A PATH on which nobody is root, sudo asks for a password, and no library is found."""
    for name, script in {"id": "echo 1000", "sudo": "exit 1", "pkg-config": "exit 1"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    return f"{tmp_path}:/usr/bin:/bin"


def test_set_up_without_the_right_to_install_names_the_packages(powerless):
    made = run(ROOT / ".ci/venv", env={"PATH": powerless, "PYTHON": sys.executable})
    assert made.returncode == 1
    assert made.stdout == ""
    assert made.stderr.startswith("error: the films need system packages")
    for word in ("Debian", "libcairo2-dev libpango1.0-dev", "Fedora", "pango-devel", "macOS", "brew install"):
        assert word in made.stderr
    assert made.stderr.count("\n") == 1


def torch_note(requires, url="file:///wheels/torch.whl"):
    package = {"metadata": {"version": "2.13.0", "requires_dist": requires}, "download_info": {"url": url}}
    noted = subprocess.run(
        [sys.executable, ROOT / ".ci/torch_note.py"],
        input=json.dumps({"install": [package]}),
        capture_output=True,
        text=True,
        check=True,
    )
    return noted.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="there is no CUDA elsewhere")
def test_a_download_of_cuda_is_announced():
    note = torch_note(["filelock", "nvidia-nccl-cu13==2.29.7; platform_system == 'Linux'"])
    assert "CUDA build" in note
    assert "several GB" in note
    assert note.count("\n") == 1


def test_a_cpu_wheel_is_announced():
    assert torch_note(["filelock"]) == "torch 2.13.0 is a CPU build without CUDA, from this machine.\n"
    assert "downloaded now" in torch_note(["filelock"], "https://example.org/torch.whl")
