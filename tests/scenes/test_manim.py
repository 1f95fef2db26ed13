"""Plain `manim render`, as the README has it, and films from an installed wheel."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import av
import numpy as np
import pytest
from av.video.reformatter import ColorRange, Colorspace
from click.testing import CliRunner
from films import SCENES, film, painted
from ladders import values
from manim import tempconfig
from manim.__main__ import main as command_line
from PIL import Image

import tilesim

ROOT = Path(tilesim.__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "manim.cfg").is_file(), reason="films are rendered from a clone")

RENDERS = {
    "race": (["-ql", "scenes/race.py"], {}),
    "gif": (["-ql", "--format", "gif", "scenes/persistent.py"], {"TILESIM_FILM": "short.toml"}),
    "ladder": (["-ql", "-s", "scenes/ladder.py"], {"TILESIM_FILM": "ladder.toml"}),
    "missing": (["-ql", "scenes/race.py"], {"TILESIM_FILM": "none.toml"}),
}
"""Each is a process of its own, started in a clone."""
STILLS = {
    "naive": ("naive.py", "", 15.0),
    "persistent": ("persistent.py", "", 15.0),
    "classroom race": ("race.py", "scenes/classroom.toml", 15.0),
    "roofline": ("roofline.py", "ladder.toml", 16.0),
}
"""Manim's command line called in this process: the file, its TILESIM_FILM, the last second of its film."""
FILES = {
    "short.toml": "seconds = 6\n",
    "broken.toml": 'sms = "4\n',
    "ladder.toml": 'ladder = "own.json"\n',
    "own.json": json.dumps(values()),
}


@pytest.fixture
def clone(tmp_path):
    return a_clone(tmp_path)


def a_clone(folder):
    shutil.copy(ROOT / "manim.cfg", folder)
    shutil.copytree(ROOT / "scenes", folder / "scenes", ignore=shutil.ignore_patterns("__pycache__"))
    for file, text in FILES.items():
        (folder / file).write_text(text)
    return folder


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """One of RENDERS by its name, rendered once: (stdout, stderr, exit code, clone)."""

    @cache
    def render(name):
        args, environment = RENDERS[name]
        clone = a_clone(tmp_path_factory.mktemp(name))
        command = [sys.executable, "-m", "manim", "render", *args]
        done = subprocess.run(
            command, cwd=clone, env=os.environ | environment, capture_output=True, text=True, timeout=300
        )
        return done.stdout, done.stderr, done.returncode, clone

    return render


def made(rendered, name, suffix):
    """The one finished file of a render."""
    out, err, code, clone = rendered(name)
    assert code == 0, err + out
    files = [path for path in clone.glob(f".cache/manim/**/*{suffix}") if "partial" not in str(path)]
    assert len(files) == 1 and not (clone / "media").exists()
    return files[0]


def last_frame(clone, monkeypatch, file, film_file):
    """The still that `manim render -s` makes of a file in this process, int [h, w, 3]."""
    monkeypatch.chdir(clone)
    if film_file:
        monkeypatch.setenv("TILESIM_FILM", film_file)
    with tempconfig({"media_dir": str(clone / "stills")}):
        render = ["render", "-ql", "-s", "--media_dir", str(clone / "stills"), f"scenes/{file}"]
        done = CliRunner().invoke(command_line, render)
    assert done.exit_code == 0, done.output
    (still,) = (clone / "stills").rglob("*.png")
    with Image.open(still) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def decode(path, wanted=(0, -1)):
    """(frames/s, number of frames, those of them that are wanted)."""
    with av.open(str(path)) as container:
        shown = list(container.decode(video=0))
        pixels = [shown[index].to_ndarray(format="rgb24").astype(int) for index in wanted]
        return float(container.streams.video[0].average_rate), len(shown), pixels


def test_manim_renders_the_film_that_export_exports(rendered):
    seconds = (0, 6, 9, 14)
    rate, count, shown = decode(made(rendered, "race", ".mp4"), [15 * second for second in seconds])
    assert (rate, count, shown[0].shape) == (15, 225, (480, 854, 3))
    for second, pixels in zip(seconds, shown, strict=True):
        assert np.abs(pixels - painted("race", second)[..., :3]).mean() < 3.2


@pytest.mark.parametrize("name", STILLS)
def test_manim_ends_where_export_ends(name, clone, monkeypatch):
    file, film_file, end = STILLS[name]
    last = last_frame(clone, monkeypatch, file, film_file)
    assert np.abs(last - painted(name, end)[..., :3]).mean() < 1


def test_the_classroom_has_four_sms():
    assert film("classroom race").traces[0].device.sms == 4


def test_manims_film_says_which_colours_it_has(rendered):
    with av.open(str(made(rendered, "race", ".mp4"))) as container:
        frame = next(container.decode(video=0))
    assert (frame.colorspace, frame.color_range) == (Colorspace.ITU709, ColorRange.MPEG)


@pytest.mark.parametrize("settings", [{"transparent": True}, {"background_opacity": 0.5}])
def test_a_transparent_film_is_refused_before_anything_is_written(settings, tmp_path):
    with tempconfig({"media_dir": str(tmp_path)} | settings), pytest.raises(SystemExit, match="error: "):
        SCENES["persistent"]()
    assert not list(tmp_path.iterdir())


def test_other_renderers_are_refused():
    with pytest.raises(SystemExit, match=r"error: object cannot draw this film; leave the renderer to"):
        SCENES["race"](object())


def test_a_ladder_comes_from_its_file(rendered):
    with Image.open(made(rendered, "ladder", ".png")) as image:
        last = np.asarray(image.convert("RGB")).astype(int)
    assert np.abs(last - painted("ladder", 16.0)[..., :3]).mean() < 1


def test_a_gif_as_manim_writes_it(rendered):
    _, count, (first, last) = decode(made(rendered, "gif", ".gif"))
    assert count >= 60 and first.shape == (480, 854, 3)
    assert np.abs(last - first).max() > 50


def test_a_film_file_that_is_missing_is_one_sentence(rendered):
    out, err, code, clone = rendered("missing")
    words = "TILESIM_FILM: none.toml: there is no such file"
    assert code == 1 and err.splitlines()[-1].startswith("error: ") and words in err
    assert "Traceback" not in out + err and "│" not in out + err
    assert not [path for path in clone.glob(".cache/**/*") if path.suffix in (".mp4", ".mov")]


def test_a_film_file_that_is_broken_is_one_sentence(clone, monkeypatch):
    monkeypatch.chdir(clone)
    monkeypatch.setenv("TILESIM_FILM", "broken.toml")
    with (
        tempconfig({"media_dir": str(clone)}),
        pytest.raises(SystemExit, match=r"^error: .*this is not a TOML"),
    ):
        SCENES["race"]().render()


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder into which a wheel of this clone is installed, without what it needs."""
    folder = tmp_path_factory.mktemp("wheel")
    clone = folder / "clone"
    clone.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "tilesim", "scenes", "kernels"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, clone / name)
    build = "import setuptools.build_meta as b; b.build_wheel('..')"
    done = subprocess.run(
        [sys.executable, "-c", build], cwd=clone, capture_output=True, text=True, check=False
    )
    if "No module named 'setuptools'" in done.stderr:
        pytest.skip("setuptools is not here to build a wheel with")
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    # A wheel of plain Python is installed by unpacking it.
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def elsewhere(installed, cwd, *args):
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, *args]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_a_wheel_exports_films_far_from_the_clone(installed, tmp_path):
    # Hugging Face's package of that name, or anybody else's, must not get in the way.
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "__init__.py").write_text("raise RuntimeError('the wrong kernels')\n")
    (tmp_path / "scenes.py").write_text("raise RuntimeError('the wrong scenes')\n")
    args = ["export", "naive", "--size", "480p", "--fps", "5", "--to", "1", "-o", "x.mp4"]
    done = elsewhere(installed, tmp_path, "-m", "tilesim", *args)
    assert (done.returncode, done.stdout) == (0, "") and done.stderr.startswith("wrote x.mp4 ")
    assert decode(tmp_path / "x.mp4")[1] == 5
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == [
        "kernels",
        "scenes.py",
        "x.mp4",
    ]
    where = "import tilesim_scenes._stage.export as e, tilesim as t; print(e.__file__); print(t.__file__)"
    done = elsewhere(installed, tmp_path, "-c", where)
    assert [Path(line).is_relative_to(installed) for line in done.stdout.split()] == [True, True]


def test_the_wheel_carries_its_films_and_figures(installed):
    carried = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    assert {
        "tilesim_scenes/race.py",
        "tilesim_scenes/classroom.toml",
        "tilesim_scenes/_stage/picture.py",
    } <= carried
    assert {"tilesim/data/devices.json", "tilesim/data/timings/h200.json"} <= carried
    assert any(name.startswith("tilesim/data/traces/") for name in carried)
    assert not [name for name in carried if name.startswith(("scenes/", "kernels/", "tests/"))]
