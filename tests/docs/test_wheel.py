"""`make dist` builds a wheel that works elsewhere: installed alone, far from the clone."""

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import numpy
import pytest
from pages import ROOT, run
from test_direction_rules import PACKAGES

pytest.importorskip("build")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command of the Makefile's target `dist` builds, of a copy."""
    copy = tmp_path_factory.mktemp("copy") / "tilesim"
    (command,) = re.findall(
        r"^\t@\$\(PYTHON_HERE\) (-m build .*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    for name in ("tilesim", "scenes", "kernels"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    built = run("python", *command.split(), cwd=copy)
    assert built.returncode == 0, built.stdout + built.stderr
    return copy / "dist"


@pytest.fixture(scope="module")
def elsewhere(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it depends on, and without the clone."""
    folder = tmp_path_factory.mktemp("elsewhere")
    run("python", "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    (wheel,) = dist.glob("*.whl")
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    into = ("--no-deps", "--no-index", "--target", site, wheel)
    installed = run("python", "-m", "pip", "install", "-qq", *into, cwd=folder)
    assert installed.returncode == 0, installed.stderr
    # NumPy and click are these here. A tilesim that is installed beside them comes after the wheel's.
    (site / "others.pth").write_text(f"{Path(numpy.__file__).parents[1]}\n", "utf-8")
    return folder


def inside(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(folder / "venv" / "bin" / "python", *words, cwd=folder, PYTHONPATH="", PYTHONNOUSERSITE="1")


def test_the_wheel_holds_every_module_the_fonts_and_no_tests(dist: Path) -> None:
    assert sorted(path.suffix for path in dist.iterdir()) == [".gz", ".whl"]
    (wheel,) = dist.glob("*.whl")
    names = set(ZipFile(wheel).namelist())
    for folder, package in PACKAGES.items():
        modules = [path.relative_to(ROOT / folder) for path in (ROOT / folder).rglob("*.py")]
        assert modules and {f"{package}/{path}" for path in modules} <= names
    fonts = {f"tilesim_scenes/look/fonts/{path.name}" for path in (ROOT / "scenes/look/fonts").iterdir()}
    assert fonts and fonts <= names
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "docs", "examples"))]


def test_the_command_line_and_all_packages_work_elsewhere(elsewhere: Path) -> None:
    listed = inside(elsewhere, "-m", "tilesim", "list")
    assert listed.returncode == 0 and "persistent" in listed.stdout and "race" in listed.stdout, listed.stderr
    simulated = inside(elsewhere, "-m", "tilesim", "simulate", "persistent", "-o", "run.npz")
    assert simulated.returncode == 0 and (elsewhere / "run.npz").is_file(), simulated.stderr
    made = inside(elsewhere, "-m", "tilesim", "init", "my_film.py")
    assert made.returncode == 0, made.stderr
    assert "class MyFilm(Film)" in (elsewhere / "my_film.py").read_text()
    page = inside(elsewhere, "-m", "tilesim", "export", "run.npz", "-o", "run.html")
    assert page.returncode == 0 and (elsewhere / "run.html").read_text("utf-8").count("</script>") == 2
    if not (find_spec("torch") and find_spec("triton")):
        return
    code = (
        "import tilesim, tilesim_kernels, tilesim_scenes;"
        "from tilesim_kernels import bench, matmul, record;"
        "print(tilesim.__file__, tilesim_kernels.__file__, tilesim_scenes.__file__)"
    )
    done = inside(elsewhere, "-c", code)
    assert done.returncode == 0, done.stderr
    assert all(str(elsewhere) in path for path in done.stdout.split()), "the packages are the wheel's"
