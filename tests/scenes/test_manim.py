"""Plain `manim render`, as the README has it, and films from an installed wheel."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import av
import numpy as np
import pytest
from av.video.reformatter import ColorRange, Colorspace
from films import CLIMBS, SCENES, film, painted
from ladders import values
from manim import tempconfig
from PIL import Image

import tilesim

ROOT = Path(tilesim.__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "manim.cfg").is_file(), reason="films are rendered from a clone")

RENDERS = {
    "naive": (["-ql", "scenes/naive.py"], {}),
    "persistent": (["-ql", "scenes/persistent.py"], {}),
    "race": (["-ql", "scenes/race.py"], {}),
    "classroom": (["-ql", "-s", "scenes/race.py"], {"TILESIM_FILM": "scenes/classroom.toml"}),
    "gif": (["-ql", "--format", "gif", "scenes/persistent.py"], {"TILESIM_FILM": "short.toml"}),
    "ladder": (["-ql", "-s", "scenes/ladder.py"], {"TILESIM_FILM": "ladder.toml"}),
    "roofline": (["-ql", "-s", "scenes/roofline.py"], {"TILESIM_FILM": "ladder.toml"}),
    "transparent": (["-ql", "-t", "--format", "mov", "scenes/naive.py"], {}),
    "missing": (["-ql", "scenes/race.py"], {"TILESIM_FILM": "none.toml"}),
    "broken": (["-ql", "scenes/race.py"], {"TILESIM_FILM": "broken.toml"}),
}
FILES = {
    "short.toml": "seconds = 6\n",
    "broken.toml": 'sms = "4\n',
    "ladder.toml": 'ladder = "own.json"\n',
    "own.json": json.dumps(values()),
}


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """All of RENDERS, two at a time, each with a clone of its own: (exit code, stdout, stderr, clone)."""
    results, waiting, running = {}, list(RENDERS.items()), {}
    while waiting or running:
        while waiting and len(running) < 2:
            name, (args, environment) = waiting.pop(0)
            clone = tmp_path_factory.mktemp(name)
            shutil.copy(ROOT / "manim.cfg", clone)
            shutil.copytree(ROOT / "scenes", clone / "scenes", ignore=shutil.ignore_patterns("__pycache__"))
            for file, text in FILES.items():
                (clone / file).write_text(text)
            running[name] = (
                clone,
                subprocess.Popen(
                    [sys.executable, "-m", "manim", "render", *args],
                    cwd=clone,
                    env={**os.environ, **environment},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                ),
            )
        name = next(iter(running))
        clone, process = running.pop(name)
        results[name] = (*process.communicate(timeout=120), process.returncode, clone)
    return results


def made(rendered, name, suffix):
    """The one finished file of a render."""
    out, err, code, clone = rendered[name]
    assert code == 0, err + out
    files = [path for path in clone.glob(f".cache/manim/**/*{suffix}") if "partial" not in str(path)]
    assert len(files) == 1 and not (clone / "media").exists()
    return files[0]


def decode(path, wanted=(0, -1)):
    """(frames/s, number of frames, those of them that are wanted)."""
    with av.open(str(path)) as container:
        shown = list(container.decode(video=0))
        pixels = [shown[index].to_ndarray(format="rgb24").astype(int) for index in wanted]
        return float(container.streams.video[0].average_rate), len(shown), pixels


@pytest.mark.parametrize("name", ["naive", "persistent", "race"])
def test_manim_renders_the_film_that_export_exports(rendered, name):
    seconds = (0, 6, 9, 14)
    rate, count, shown = decode(made(rendered, name, ".mp4"), [15 * second for second in seconds])
    assert (rate, count, shown[0].shape) == (15, 225, (480, 854, 3))
    for second, pixels in zip(seconds, shown, strict=True):
        assert np.abs(pixels - painted(name, second)[..., :3]).mean() < 3.2


def test_manims_film_says_which_colours_it_has(rendered):
    with av.open(str(made(rendered, "race", ".mp4"))) as container:
        frame = next(container.decode(video=0))
    assert (frame.colorspace, frame.color_range) == (Colorspace.ITU709, ColorRange.MPEG)


@pytest.mark.parametrize("settings", [{"transparent": True}, {"background_opacity": 0.5}])
def test_a_transparent_film_is_refused_before_anything_is_written(settings, tmp_path):
    with tempconfig({"media_dir": str(tmp_path)} | settings), pytest.raises(SystemExit, match=r"^error: .*-t"):
        SCENES["persistent"]()
    assert not list(tmp_path.iterdir())


def test_other_renderers_are_refused():
    with pytest.raises(SystemExit, match=r"error: object cannot draw this film; leave the renderer to"):
        SCENES["race"](object())


def test_the_classroom_comes_from_its_file(rendered):
    with Image.open(made(rendered, "classroom", ".png")) as image:
        last = np.asarray(image.convert("RGB")).astype(int)
    assert film("classroom race").traces[0].device.sms == 4
    assert np.abs(last - painted("classroom race", 15.0)[..., :3]).mean() < 1


@pytest.mark.parametrize("name", CLIMBS)
def test_a_ladder_comes_from_its_file(rendered, name):
    with Image.open(made(rendered, name, ".png")) as image:
        last = np.asarray(image.convert("RGB")).astype(int)
    assert np.abs(last - painted(name, 16.0)[..., :3]).mean() < 1


def test_a_gif_as_manim_writes_it(rendered):
    _, count, (first, last) = decode(made(rendered, "gif", ".gif"))
    assert count >= 60 and first.shape == (480, 854, 3)
    assert np.abs(last - first).max() > 50


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing", "TILESIM_FILM: none.toml: there is no such file"),
        ("broken", "broken.toml: this is not a TOML file"),
        ("transparent", "this film cannot be transparent"),
    ],
)
def test_what_cannot_be_rendered_is_one_sentence(rendered, name, words):
    out, err, code, clone = rendered[name]
    assert code == 1 and err.splitlines()[-1].startswith("error: ") and words in err
    assert "Traceback" not in out + err and "│" not in out + err
    assert not [path for path in clone.glob(".cache/**/*") if path.suffix in (".mp4", ".mov")]


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
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
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
