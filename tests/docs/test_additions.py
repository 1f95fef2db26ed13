"""What Extending says is enough is enough: in a clone, a file is a schedule, and a file is a film."""

import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from pages import ROOT, run

UNINSTALLED = """
import os, sys
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in repr(finder).lower()]
sys.path = ["", *(path for path in sys.path if not os.path.exists(os.path.join(path, "tilesim_scenes")))]
from tilesim.cli import main
main()
"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unpacked clone: the folders, and no installed package that would stand in for them."""
    folder = tmp_path_factory.mktemp("clone")
    for room in ("tilesim", "scenes", "kernels"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def tilesim(clone: Path, *words: str) -> CompletedProcess[str]:
    return run("python", "-c", UNINSTALLED, *words, cwd=clone)


STRIDE = (
    (ROOT / "tilesim/schedules/persistent.py")
    .read_text("utf-8")
    .replace("def persistent(problem: Problem, device: Device)", "def stride(problem, device, s)")
    .replace("ctas = device.sms * device.ctas_per_sm", "ctas = s")
)


def test_a_file_beside_the_schedules_is_a_schedule(clone: Path) -> None:
    (clone / "tilesim/schedules/stride.py").write_text(STRIDE, "utf-8")
    done = tilesim(clone, "simulate", "stride:2", "--json")
    assert done.returncode == 0 and '"launches": 2' in done.stdout, done.stderr
    assert "stride:S" in tilesim(clone, "list").stdout


def test_a_schedule_that_leaves_out_a_tile_is_refused(clone: Path) -> None:
    half = STRIDE.replace("def stride(problem, device, s)", "def half(problem, device)").replace("= s", "= 1")
    wrong = half.replace("rasterize(problem)", "(rasterize(problem) // 2)")
    assert wrong.count("// 2") == 1
    (clone / "tilesim/schedules/half.py").write_text(wrong, "utf-8")
    refused = tilesim(clone, "simulate", "half")
    (clone / "tilesim/schedules/half.py").unlink()
    assert refused.returncode in (1, 2) and "tile 256 is never computed" in refused.stderr


def test_a_file_beside_the_scenes_is_a_film(clone: Path) -> None:
    pytest.importorskip("manim")
    shutil.copy(ROOT / "examples/tail.py", clone / "scenes/tail.py")
    cut = ["--size", "480p", "--fps", "5", "--from", "2", "--to", "4", "-o", "film.mp4"]
    done = tilesim(clone, "export", "tail", *cut)
    assert done.returncode == 0, done.stderr
    assert (clone / "film.mp4").stat().st_size > 1000
    assert run("python", "-m", "manim", "render", "-ql", "-s", "scenes/tail.py", cwd=clone).returncode == 0
