"""What the ladder's film says, held against the file that ships and against a ladder that nobody measured."""

import json

import pytest
from ladders import STEPS, row, values, write

from tilesim.ladder.file import ladders, parse
from tilesim_scenes.film.settings import FilmError
from tilesim_scenes.story.ideas.ladder import MOST, ladders_of, tell


@pytest.fixture(scope="module")
def story():
    every, shown = ladders_of({})
    return tell(shown, every)


def test_each_gain_is_to_the_step_before(story):
    speeds = [rung.step.tflops for rung in story.rungs]
    for before, rung in zip(speeds, story.rungs[1:], strict=False):
        assert rung.gain == pytest.approx(rung.step.tflops / before)


def test_a_step_that_changed_its_tile_or_its_stages_says_so(story):
    """Not each step changed one thing alone."""
    besides = {rung.step.name: rung.besides for rung in story.rungs}
    assert "128×256×64" in besides["tiled"] and "128×128×64" in besides["ping-pong"]
    assert "6 stages" in besides["ping-pong"] and "4 stages" in besides["overlapped"]
    assert "groups of 12" in besides["warp-specialized"]
    assert not any(besides[name] for name in ("grouped", "pipelined", "tma", "persistent"))


def test_the_first_step_wins_what_was_measured_at_the_problem_that_has_the_one_before(story):
    (shipped,) = ladders()
    element, tiles = shipped.of(m=2048, n=2048, k=2048).steps[:2]
    assert story.rungs[0].gain == pytest.approx(tiles.tflops / element.tflops)
    assert 70 < story.rungs[0].gain < 75 and "2048³" in story.rungs[0].besides


def test_no_step_is_named_after_a_flaw(story):
    assert not {rung.name for rung in story.rungs} & {"uncoalesced", "naive"}


def test_the_aside_names_a_problem_where_cublas_is_faster(story):
    (shipped,) = ladders()
    cube = shipped.of(m=4096, n=4096, k=4096)
    ours = next(step for step in cube.steps if step.name == story.best.step.name)
    assert ours.tflops < cube.yardstick.tflops
    assert f"{cube.yardstick.tflops:.0f}" in story.aside and f"{ours.tflops:.0f}" in story.aside


def test_a_best_step_that_is_behind_says_how_far():
    rows = [row(2, "tiled", 2048), row(3, "grouped", 2048), row(None, "cublas", 2048)]
    made = parse(values() | {"rows": rows})
    assert "short of cuBLAS" in tell(made, made).finding


def test_steps_of_somebody_else_are_called_as_they_are():
    rows = [row(1, "tiled", 2048) | {"name": "mine", "change": "my change"}, row(2, "tma", 2048)]
    made = parse(values() | {"rows": rows})
    first = tell(made, made).rungs[0]
    assert (first.name, first.caption, first.gain) == ("mine", "my change", None)


def test_a_ladder_of_one_step_or_of_too_many_is_no_film(tmp_path):
    one = parse(values() | {"rows": [row(1, "tiled", 2048)]})
    with pytest.raises(FilmError, match="two steps"):
        tell(one, one)
    rows = [row(number, "tiled", 2048) for number in range(1, MOST + 2)]
    with pytest.raises(FilmError, match=f"2 to {MOST}"):
        ladders_of({"ladder": write(tmp_path / "long.json", rows=rows)})


def test_the_problem_asked_for_is_shown(tmp_path):
    _, shown = ladders_of({"ladder": write(tmp_path / "own.json"), "m": 2048})
    assert (
        len(shown.steps)
        == len(json.loads((tmp_path / "own.json").read_text())["rows"][:12]) - 1
        == len(STEPS) - 1
    )
