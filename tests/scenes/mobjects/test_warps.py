"""Warps with roles: rows of phases, barriers, the pipeline between them. All follow the instant alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from manim import DOWN, LEFT, RIGHT

from tilesim.ideas.warp_specialization import Times, timeline
from tilesim_scenes.mobjects.hardware.barrier import Barrier
from tilesim_scenes.mobjects.models.phase_rows import Bar, PhaseRows, Turn, bars_of
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket

TIMES = Times(latency=700, k_step=600, write=2100, interval=600)
ONE = timeline(TIMES, tiles=2, k_steps=4, stages=3)
TWO = timeline(Times(700, 300, 1100, 300, contention=200), tiles=4, k_steps=4, stages=4, groups=2)


def rows(made=ONE) -> PhaseRows:
    lanes = {f"group {group}": bars_of(made.consumers(group), made.k_steps) for group in range(made.groups)}
    return PhaseRows({"producer": bars_of(made.loads(), wait="pause")} | lanes)


def turn() -> Turn:
    return Turn(rows(TWO), ("group 0", "group 1"), TWO)


MADE: dict[str, Callable[[], Any]] = {
    "rows": rows,
    "turn": turn,
}
INSTANTS = np.linspace(0, ONE.makespan, 23)


def look(mobject: Any) -> list[bytes]:
    """All that can be seen of a mobject."""
    family = mobject.family_members_with_points()
    inks = [np.round(np.concatenate([one.fill_rgbas, one.stroke_rgbas]), 6).tobytes() for one in family]
    return [np.round(one.points, 9).tobytes() for one in family] + inks


@pytest.fixture(params=MADE)
def make(request: pytest.FixtureRequest) -> Callable[[], Any]:
    return MADE[request.param]


def test_what_is_shown_does_not_depend_on_what_was_shown_before(make: Any) -> None:
    wandered, fresh = make(), make()
    for t in (*INSTANTS, *INSTANTS[::-3]):
        wandered.show(t)
    assert look(wandered.show(INSTANTS[9])) == look(fresh.show(INSTANTS[9]))


@pytest.mark.parametrize("name", ["rows"])
def test_it_can_be_moved_and_scaled_before_it_is_shown(name: str) -> None:
    early, late = MADE[name]().show(INSTANTS[9]), MADE[name]()
    late.shift(2 * RIGHT).scale(0.7)
    late.show(INSTANTS[9])
    early.shift(2 * RIGHT).scale(0.7)
    assert late.get_center() == pytest.approx(early.get_center(), abs=0.1)
    assert (late.width, late.height) == pytest.approx((early.width, early.height), abs=0.1)


def test_a_copy_goes_its_own_way(make: Any) -> None:
    one = make().show(INSTANTS[7])
    before, other = look(one), one.copy()
    other.show(INSTANTS[-1]).shift(DOWN)
    assert look(one) == before


def test_a_row_is_drawn_up_to_the_clock_and_to_scale() -> None:
    shown = rows().show(4000)
    assert shown.lane("group 0").get_left()[0] == pytest.approx(shown.x(0))
    multiply = shown.bar("group 0", "multiply")
    start, end = next((b.start, b.end) for b in shown.rows["group 0"] if b.kind == "multiply")
    assert (multiply.get_left()[0], multiply.get_right()[0]) == pytest.approx((shown.x(start), shown.x(end)))
    assert not len(shown.bar("group 0", "write", -1).points)


@pytest.mark.parametrize("wrong", [("nobody", "write", 0), ("group 0", "write", 9), ("group 0", "load", 0)])
def test_a_bar_that_is_not_there_is_a_key_error(wrong: tuple[str, str, int]) -> None:
    with pytest.raises(KeyError):
        rows().bar(*wrong)


def test_a_bar_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="'rest'"):
        PhaseRows({"a": [Bar("rest", 0, 1)]})


def test_a_bracket_measures_a_row() -> None:
    shown = rows()
    bracket = TimeBracket(shown, 2000, 3500, sm="group 0").show(9000)
    assert bracket.figure.text == "1.50 µs"
    assert bracket.line.get_left()[0] == pytest.approx(shown.x(2000))


@pytest.mark.parametrize("angle", [0, np.pi / 2])
def test_a_bar_lifts_around_its_left_post_wherever_the_barrier_stands(angle: float) -> None:
    barrier = Barrier(2.0).shift(3 * LEFT).rotate(angle).open(0)
    shut, length = barrier.bar.get_end().copy(), barrier.bar.get_length()
    barrier.open(1)
    assert barrier.bar.get_length() == pytest.approx(length)
    assert np.linalg.norm(barrier.bar.get_end() - shut) > 0.5 * length
    assert barrier.open(0).bar.get_end() == pytest.approx(shut)


def test_a_barrier_needs_a_width() -> None:
    with pytest.raises(ValueError, match="wider than 0"):
        Barrier(0)
