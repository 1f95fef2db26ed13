"""What people who know Manim, PyTorch or another tool type first, and what they are answered."""

import html
import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import tilesim

ROOT = Path(__file__).parents[2]


def test_more_sms_than_a_gpu_has_are_noted():
    small = ("simulate", "naive", "--m", "256", "--n", "512")
    assert "has 132 SMs" in tilesim(*small, "--sms", "1000").stderr
    assert not tilesim(*small, "--sms", "132").stderr


def test_traces_become_a_page_without_manim(tmp_path):
    tilesim("simulate", "naive", "--sms", "4", "--m", "512", "-o", tmp_path / "run.npz")
    code = "import sys; sys.modules['manim'] = None; from tilesim.__main__ import main; main()"
    command = [sys.executable, "-c", code, "export", "run.npz", "-o", "page.html"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "<html" in (tmp_path / "page.html").read_text("utf-8")


def test_help_for_a_film_has_its_options_alone():
    pytest.importorskip("manim")
    for film in ("race", "divergence"):
        taken = json.loads(tilesim("info", film, "--json").stdout)["options"]
        text = tilesim("export", film, "--help").stdout
        assert all(f"--{name.replace('_', '-')}" in text for name in taken)
    assert "--sms" not in text and "--theme" in text
    assert "--sms" in tilesim("export", "--help").stdout


def test_manim_s_qualities_set_size_and_rate(tmp_path):
    pytest.importorskip("manim")
    av = pytest.importorskip("av")
    file = tmp_path / "a.mp4"
    tilesim("export", "naive", "-ql", "--fps", "5", "--to", "1", "-o", file)
    with av.open(file) as film:
        stream = film.streams.video[0]
        assert (stream.height, stream.average_rate) == (480, 5)


def test_a_file_is_explained_on_its_own_device(tmp_path):
    tilesim("simulate", "naive", "--sms", "16", "--m", "512", "-o", tmp_path / "run.csv")
    refusal = tilesim("explain", tmp_path / "run.csv", "--device", "h100", code=2).stderr
    assert "16 SMs of NVIDIA H200" in refusal
    assert "on 16 slots" in tilesim("explain", tmp_path / "run.csv", "--sms", "16", "--device", "h200").stdout


def test_a_run_is_named_after_its_own_gpu(tmp_path):
    stamps = (ROOT / "tests" / "own_kernel.csv").read_text("utf-8")
    (tmp_path / "own.csv").write_text(stamps.replace('sms=132 gpu="NVIDIA H200"', 'gpu="NVIDIA L40S"'))
    said = tilesim("explain", tmp_path / "own.csv").stdout
    assert "on NVIDIA L40S, measured" in said and "constants of an RTX 4090 stand for" in said
    assert "on NVIDIA L40S (142 SMs), measured" in tilesim("info", tmp_path / "own.csv").stdout


def test_an_explanation_is_a_page_that_has_all_of_it(tmp_path):
    tilesim("simulate", "naive", "--sms", "8", "-o", tmp_path / "run.npz")
    text = tilesim("explain", tmp_path / "run.npz").stdout
    said = tilesim("explain", tmp_path / "run.npz", "-o", tmp_path / "run.html")
    page = html.unescape((tmp_path / "run.html").read_text("utf-8"))
    assert said.stdout == "" and text.strip() in page and "slowest main loops" in page
