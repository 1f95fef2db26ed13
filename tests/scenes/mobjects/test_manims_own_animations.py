"""What Manim's users do with mobjects, done with tiles and lanes, as vectors and as images."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from manim import (
    DOWN,
    RIGHT,
    UP,
    AnimationGroup,
    Circle,
    FadeIn,
    FadeTransform,
    Group,
    Indicate,
    LaggedStart,
    Mobject,
    Restore,
    Scene,
    Square,
    Succession,
    SurroundingRectangle,
    Transform,
    ValueTracker,
    always_redraw,
)
from watching import frame

from tilesim import Device, Problem, simulate
from tilesim_scenes import Lanes, PlayTrace, TileGrid
from tilesim_scenes.mobjects.drawing.raster import Raster

FEW = simulate("persistent", Problem(384, 1536, 512), Device.named("h200", sms=4))
MANY = simulate("persistent", Problem(4096, 4096, 512), Device.named("h200"))
BEFORE, AFTER = 8000.0, 15_000.0
MADE: dict[str, Callable[[], Any]] = {
    "tiles": lambda: TileGrid(FEW, width=6.0),
    "image of tiles": lambda: TileGrid(MANY, height=4.0),
    "lanes": lambda: Lanes(FEW, width=6.0, lane_height=0.5),
    "image of lanes": lambda: Lanes(MANY, width=6.0, height=3.0),
}


@pytest.fixture(params=MADE)
def make(request: pytest.FixtureRequest) -> Callable[[], Any]:
    return lambda: MADE[request.param]().show(BEFORE)


@pytest.fixture
def scene() -> Any:
    with frame(214, 120, frame_rate=5, dry_run=True, progress_bar="none"):
        yield Scene()


def part(shown: Any) -> Mobject:
    """Something of it to point at."""
    return shown.tile(7) if hasattr(shown, "tile") else shown.span(tile=0)


def picture(*mobjects: Mobject) -> np.ndarray:
    """What is seen of mobjects alone."""
    with frame(214, 120):
        scene = Scene()
        scene.add(*mobjects)
        scene.renderer.update_frame(scene)
        return scene.renderer.get_frame().astype(int)


def same(one: Mobject, other: Mobject) -> bool:
    return bool((np.abs(picture(one) - picture(other)) < 3).all())


def moved(mobject: Any) -> Any:
    return mobject.shift(RIGHT).scale(0.5)


@pytest.mark.parametrize("first", ["run", "move"])
def test_it_runs_while_it_is_moved(first: str, make: Any, scene: Scene) -> None:
    shown = make()
    both = [PlayTrace(shown, until=AFTER, run_time=1), shown.animate.shift(RIGHT).scale(0.5)]
    scene.play(*(both if first == "run" else both[::-1]))
    assert shown.t == AFTER and same(shown, moved(make()).show(AFTER))


def test_it_runs_while_it_is_faded(make: Any, scene: Scene) -> None:
    shown = make()
    scene.play(shown.animate.set_opacity(0.3), PlayTrace(shown, until=AFTER, run_time=1))
    assert same(shown, make().set_opacity(0.3).show(AFTER))


def test_a_part_of_it_is_pointed_at_while_it_runs(make: Any, scene: Scene) -> None:
    shown = make()
    scene.add(shown)
    scene.play(Indicate(part(shown)), PlayTrace(shown, until=AFTER, run_time=1))
    assert same(shown, make().show(AFTER))


@pytest.mark.parametrize("name", ["tiles", "lanes"])
def test_its_parts_are_as_large_as_before_once_it_was_faded_in(name: str, scene: Scene) -> None:
    shown = MADE[name]().show(BEFORE)
    sizes = [(one.width, one.height) for one in shown.get_family()]
    scene.play(FadeIn(shown))
    assert [(one.width, one.height) for one in shown.get_family()] == pytest.approx(np.array(sizes))


def test_an_instant_can_be_animated(make: Any, scene: Scene) -> None:
    shown = make()
    scene.play(shown.animate.show(AFTER))
    assert shown.t == AFTER and same(shown, make().show(AFTER))


def test_what_was_saved_comes_back_with_its_instant(make: Any, scene: Scene) -> None:
    at_once, played = make(), make()
    for shown in (at_once, played):
        shown.save_state()
        moved(shown.show(AFTER)).set_opacity(0.2)
    at_once.restore()
    scene.play(Restore(played))
    for shown in (at_once, played):
        assert shown.t == BEFORE and same(shown, make())
        assert same(shown.show(AFTER), make().show(AFTER))


def test_it_becomes_one_of_another_instant_and_goes_on_from_there(make: Any, scene: Scene) -> None:
    at_once, played, other = make(), make(), moved(make()).show(AFTER)
    at_once.become(other)
    scene.play(Transform(played, other))
    for shown in (at_once, played):
        assert shown.t == AFTER and same(shown, other)
        assert same(shown.show(2 * AFTER), moved(make()).show(2 * AFTER))


def test_it_can_be_made_anew_in_each_frame(make: Any, scene: Scene) -> None:
    now = ValueTracker(BEFORE)
    shown = always_redraw(lambda: make().show(now.get_value()))
    scene.add(shown)
    scene.play(now.animate.set_value(AFTER))
    assert same(shown, make().show(AFTER))


def test_lanes_can_be_made_anew_over_other_times(scene: Scene) -> None:
    begin = ValueTracker(0)

    def make(low: float) -> Any:
        return Lanes(FEW, window=(low, low + 9000), width=6.0).show(low + 9000)

    lanes = always_redraw(lambda: make(begin.get_value()))
    scene.add(lanes)
    scene.play(begin.animate.set_value(6000))
    assert same(lanes, make(6000)) and lanes.window == (6000, 15_000)


def test_what_is_drawn_around_it_follows(make: Any, scene: Scene) -> None:
    shown = make()
    around = always_redraw(lambda: SurroundingRectangle(shown))
    scene.add(shown, around)
    scene.play(shown.animate.shift(UP))
    assert np.allclose(around.get_center(), shown.get_center(), atol=1e-6)


def test_it_is_played_in_successions_and_groups(make: Any, scene: Scene) -> None:
    shown = make()
    scene.play(
        Succession(PlayTrace(shown, until=10_000, run_time=0.4), PlayTrace(shown, until=AFTER, run_time=0.4))
    )
    assert shown.t == AFTER
    scene.play(LaggedStart(FadeIn(Square()), AnimationGroup(PlayTrace(shown, until=BEFORE, run_time=0.4))))
    assert same(shown, make())


def test_it_is_arranged_turned_and_faded_into_anything(make: Any, scene: Scene) -> None:
    shown, square = make(), Square()
    Group(shown, square).arrange(DOWN, buff=0.5)
    assert shown.get_bottom()[1] - square.get_top()[1] == pytest.approx(0.5)
    assert same(shown.rotate(0.1).show(AFTER), make().show(AFTER).rotate(0.1, about_point=shown.get_center())
                .move_to(shown))  # fmt: skip
    circle = Circle()
    scene.play(FadeTransform(shown, circle))
    assert same(scene.mobjects[0], circle)


def test_vectors_are_bent_into_anything_and_come_back(scene: Scene) -> None:
    for name in ("tiles", "lanes"):
        shown = MADE[name]().show(BEFORE)
        shown.save_state()
        scene.play(Transform(shown, Circle()))
        assert same(shown, Circle())
        shown.restore()
        assert same(shown.show(AFTER), MADE[name]().show(AFTER))


@pytest.mark.parametrize("name", ["image of tiles", "image of lanes"])
def test_what_an_image_cannot_become_is_a_sentence(name: str, scene: Scene) -> None:
    image = MADE[name]()
    assert isinstance(image, Raster)
    with pytest.raises(TypeError, match=r"an image, cannot be bent into Circle; use FadeTransform"):
        scene.play(Transform(image, Circle()))
    with pytest.raises(TypeError, match="an image, cannot become Square"):
        image.become(Square())


@pytest.mark.parametrize("name", ["image of tiles", "image of lanes"])
def test_what_cannot_become_an_image_is_a_sentence(name: str, scene: Scene) -> None:
    sentence = "no VMobject can be bent into .*, an image, nor become it; use FadeTransform"
    with pytest.raises(AttributeError, match=sentence):
        scene.play(Transform(Circle(), MADE[name]()))
    with pytest.raises(AttributeError, match=sentence):
        Square().become(MADE[name]())
