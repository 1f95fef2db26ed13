"""The tools in benchmarks/: what they compare computes the same, what they call exists, and examples hold."""

import ast
import doctest
from pathlib import Path

import alternation
import exports
import incremental
import mutants
import ordinary
import pytest
import rendering
import table
import unseen_products
from simulation import agree

from tilesim import Problem


@pytest.mark.parametrize("problem", [Problem(1, 1, 1), Problem(128 * 20, 256 * 50, 512)])
@pytest.mark.parametrize("schedule", ["naive", "persistent"])
def test_contenders_find_the_same_times(schedule, problem):
    assert agree(schedule, problem)


def test_a_race_has_as_many_tiles_as_its_row_says():
    assert all(Problem(m, n, 512).tiles == tiles for tiles, (m, n) in rendering.RACES.items())


def test_what_is_named_is_there():
    for file, scene in (command[-2:] for command in rendering.CONTENDERS.values() if "manim" in command):
        tree = ast.parse(Path(file).read_text("utf-8"))
        assert scene in [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    assert set(rendering.GOALS) <= set(rendering.CONTENDERS)
    assert all(hasattr(ordinary, name) for name in [*incremental.SCENES, *incremental.RACES.values()])


def test_the_encoders_are_compared_on_the_same_frames(monkeypatch):
    monkeypatch.setattr(exports, "SIZE", (320, 180))
    monkeypatch.setattr(exports, "FPS", 4)
    found = exports.quality("MovingSquare")
    assert 0.9 < found["ssim"] <= 1.0
    assert 0.9 < found["Manim's ssim"] <= 1.0


@pytest.mark.parametrize("renderer", ["manim", "ours"])
def test_both_renderers_make_as_many_frames(monkeypatch, renderer):
    small = {"pixel_width": 160, "pixel_height": 90, "frame_rate": 4}
    monkeypatch.setattr(incremental, "SETTINGS", incremental.SETTINGS | small)
    assert incremental.rendered("MovingSquare", renderer)["frames"] == 20


@pytest.mark.parametrize("module", [alternation, mutants, table, unseen_products], ids=lambda m: m.__name__)
def test_examples_hold(module):
    found = doctest.testmod(module)
    assert found.attempted and not found.failed
