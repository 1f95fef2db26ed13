"""`tilesim doctor`: what is there, what is not, and what to do about it."""

import json
import os
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner

from tilesim.cli import main
from tilesim.cli.commands import doctor as machine
from tilesim.errors import TilesimError


def doctor(*words):
    found = CliRunner().invoke(main, ["doctor", *words])
    assert found.stderr == ""
    return found


def states():
    return {check["name"]: check for check in json.loads(doctor("--json").stdout)["checks"]}


@pytest.fixture
def without(monkeypatch):
    """Makes packages absent, or of another version."""
    real = metadata.version

    def version(name):
        if name in changed:
            if changed[name] is None:
                raise metadata.PackageNotFoundError(name)
            return changed[name]
        return real(name)

    changed = {}
    monkeypatch.setattr(machine, "version", version)
    return changed


def test_every_package_of_every_extra_that_users_install_is_looked_at_by_the_bounds_of_the_project():
    found = states()
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    for extra in machine.EXTRAS:
        lines = project["optional-dependencies"][extra] if extra else project["dependencies"]
        expected = [line.partition(";")[0] for line in lines]
        assert ["".join(one) for one in machine.requirements(extra)] == expected
        for name, bounds in machine.requirements(extra):
            assert name in found
            assert found[name]["state"] == "missing" or found[name]["found"]
            assert bounds == "" or machine.BOUND.search(bounds), bounds
    assert found.keys() >= {"numpy", "click", "manim", "av", "torch", "triton", "numba", "Python", "GPU"}


def test_where_there_is_no_clone_its_metadata_tells_the_bounds(monkeypatch, tmp_path):
    triton = "triton>=3.6; platform_system == 'Linux' and extra == 'kernels'"
    lines = ["numpy>=1.26", "av>=17; extra == 'films'", triton]
    monkeypatch.setattr(machine, "CLONE", tmp_path / "pyproject.toml")
    monkeypatch.setattr(machine, "requires", lambda name: lines)
    monkeypatch.setattr(sys, "platform", "linux")
    assert machine.requirements("") == [("numpy", ">=1.26")]
    assert machine.requirements("films") == [("av", ">=17")]
    assert machine.requirements("kernels") == [("triton", ">=3.6")]
    monkeypatch.setattr(sys, "platform", "win32")
    assert machine.requirements("kernels") == []


@pytest.mark.parametrize(
    ("name", "version", "state"),
    [("manim", None, "missing"), ("numpy", "1.3.20", "old"), ("pillow", "13.0.0", "old")],
)
def test_what_films_need_decides(without, name, version, state):
    without[name] = version
    found = doctor("--json")
    assert found.exit_code == 1
    told = json.loads(found.stdout)
    (check,) = [check for check in told["checks"] if check["name"] == name]
    assert not told["films"]
    assert check["state"] == state
    assert check["advice"].startswith("pip install ") and "." in check["advice"]
    shown = doctor()
    assert shown.exit_code == 1
    assert shown.stdout.splitlines()[-1] == f"films cannot be made: see {name}"


def test_what_is_optional_does_not_decide_and_libraries_of_what_lacks_are_not_asked_for(without, monkeypatch):
    pytest.importorskip("manim")
    without.update(torch=None, triton=None, numba=None, pyarrow=None, distributed=None)
    found = doctor()
    assert found.exit_code == 0, found.stdout
    assert found.stdout.splitlines()[-1] == "films can be made"
    assert "  missing  numba" in found.stdout
    without["av"] = None
    monkeypatch.setattr(machine, "load", lambda *names: pytest.fail("something was imported"))
    assert "encoders" not in states()


def test_libraries_encoders_and_fonts_that_are_missing_are_named(monkeypatch):
    pytest.importorskip("manim")

    def broken(*names):
        raise TilesimError("scenes/ cannot be loaded (libcairo.so.2: cannot open shared object file)")

    monkeypatch.setattr(machine, "load", broken)
    assert doctor().exit_code == 1
    assert "libcairo" in states()["cairo, Pango"]["found"]
    monkeypatch.undo()
    found = machine.load("scenes", "render.machine")
    monkeypatch.setattr(found.av, "codecs_available", {"qtrle"})
    monkeypatch.setattr(found.manimpango, "list_fonts", lambda: ["Tilesim Sans"])
    told = states()
    assert told["encoders"]["found"] == "without libx264, libvpx-vp9"
    assert told["fonts"]["found"] == "without Tilesim Mono"
    assert doctor().exit_code == 1


TWO_GPUS = "NVIDIA H200, 580.95.05\n" * 2


@pytest.mark.parametrize(
    ("output", "code", "state"), [(TWO_GPUS, 0, "ok"), ("No devices were found\n", 6, "missing")]
)
def test_the_gpu_is_what_nvidia_smi_says(tmp_path, monkeypatch, output, code, state):
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '{output}'\nexit {code}\n".replace("\n'", "\\n'"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    gpu = states()["GPU"]
    assert gpu["state"] == state
    assert (gpu["found"] == "NVIDIA H200 and 1 other, driver 580.95.05, preset h200") == (state == "ok")
