"""Plays: a time for all of a play's animations, or one for each, as Manim lets the first override these."""

import ast
from pathlib import Path

import pytest

import tilesim_scenes

SCENES = Path(tilesim_scenes.__file__).parent


def lasting(call: ast.AST) -> bool:
    """Whether it is a call that says how long something lasts."""
    return isinstance(call, ast.Call) and any(keyword.arg == "run_time" for keyword in call.keywords)


def overridden(source: str) -> list[int]:
    """The lines of plays that give a run time to animations that have one."""
    plays = (node for node in ast.walk(ast.parse(source)) if lasting(node))
    return [
        play.lineno
        for play in plays
        if isinstance(play.func, ast.Attribute)
        and play.func.attr == "play"
        and any(lasting(node) for animation in play.args for node in ast.walk(animation))
    ]


def test_a_run_time_within_a_play_that_has_one_is_found():
    assert overridden("self.play(\n    FadeOut(a, run_time=0.3), run_time=1)") == [1]
    assert overridden("self.play(FadeOut(a), run_time=1)\nself.play(FadeOut(a, run_time=0.3))") == []


@pytest.mark.parametrize("path", sorted(SCENES.rglob("*.py")), ids=lambda path: str(path.relative_to(SCENES)))
def test_no_play_overrides_the_run_time_of_an_animation(path: Path) -> None:
    assert overridden(path.read_text("utf-8")) == []
