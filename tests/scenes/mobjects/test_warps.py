"""Warps with roles: rows of phases, barriers, the pipeline between them. All follow the instant alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from manim import DOWN, LEFT, RIGHT, FadeIn, ManimColor, Scene, Square, VGroup
from watching import frame

from tilesim.ideas.warp_specialization import Times, timeline
from tilesim_scenes.animations.lift import CloseBarrier, OpenBarrier
from tilesim_scenes.animations.run import PlayTrace
from tilesim_scenes.animations.unfold import GO, Unfold
from tilesim_scenes.look.theme import theme_now
from tilesim_scenes.mobjects.charts.bar_groups import BarGroups
from tilesim_scenes.mobjects.charts.bars import Bars
from tilesim_scenes.mobjects.hardware.barrier import Barrier
from tilesim_scenes.mobjects.hardware.warp import Warp
from tilesim_scenes.mobjects.models.pipelines.async_pipeline import AsyncPipeline
from tilesim_scenes.mobjects.models.pipelines.phase_rows import Bar, PhaseRows, bars_of
from tilesim_scenes.mobjects.models.pipelines.riders import Riders
from tilesim_scenes.mobjects.models.pipelines.turn import Turn
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket

TIMES = Times(latency=700, k_step=600, write=2100, interval=600)
ONE = timeline(TIMES, tiles=2, k_steps=4, stages=3)
TWO = timeline(Times(700, 300, 1100, 300, contention=200), tiles=4, k_steps=4, stages=4, groups=2)


def rows(made=ONE) -> PhaseRows:
    lanes = {f"group {group}": bars_of(made.consumers(group), made.k_steps) for group in range(made.groups)}
    return PhaseRows({"producer": bars_of(made.loads(), wait="pause")} | lanes)


def riders() -> VGroup:
    below = rows()
    return Riders(below, [Warp(8), Warp(8)])


def turn() -> Turn:
    return Turn(rows(TWO), ("group 0", "group 1"), TWO)


MADE: dict[str, Callable[[], Any]] = {
    "rows": rows,
    "riders": riders,
    "turn": turn,
    "one group": lambda: AsyncPipeline(ONE),
    "two groups": lambda: AsyncPipeline(TWO, warps=4, aspect=1.0),
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


@pytest.mark.parametrize("name", ["rows", "one group", "two groups"])
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


def test_riders_stand_ahead_of_what_they_have_done() -> None:
    group = riders()
    for t in INSTANTS:
        group.rows.show(t)
        group.show(t)
        assert all(warp.get_left()[0] >= group.rows.x(t) for warp in group)


def test_every_pair_is_in_its_stage_once_it_has_arrived_and_until_it_is_used() -> None:
    pipeline = AsyncPipeline(ONE)
    for g, (load, full, multiply) in enumerate(ONE.steps[["load", "full", "multiply"]].tolist()):
        stage = g % ONE.stages
        pair = pipeline.pairs[stage]
        pipeline.show(full)
        assert pair.get_center() == pytest.approx(pipeline.stages[stage].get_center(), abs=1e-6)
        pipeline.show((load + full) / 2)
        assert pair.get_y() < pipeline.stages[stage].get_y()
        assert multiply >= full


@pytest.mark.parametrize("made", [ONE, TWO], ids=["one group", "two groups"])
def test_a_barrier_is_shut_while_its_stage_is_not_so(made: Any) -> None:
    pipeline = AsyncPipeline(made)
    for t in np.arange(0, made.makespan, 61):
        pipeline.show(t)
        for stage in range(made.stages):
            steps = made.steps[stage :: made.stages]
            landed = (steps["full"] <= t) & (t < steps["empty"])
            if landed.any():
                assert pipeline.empty[stage].opened == 0
            else:
                assert pipeline.full[stage].opened == 0


def test_loads_that_take_no_time_are_drawn_too() -> None:
    made = timeline(Times(latency=0, k_step=10, write=0), tiles=2, k_steps=2, stages=1)
    pipeline = AsyncPipeline(made)
    for t in np.arange(0, made.makespan + 5, 0.5):
        assert np.isfinite(np.concatenate([one.points for one in pipeline.show(t).get_family()])).all()


def test_an_accumulator_is_full_when_the_main_loop_ends_and_the_tile_is_home_when_written() -> None:
    pipeline, (tile, _, start, end) = AsyncPipeline(ONE), ONE.writes[1].tolist()
    pipeline.show(start - 1)
    assert pipeline.sums[0].width == pytest.approx(pipeline.accumulators[0].width, rel=0.01)
    pipeline.show(end)
    assert pipeline.tiles[tile].get_center() == pytest.approx(pipeline.c[tile].get_center(), abs=1e-6)
    assert not len(pipeline.sums[0].points)


def test_warps_wear_what_they_do() -> None:
    theme, pipeline = theme_now(), AsyncPipeline(ONE)
    start, end = ONE.writes[["start", "end"]][0].tolist()
    for t, ink in ((10, theme.wait_text), (start - 1, pipeline.colours[0]), ((start + end) / 2, theme.write)):
        pipeline.show(t)
        assert pipeline.consumers[0][0].dots[0].get_fill_color() == ManimColor(ink)


def test_the_turn_is_with_the_group_that_multiplies() -> None:
    pipeline = AsyncPipeline(TWO, warps=4)
    for tile, group in TWO.writes[["tile", "group"]].tolist():
        middle = TWO.steps[TWO.steps["tile"] == tile]["multiply"][1]
        pipeline.show(middle)
        near, far = (pipeline.accumulators[which].get_center() for which in (group, 1 - group))
        at = pipeline.turn.get_center()
        assert np.linalg.norm(at - near) < np.linalg.norm(at - far)


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


def test_a_barrier_lifts_and_shuts_in_a_scene_and_a_pipeline_runs_there() -> None:
    with frame(160, 90):

        class Opened(Scene):
            def construct(self) -> None:
                self.barrier, self.pipeline = Barrier(), AsyncPipeline(ONE).scale(0.5)
                self.play(OpenBarrier(self.barrier))
                assert self.barrier.opened == 1
                self.play(CloseBarrier(self.barrier), FadeIn(self.pipeline))
                self.play(PlayTrace(self.pipeline, until=3000, run_time=0.4))

        scene = Opened()
        scene.render()
        assert scene.barrier.opened == 0 and scene.pipeline.t == 3000


@pytest.mark.parametrize("back", [False, True])
def test_lanes_unfold_from_things_and_back(back: bool) -> None:
    shown, things = rows(), [Square(1).shift(3 * LEFT), Square(0.5)]
    home = [ground.points.copy() for ground in shown.grounds]
    move = Unfold(shown.grounds, things, back=back)
    move.begin()
    going = move.parts[len(home) :]
    for alpha, whole in ((0.0, back), (1.0, not back)):
        move.interpolate(alpha)
        for ground, thing, one, points in zip(shown.grounds, things, going, home, strict=True):
            assert ground.get_left() == pytest.approx([points[:, 0].min(), points[:, 1].mean(), 0])
            if whole:
                assert ground.points == pytest.approx(points) and one.get_stroke_opacity() == 0
            else:
                assert ground.width == pytest.approx(0) and one.points == pytest.approx(thing.points)


def test_what_lanes_unfold_from_goes_to_their_left_ends_first() -> None:
    shown, things = rows(), [Square(1).shift(3 * LEFT), Square(0.5)]
    lefts = [ground.get_left() for ground in shown.grounds]
    move = Unfold(shown.grounds, things)
    move.begin()
    move.interpolate(GO)
    for one, left, ground in zip(move.parts[len(lefts) :], lefts, shown.grounds, strict=True):
        assert one.get_left() == pytest.approx(left) and one.height < ground.height


def test_each_lane_unfolds_from_one_thing() -> None:
    with pytest.raises(ValueError, match="2 lanes cannot unfold from 1 things"):
        Unfold(rows().grounds, [Square()])


def test_bars_of_all_groups_have_one_scale_and_stand_under_their_heading() -> None:
    chart = BarGroups({"a": [("x", 10, "quiet"), ("y", 40, "measured")], "b": [("x", 20, "quiet")]})
    alone = Bars([("x", 10, "quiet"), ("y", 40, "measured"), ("x", 20, "quiet")])
    widths = [ground.width for ground in chart.grounds]
    assert widths == pytest.approx([ground.width for ground in alone.grounds])
    heights = [chart.headings[0], *chart.grounds[:2], chart.headings[1], chart.grounds[2]]
    assert [one.get_y() for one in heights] == sorted((one.get_y() for one in heights), reverse=True)
    assert [bar.get_y() for bar in chart.bars] == pytest.approx([ground.get_y() for ground in chart.grounds])
