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
    found = []
    for path in files:
        parts = map(Path, path.relative_to(ROOT).parts)
        if not any(part.match(line) for part in parts for line in ignored):
            found.append(path)
    return found


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


def test_files_are_found_and_none_is_over_4_mib():
    assert {ROOT / "pyproject.toml", ROOT / "Makefile", ROOT / "constraints.txt"} <= set(TRACKED)
    assert not [path for path in TRACKED if path.stat().st_size > 4 * 2**20]


def test_no_file_names_a_package_registry():
    sites = r"pypi\.org|python[h]osted|download\.pytorch|anaconda\.org"
    assert not lines_with(rf"{sites}|(index|find|trusted)-(url|links|host)\b")


def test_no_file_names_a_folder_of_the_machine_it_was_written_on():
    assert not lines_with(r"(?<![\w.$}])/(root|work|home|opt|Users)/\w")


def test_nothing_is_put_off():
    assert not lines_with(r"\b(TO[D]O|FIX[M]E)\b", flags=0)


PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[0-9][0-9A-Za-z.]*)")
CONSTRAINTS = [
    line for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if not line.startswith("#")
]


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_constraints_are_names_and_versions_once_each_of_everything_that_the_package_asks_for():
    assert all(PIN.fullmatch(line) for line in CONSTRAINTS)
    pinned = [normal(line.partition("==")[0]) for line in CONSTRAINTS]
    assert len(pinned) == len(set(pinned))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = project["build-system"]["requires"] + project["project"]["dependencies"]
    for extra in project["project"]["optional-dependencies"].values():
        asked += extra
    names = {normal(re.match(r"[\w.-]+", line)[0]) for line in asked} - {"tilesim"}
    assert names <= set(pinned)


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


def test_scripts_can_be_run_and_ci_runs_make_test():
    for script, shell in {".ci/run": "bash", ".ci/venv": "sh"}.items():
        assert (ROOT / script).stat().st_mode & 0o111
        assert run(shell, "-n", script).returncode == 0
    assert (ROOT / ".ci/run").read_text("utf-8").splitlines()[-1] == "exec make test"


def test_set_up_without_a_python_or_the_right_to_install_says_what_is_needed(tmp_path):
    """Later nobody is root, sudo asks for a password, and no library is found."""
    made = run(ROOT / ".ci/venv", env={"PATH": "/usr/bin:/bin", "PYTHON": "python2.6"})
    assert made.returncode == 1
    assert made.stderr.startswith("error: tilesim needs Python 3.11 or newer, and here is no python2.6")
    assert made.stderr.count("\n") == 1
    for name, script in {"id": "echo 1000", "sudo": "exit 1", "pkg-config": "exit 1"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    made = run(ROOT / ".ci/venv", env={"PATH": f"{tmp_path}:/usr/bin:/bin", "PYTHON": sys.executable})
    assert (made.returncode, made.stdout) == (1, "")
    assert made.stderr.startswith("error: the films need system packages")
    for word in ("Debian", "libcairo2-dev libpango1.0-dev", "Fedora", "pango-devel", "macOS", "brew install"):
        assert word in made.stderr
    assert made.stderr.count("\n") == 1


def torch_note(requires, url="file:///wheels/torch.whl"):
    package = {"metadata": {"version": "2.13.0", "requires_dist": requires}, "download_info": {"url": url}}
    command, report = [sys.executable, ROOT / ".ci/torch_note.py"], json.dumps({"install": [package]})
    return subprocess.run(command, input=report, capture_output=True, text=True, check=True).stdout


def test_what_is_downloaded_of_torch_is_announced():
    if sys.platform == "linux":
        note = torch_note(["filelock", "nvidia-nccl-cu13==2.29.7; platform_system == 'Linux'"])
        assert "CUDA build" in note and "several GB" in note and note.count("\n") == 1
    assert torch_note(["filelock"]) == "torch 2.13.0 is a CPU build without CUDA, from this machine.\n"
    assert "downloaded now" in torch_note(["filelock"], "https://example.org/torch.whl")
