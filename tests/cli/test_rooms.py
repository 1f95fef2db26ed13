"""The command line finds kernels/ and scenes/ in a clone that is not installed, and says what is missing."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from command_line import said

import tilesim

ROOT = Path(tilesim.__file__).parents[1]

KERNELS = """
from ._ask import answer

def record(schedule, problem, **options):
    from tilesim import Device, simulate
    return simulate(schedule, problem, Device(answer()))

def bench(*problems, **options):
    row = dict(dtype="bf16", kernel="naive-tma", us=34.5, p20=34.0, p80=35.0, tflops=498.0, sm_mhz=1700)
    row["relative_error"] = 0.0017
    sizes = [dict(m=p.m, n=p.n, k=p.k) for p in problems]
    return {"machine": {"gpu": "none"}, "rows": [size | row for size in sizes]}
"""


@pytest.fixture
def clone(tmp_path):
    """A clone of tilesim/ alone; what lies beside it, a test says."""
    left_out = shutil.ignore_patterns("__pycache__", "*.npz")
    shutil.copytree(ROOT / "tilesim", tmp_path / "tilesim", ignore=left_out)
    return tmp_path


def run(clone, *args):
    """`python -m tilesim` where nothing is installed but NumPy and click: -S leaves out editable installs."""
    packages = {str(Path(module.__file__).parents[1]) for module in (np, click)}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(clone), *packages])}
    command = [sys.executable, "-S", "-m", "tilesim", *args]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=clone, check=False)


def add(clone, folder, text, **modules):
    (clone / folder).mkdir()
    (clone / folder / "__init__.py").write_text(text)
    for name, source in modules.items():
        (clone / folder / f"{name}.py").write_text(source)


def test_an_unpacked_clone_records_and_benches(clone):
    add(clone, "kernels", KERNELS, _ask="def answer():\n    return 4\n")
    result = run(clone, "record", "naive", "--m", "256", "-o", "a.npz")
    assert result.returncode == 0 and result.stderr.startswith("wrote a.npz ("), result.stderr
    assert tilesim.Trace.load(clone / "a.npz").device.sms == 4
    result = run(clone, "bench", "--size", "1024x1024x512", "--size", "64x64x64", "-o", "b.json")
    assert result.returncode == 0 and result.stderr.startswith("wrote b.json ("), result.stderr
    assert "1024x1024x512 bf16  naive-tma" in result.stdout
    assert (clone / "b.json").read_text().count('"us": 34.5') == 2


def test_a_room_that_is_missing_or_needs_what_is_missing(clone):
    result = run(clone, "bench")
    missing = f"the package tilesim_kernels is not installed, and there is no folder {clone}/kernels"
    assert (result.returncode, result.stderr) == (1, f"error: {missing}\n")
    add(clone, "kernels", "import torch_that_is_not_there\n")
    result = run(clone, "record", "naive", "-o", "a.npz")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert "No module named 'torch_that_is_not_there'" in result.stderr
    assert "pip install '.[kernels]'" in result.stderr
    assert not (clone / "a.npz").exists()


def test_scenes_and_broken_schedules_are_listed_from_their_files(clone):
    race = '"""Two side by side.\n\nMore."""\n'
    add(clone, "scenes", "import manim_that_is_not_there", race=race, _drafts="")
    (clone / "tilesim/schedules/stride.py").write_text("def step(problem, device): ...\n")
    (clone / "tilesim/schedules/typo.py").write_text("def typo(problem, device)\n")
    result = run(clone, "list")
    assert (result.returncode, result.stderr) == (0, "")
    wanted = "schedules/stride.py must define a function stride(problem, device)"
    listed = re.sub("  +", "  ", result.stdout)
    assert "race  Two side by side.\n" in listed and "_drafts" not in listed
    assert f"stride  {wanted}\n" in listed
    assert "typo  schedules/typo.py cannot be loaded (SyntaxError: " in listed
    assert run(clone, "simulate", "naive", "--sms", "2").returncode == 0
    result = run(clone, "simulate", "stride")
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"error: {wanted}\n")


def test_without_a_gpu_measuring_is_one_sentence(tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    file = tmp_path / "a"
    benches = [["bench", name] for name in ("turnaround", "sm-order", "memory", "reductions")]
    for words in (["bench"], ["record", "naive"], ["record", "--suite"], ["tune"], *benches):
        assert "NVIDIA GPU" in said(*words, "-o", file, code=1)
    assert list(tmp_path.iterdir()) == []
