"""What Extending says is enough is enough: in a clone, a file is a schedule, and a file is a film."""

import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from figures.course import page_of
from pages import ROOT, run

from tilesim.declared import Declared, after, course, films, name_of, parts
from tilesim_scenes.film.course import OURS

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


def test_a_file_beside_the_schedules_is_a_schedule_that_computes_every_tile(clone: Path) -> None:
    text = (ROOT / "tilesim/schedules/persistent.py").read_text("utf-8")
    head = "def persistent(problem: Problem, device: Device)"
    stride = text.replace(head, "def stride(problem, device, s)")
    stride = stride.replace("device.sms * device.ctas_per_sm", "s")
    (clone / "tilesim/schedules/stride.py").write_text(stride, "utf-8")
    done = tilesim(clone, "simulate", "stride:2", "--json")
    assert done.returncode == 0 and '"launches": 2' in done.stdout, done.stderr
    assert "stride:S" in tilesim(clone, "list").stdout
    wrong = stride.replace("rasterize(problem)", "(rasterize(problem) // 2)")
    assert wrong.count("// 2") == 1
    (clone / "tilesim/schedules/stride.py").write_text(wrong, "utf-8")
    refused = tilesim(clone, "simulate", "stride:2")
    (clone / "tilesim/schedules/stride.py").unlink()
    assert refused.returncode in (1, 2) and "tile 256 is never computed" in refused.stderr


@pytest.fixture
def tail(clone: Path) -> Declared:
    """What the film of the page declares, once its file is among the scenes."""
    shutil.copy(ROOT / "examples/tail.py", clone / "scenes/tail.py")
    films.cache_clear()
    return films(clone / "scenes")["tail"]


def test_a_film_is_listed_in_its_part_and_shown_in_the_course_where_its_place_is(
    clone: Path, tail: Declared
) -> None:
    done = tilesim(clone, "list")
    assert done.returncode == 0, done.stderr
    listed = [line.strip() for line in done.stdout.splitlines()]
    between = [number for number, line in enumerate(listed) if line in parts(films(clone / "scenes"))]
    (at,) = (number for number, line in enumerate(listed) if line.startswith("tail "))
    assert listed[max(number for number in between if number < at)] == tail.part
    assert listed[at].endswith(f"{tail.title}: {tail.question}")
    assert tail.question in tilesim(clone, "info", "tail").stdout
    found = films(clone / "scenes")
    before = max((film for film in OURS.values() if film.place < tail.place), key=lambda film: film.place)
    assert after(name_of(before.file), found) == "tail"
    assert after("tail", found) == after(name_of(before.file), OURS)
    assert [name for name in course(found) if name != "tail"] == list(course(OURS))


def test_the_page_of_a_film_is_that_of_its_name_or_else_one_with_its_poster(tail, tmp_path) -> None:
    (tmp_path / "ideas").mkdir()
    (tmp_path / "ideas/other.md").write_text("The film `tail`, without its poster.\n", "utf-8")
    assert page_of("tail", tail, tmp_path) == ""
    (tmp_path / "films.md").write_text("[![Tail](../media/tail.png)](../media/tail.mp4)\n", "utf-8")
    assert page_of("tail", tail, tmp_path) == "films.md"
    (tmp_path / "ideas/tail.md").write_text("# Tail\n", "utf-8")
    assert page_of("tail", tail, tmp_path) == "ideas/tail.md"


def test_a_file_beside_the_scenes_is_a_film(clone: Path, tail: Declared) -> None:
    pytest.importorskip("manim")
    cut = ["--size", "480p", "--fps", "5", "--from", "2", "--to", "4", "-o", "film.mp4"]
    done = tilesim(clone, "export", "tail", *cut)
    assert done.returncode == 0, done.stderr
    assert (clone / "film.mp4").stat().st_size > 1000
