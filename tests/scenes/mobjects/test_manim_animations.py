"""Every animation that Manim exports plays on every public mobject, before and after a run; some during one.

What an animation leaves is compared with what it should leave: the mobject as it was, moved, or gone.
"""

import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import manim
import numpy as np
import pytest
from manim import (
    BLUE,
    DOWN,
    PI,
    RIGHT,
    UP,
    Animation,
    AnimationGroup,
    Circle,
    Dot,
    Group,
    Line,
    Mobject,
    MovingCameraScene,
    Scene,
    ValueTracker,
    VMobject,
)  # fmt: skip
from watching import frame, visible

import tilesim_scenes as kit
from tilesim import Device, Problem, simulate
from tilesim_scenes.animations import fade
from tilesim_scenes.mobjects.drawing.raster import Raster

FEW = simulate("persistent", Problem(128, 384, 128), Device.named("h200", sms=2))
OTHER = simulate("naive", Problem(256, 512, 128), Device.named("h200", sms=3))
MANY = simulate("persistent", Problem(256, 1024, 128), Device.named("h200"))
MORE = simulate("persistent", Problem(4096, 4096, 128), Device.named("h200"))
BEFORE, AFTER = 0.45, 0.9
"""Shares of a run."""


def over_lanes(make: Callable[[Any], Mobject]) -> Mobject:
    return make(kit.Lanes(FEW, width=4.0, lane_height=0.5))


def traffic(lanes: Any) -> Mobject:
    return kit.TileTraffic(FEW, lanes, kit.TileGrid(FEW.problem, width=3.0))


def blocks(lanes: Any) -> Mobject:
    queue = kit.Queue(range(2))
    return kit.BlockTraffic(FEW, queue, lanes, [block.get_center() for block in queue])


PLOT = kit.Plot((0, FEW.makespan), (0, 1), [1000.0], [0.5], width=4, height=3)
MADE: dict[str, Callable[[], Any]] = {
    "Badge": lambda: kit.Badge("measured", "measured"),
    "Barrier": lambda: kit.Barrier(2.0, 0.5),
    "Bars": lambda: kit.Bars([("a", 1.0, "quiet"), ("b", 2.0, "measured")], "us"),
    "BlockTraffic": lambda: over_lanes(blocks),
    "Buffers": lambda: kit.Buffers(2),
    "Caption": lambda: kit.Caption("One sentence."),
    "Chunk": lambda: kit.Chunk(1.0, 2.0, (90, 120, 200)),
    "Clock": lambda: kit.Clock(FEW.makespan),
    "Count": lambda: kit.Count("{:.0f} ns".format),
    "Curve": lambda: kit.Curve(PLOT, [(0, 0), (2000, 1), (FEW.makespan, 0.5)]),
    "Finding": lambda: kit.Finding("One.", "2x", kit.Bars([("a", 1.0, "quiet")])),
    "KPair": lambda: kit.KPair((90, 120, 200)),
    "Lanes": lambda: kit.Lanes(FEW, width=4.0, lane_height=0.5),
    "Lanes as an image": lambda: kit.Lanes(MANY, width=4.0, height=2.0),
    "MemoryLevel": lambda: kit.MemoryLevel("L2"),
    "Operands": lambda: kit.Operands(FEW.problem, width=4.0, height=3.0),
    "Plot": lambda: PLOT.copy(),
    "Queue": lambda: kit.Queue(range(2)),
    "Roofline": lambda: kit.Roofline((1, 100), (1, 100), peak=50, width=4, height=3),
    "RunPanel": lambda: kit.RunPanel(FEW, "A run", 6.0, 3.0, side=2.0),
    "RunPanel of many SMs": lambda: kit.RunPanel(MANY, "A run", 6.0, 3.0, side=2.0),
    "SM": lambda: kit.SM("SM 0", (90, 120, 200)),
    "SmLane": lambda: kit.SmLane(FEW, 1, "A run", 4.0, 0.6),
    "ThreadBlock": lambda: kit.ThreadBlock(3),
    "TileGrid": lambda: kit.TileGrid(FEW, width=3.0),
    "TileGrid as an image": lambda: kit.TileGrid(MORE, height=2.0),
    "TileTraffic": lambda: over_lanes(traffic),
    "TimeBracket": lambda: over_lanes(lambda lanes: kit.TimeBracket(lanes, 1000, 0.6 * FEW.makespan)),
    "Warp": lambda: kit.Warp(4),
}
"""By the name of each public mobject; a second instance has more words after it."""
STILL = {
    "Badge", "Barrier", "Bars", "Buffers", "Caption", "Chunk", "Finding", "KPair",
    "MemoryLevel", "Operands", "Plot", "Queue", "Roofline", "SM", "ThreadBlock", "Warp",
}  # fmt: skip
TIMED = [name for name in MADE if name not in STILL]
"""What shows an instant, and what does not."""
OTHERS: dict[str, Callable[[], Any]] = {
    "Bars": lambda: kit.Bars([("c", 3.0, "quiet")], "us"),
    "Clock": lambda: kit.Clock(99_999),
    "Lanes": lambda: kit.Lanes(OTHER, width=5.0, lane_height=0.4),
    "Lanes as an image": lambda: kit.Lanes(MORE, width=3.0, height=3.0),
    "Queue": lambda: kit.Queue(range(3)),
    "RunPanel": lambda: kit.RunPanel(OTHER, "Another", 6.0, 3.0, side=2.0),
    "SmLane": lambda: kit.SmLane(OTHER, 0, "Another", 5.0, 0.8),
    "TileGrid": lambda: kit.TileGrid(OTHER, width=4.0),
    "TileGrid as an image": lambda: kit.TileGrid(
        simulate("naive", Problem(4096, 4224, 128), Device.named("h200")), height=2.5
    ),
}
"""One that differs from the first in number and kind of its members."""


@cache
def models() -> dict[str, Any]:
    """Letters take long to make, so all are copies of one of each."""
    with frame(96, 54):
        return {name: make() for name, make in MADE.items()} | {
            f"other {name}": make() for name, make in OTHERS.items()
        }


def fresh(name: str, share: float | None = None) -> Any:
    made = models()[name].copy()
    return at(made, share) if share is not None and hasattr(made, "t") else made


def at(mobject: Any, share: float) -> Any:
    run = getattr(mobject, "trace", None) or FEW
    return mobject.show(share * run.makespan)


def scaled(mobject: Any) -> Any:
    return mobject.shift(RIGHT).scale(0.5)


def plain(*animations: type[Animation]) -> dict[str, Callable[[Any], Any]]:
    """Animations that need nothing but a mobject, by their names."""
    return {animation.__name__: animation for animation in animations}


KEEPS: dict[str, Callable[[Any], Animation]] = plain(
    manim.Add, manim.ApplyWave, manim.Broadcast, manim.Circumscribe, manim.Create, manim.DrawBorderThenFill,
    manim.FadeIn, manim.Flash, manim.FocusOn, manim.GrowFromCenter, manim.Indicate, manim.SpinInFromNothing,
    manim.Wiggle, manim.Write,
) | {
    "Animation": lambda m: manim.Animation(m, run_time=0.5),
    "AnimationGroup": lambda m: AnimationGroup(manim.Indicate(m), manim.Create(Dot())),
    "ChangeSpeed": lambda m: manim.ChangeSpeed(manim.Indicate(m), {0.5: 1.0}),
    "FadeIn shifted and scaled": lambda m: manim.FadeIn(m, shift=UP, scale=0.5),
    "FadeIn without copies": lambda m: fade.FadeIn(m, shift=UP, scale=0.5),
    "FadeIn in a group": lambda m: manim.FadeIn(Group(m, Dot())),
    "GrowFromEdge": lambda m: manim.GrowFromEdge(m, DOWN),
    "GrowFromPoint": lambda m: manim.GrowFromPoint(m, 2 * UP),
    "LaggedStart": lambda m: manim.LaggedStart(manim.FadeIn(Dot()), manim.Indicate(m), lag_ratio=0.5),
    "LaggedStartMap": lambda m: manim.LaggedStartMap(manim.Indicate, m),
    "Restore": lambda m: (m.save_state(), scaled(m), manim.Restore(m))[2],
    "Rotating": lambda m: manim.Rotating(m, run_time=0.5),
    "ShowPartial": lambda m: manim.Create(m, lag_ratio=0),
    "Succession": lambda m: manim.Succession(manim.Indicate(m), manim.Indicate(m)),
    "Wait": lambda m: manim.Wait(0.5),
    "UpdateFromFunc": lambda m: manim.UpdateFromFunc(m, lambda one: None),
}  # fmt: skip
"""What they leave looks as before."""
MOVES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "ApplyFunction": (lambda m: manim.ApplyFunction(scaled, m), scaled),
    "ApplyMatrix": (
        lambda m: manim.ApplyMatrix([[1, 0.5], [0, 1]], m),
        lambda m: m.apply_matrix([[1, 0.5], [0, 1]], about_point=np.zeros(3)),
    ),
    "ApplyMethod": (lambda m: manim.ApplyMethod(m.shift, UP), lambda m: m.shift(UP)),
    "ApplyPointwiseFunction": (
        lambda m: manim.ApplyPointwiseFunction(lambda p: 0.5 * p, m),
        lambda m: m.apply_function(lambda p: 0.5 * p),
    ),
    "ComplexHomotopy": (
        lambda m: manim.ComplexHomotopy(lambda z, t: z + t, m), lambda m: m.shift(RIGHT)),
    "CyclicReplace": (lambda m: manim.CyclicReplace(m, Dot(2 * UP)), lambda m: m.move_to(2 * UP)),
    "Homotopy": (lambda m: manim.Homotopy(lambda x, y, z, t: (x + t, y, z), m), lambda m: m.shift(RIGHT)),
    "MaintainPositionRelativeTo": (
        lambda m: AnimationGroup((dot := Dot()).animate.shift(UP), manim.MaintainPositionRelativeTo(m, dot)),
        lambda m: m.shift(UP),
    ),
    "MoveAlongPath": (lambda m: manim.MoveAlongPath(m, Line(0 * UP, UP)), lambda m: m.move_to(UP)),
    "MoveToTarget": (lambda m: (m.generate_target(), scaled(m.target), manim.MoveToTarget(m))[2], scaled),
    "PhaseFlow": (lambda m: manim.PhaseFlow(lambda p: 0 * p + UP, m, run_time=0.5), lambda m: m.shift(UP)),
    "Rotate": (lambda m: manim.Rotate(m, PI / 3), lambda m: m.rotate(PI / 3)),
    "ScaleInPlace": (lambda m: manim.ScaleInPlace(m, 0.5), lambda m: m.scale(0.5)),
    "Swap": (lambda m: manim.Swap(m, Dot(2 * UP)), lambda m: m.move_to(2 * UP)),
    "UpdateFromAlphaFunc": (
        lambda m: manim.UpdateFromAlphaFunc(m, lambda one, alpha: one.move_to(alpha * UP)),
        lambda m: m.move_to(UP),
    ),
    "animate": (lambda m: scaled(m.animate), scaled),
    "animate.set_opacity": (lambda m: m.animate.set_opacity(0.5), lambda m: m.set_opacity(0.5)),
    "Transform": (lambda m: manim.Transform(m, scaled(m.copy())), scaled),
    "ClockwiseTransform": (lambda m: manim.ClockwiseTransform(m, scaled(m.copy())), scaled),
    "CounterclockwiseTransform": (lambda m: manim.CounterclockwiseTransform(m, scaled(m.copy())), scaled),
    "FadeToColor": (lambda m: manim.FadeToColor(m, BLUE), lambda m: m.set_color(BLUE)),
}  # fmt: skip
"""What they leave looks as if the second function had been called."""
LEAVES: dict[str, Callable[[Any], Any]] = plain(manim.FadeOut, manim.ShowPassingFlash) | {
    "FadeOut shifted and scaled": lambda m: manim.FadeOut(m, shift=UP, scale=0.5),
    "FadeOut without copies": lambda m: fade.FadeOut(m, shift=UP, scale=0.5),
    "FadeOut in a group": lambda m: manim.FadeOut(Group(m, Dot())),
}
"""After these it is gone, and looks as before when it is added again."""
ENDS: dict[str, Callable[[Any], Any]] = plain(
    manim.Blink, manim.ShowIncreasingSubsets, manim.ShowSubmobjectsOneByOne, manim.ShrinkToCenter,
    manim.SpiralIn, manim.Uncreate, manim.Unwrite,
) | {
    "ApplyComplexFunction": lambda m: manim.ApplyComplexFunction(np.exp, m),
    "FadeTransform": lambda m: manim.FadeTransform(m, Circle()),
    "FadeTransformPieces": lambda m: manim.FadeTransformPieces(m, m.copy().shift(UP)),
    "ReplacementTransform": lambda m: manim.ReplacementTransform(m, m.copy().shift(UP)),
    "ReplacementTransform into a circle": lambda m: manim.ReplacementTransform(m, Circle()),
    "ShowPassingFlashWithThinningStrokeWidth": (
        lambda m: manim.ShowPassingFlashWithThinningStrokeWidth(m, n_segments=2)
    ),
    "TransformFromCopy": lambda m: manim.TransformFromCopy(m, m.copy().shift(UP)),
    "TransformMatchingShapes": lambda m: manim.TransformMatchingShapes(m, m.copy().shift(UP)),
}  # fmt: skip
"""What they leave looks otherwise, or is another mobject; to show a later instant of it is no fault."""
NOT_FOR_THESE = {
    "AddTextLetterByLetter", "AddTextWordByWord", "RemoveTextLetterByLetter", "TypeWithCursor",
    "UntypeWithCursor", "ChangeDecimalToValue", "ChangingDecimal", "GrowArrow", "TransformMatchingTex",
}  # fmt: skip
"""Animations of texts, numbers and arrows."""
BROKEN = {"ApplyPointwiseFunctionToCenter", "SmoothedVectorizedHomotopy", "TransformAnimations"}
"""Manim 0.22 has them, but they fail for every mobject."""


class Quick(Scene):
    """Every animation takes two frames."""

    def play(self, *animations: Any, **kwargs: Any) -> None:
        super().play(*animations, **({"run_time": 0.5} | kwargs))


@pytest.fixture
def scene() -> Iterator[Any]:
    with frame(96, 54, frame_rate=4):
        yield Quick()


def look(mobject: Mobject) -> list[np.ndarray]:
    """What can be seen of a mobject, in order."""
    looks = []
    for one in mobject.get_family():
        if isinstance(one, Raster):
            looks += [one.points, np.array([one.opacity]), one.pixel_array.mean(axis=(0, 1)) / 2550]
        elif isinstance(one, VMobject) and visible(one) and (one.fill_rgbas[0, 3] or one.stroke_rgbas[0, 3]):
            box = np.array([one.points.min(axis=0), one.points.max(axis=0)])
            looks += [box, one.fill_rgbas[:1], one.stroke_rgbas[:1], np.array([one.stroke_width])]
    return looks


def assert_same(one: Mobject, other: Mobject) -> None:
    ours, theirs = look(one), look(other)
    assert len(ours) == len(theirs)
    for mine, yours in zip(ours, theirs, strict=True):
        assert np.allclose(mine, yours, atol=1e-3)


REFUSED = ("an image", "only works for", "has no attribute", "of type VMobject")
"""What Manim, or an image, says that cannot be animated so."""


def alone(scene: Any, shown: Mobject) -> Any:
    """The mobject, with nothing else in the scene."""
    scene.clear()
    scene.add(shown)
    return shown


def is_in(shown: Mobject, scene: Any) -> bool:
    return bool(set(shown.get_family()) & set(scene.get_mobject_family_members()))


def is_image(name: str) -> bool:
    return "image" in name or "RunPanel" in name


def plays(scene: Any, make: Callable[[], Any]) -> bool:
    """Play an animation; False where it said in one line that it is not for such a mobject."""
    try:
        animation = make()
        scene.play(animation)
    except (TypeError, AttributeError) as error:
        sentence = str(error)
        assert "\n" not in sentence and any(word in sentence for word in REFUSED), sentence
        return False
    return True


def is_or_has_image(mobject: Mobject) -> bool:
    return any(isinstance(one, Raster) for one in mobject.get_family()) or not isinstance(mobject, VMobject)


def test_every_public_mobject_and_every_animation_of_manim_is_here() -> None:
    public = {
        name
        for name in kit.__all__
        if isinstance(getattr(kit, name), type) and issubclass(getattr(kit, name), Mobject)
    }
    assert {name.split()[0] for name in MADE} == public
    exported = {
        name for name, one in vars(manim).items() if inspect.isclass(one) and issubclass(one, Animation)
    }
    played = {name.split()[0] for name in (*KEEPS, *MOVES, *LEAVES, *ENDS)}
    assert exported - played == NOT_FOR_THESE | BROKEN


@pytest.mark.parametrize("name", MADE)
def test_manims_animations_play(name: str, scene: Any) -> None:
    """Each within a run of some mobjects, and after one of the others."""
    leaving_all = {title: (make, lambda m: m) for title, make in (KEEPS | LEAVES).items()}
    for number, (title, (make, target)) in enumerate((leaving_all | MOVES).items(), list(MADE).index(name)):
        share = (BEFORE, 1.0)[number % 2]
        shown = alone(scene, fresh(name, share))
        if not plays(scene, lambda: make(shown)):  # noqa: B023
            assert is_or_has_image(shown), title
            continue
        assert_same(shown, target(fresh(name, share)))
        if hasattr(shown, "t"):
            assert_same(at(shown, AFTER), at(target(fresh(name, share)), AFTER))
        assert is_in(shown, scene) == (title not in LEAVES), title


@pytest.mark.parametrize("name", MADE)
def test_animations_that_end_a_mobject_play(name: str, scene: Any) -> None:
    for title, make in ENDS.items():
        shown = alone(scene, fresh(name, BEFORE))
        assert plays(scene, lambda: make(shown)) or is_or_has_image(shown), title  # noqa: B023
        if hasattr(shown, "t"):
            at(shown, AFTER)


DURING = {title: MOVES[title] for title in ("Transform", "animate", "animate.set_opacity", "Rotate")} | {
    title: ((KEEPS | LEAVES)[title], lambda m: m)
    for title in ("FadeIn", "FadeOut", "FadeOut shifted and scaled", "FadeOut in a group", "Indicate")
}


def until(shown: Any, share: float = AFTER) -> Any:
    run = getattr(shown, "trace", None) or FEW
    return kit.PlayTrace(shown, until=share * run.makespan, run_time=0.5)


@pytest.mark.parametrize("name", TIMED)
def test_manims_animations_play_during_a_run(name: str, scene: Any) -> None:
    for title, (make, target) in DURING.items():
        for order in (1, -1):
            shown = alone(scene, fresh(name, BEFORE))
            scene.play(*[make(shown), until(shown)][::order])
            assert_same(shown, at(target(fresh(name, BEFORE)), AFTER))
            assert is_in(shown, scene) == (title not in LEAVES)
        shown = fresh(name, BEFORE)
        scene.play(AnimationGroup(make(shown), until(shown)))
        assert_same(shown, at(target(fresh(name, BEFORE)), AFTER))


def test_what_cannot_play_during_a_run_is_a_sentence(scene: Any) -> None:
    shown, other = fresh("Lanes", BEFORE), fresh("Clock", BEFORE)
    scene.play(manim.Wiggle(other), until(shown))
    with pytest.raises(ValueError, match="Wiggle cannot play while PlayTrace draws the same mobject"):
        scene.play(manim.Wiggle(shown.span(tile=0)), until(shown))


@pytest.mark.parametrize("name", [name for name in TIMED if not is_image(name)])
def test_what_becomes_something_else_during_a_run_keeps_its_look(name: str, scene: Any) -> None:
    shown = fresh(name, BEFORE)
    shown.save_state()
    scene.play(manim.Transform(shown, Circle()), until(shown))
    scene.play(until(shown, 1.0))
    scene.play(manim.Restore(shown))
    assert_same(shown, fresh(name, BEFORE))
    scene.play(until(shown))
    assert_same(shown, fresh(name, AFTER))


@pytest.mark.parametrize("how", ["Transform", "become", "during a run", "back and forth"])
@pytest.mark.parametrize("name", OTHERS)
def test_one_becomes_another_with_its_data(name: str, how: str, scene: Any) -> None:
    shown, other = fresh(name, BEFORE), fresh(f"other {name}", 0.7)
    timed, target = hasattr(shown, "t"), other
    if how == "become":
        shown.become(other)
    elif how == "Transform":
        scene.play(manim.Transform(shown, other))
    elif how == "during a run":
        scene.play(manim.Transform(shown, other), *([until(shown)] if timed else []))
    else:
        scene.play(manim.Transform(shown, other, rate_func=manim.there_and_back))
        target = fresh(name, BEFORE)
    if timed:
        for share in (0.3, 1.0):
            assert_same(at(shown, share), at(target.copy(), share))
    else:
        assert len(shown.get_family()) >= len(target.get_family())


def test_a_group_of_them_is_faded_out_and_transformed(scene: Any) -> None:
    first, second = (
        Group(fresh("TileGrid", share), fresh("Lanes", share), fresh("Lanes as an image", share), Dot())
        for share in (BEFORE, AFTER)
    )
    scene.play(manim.FadeOut(first))
    scene.play(manim.Transform(first, second.shift(UP)))
    assert [one.t for one in first[:3]] == [one.t for one in second[:3]]
    scene.play(kit.PlayTrace(*first[:2], until=FEW.makespan, run_time=0.5))
    assert_same(first[0], fresh("TileGrid", 1.0).shift(UP))


@pytest.mark.parametrize("name", TIMED)
def test_an_updater_moves_the_clock_and_a_copy_keeps_its_own(name: str, scene: Any) -> None:
    now, shown = ValueTracker(BEFORE), fresh(name, BEFORE)
    kept = shown.copy()
    shown.set_z_index(3).add_updater(lambda one: at(one, now.get_value()))
    scene.add(shown)
    scene.play(now.animate.set_value(AFTER))
    assert_same(shown, fresh(name, AFTER))
    assert_same(kept, fresh(name, BEFORE))
    assert shown.z_index == 3 and shown.copy().z_index == 3


@pytest.mark.parametrize("name", TIMED)
def test_an_instant_can_be_animated_and_runs_can_follow_each_other(name: str, scene: Any) -> None:
    shown, run = fresh(name, BEFORE), getattr(fresh(name), "trace", None) or FEW
    scene.play(shown.animate.show(AFTER * run.makespan))
    assert shown.t == pytest.approx(AFTER * run.makespan)
    assert_same(at(shown, 1.0), fresh(name, 1.0))
    scene.play(manim.Succession(until(shown, 0.2), until(shown, BEFORE)))
    assert_same(shown, fresh(name, BEFORE))


@pytest.mark.parametrize("part", [lambda grid, _: grid.tile(0), lambda _, lanes: lanes.span(tile=0)])
def test_a_part_is_pointed_at_during_a_run(part: Any, scene: Any) -> None:
    grid, lanes = fresh("TileGrid", AFTER), fresh("Lanes", AFTER)
    scene.add(grid, lanes)
    scene.play(manim.Indicate(part(grid, lanes)), kit.PlayTrace(grid, lanes, until=FEW.makespan))
    assert_same(grid, fresh("TileGrid", 1.0))
    assert_same(lanes, fresh("Lanes", 1.0))


@pytest.mark.parametrize("name", ["Lanes as an image", "TileGrid as an image"])
def test_what_an_image_cannot_become_is_a_sentence(name: str, scene: Any) -> None:
    with pytest.raises(TypeError, match="an image, cannot be bent into Circle; use FadeTransform"):
        scene.play(manim.Transform(fresh(name), Circle()))
    with pytest.raises(TypeError, match="an image, cannot become Dot"):
        fresh(name).become(Dot())
    sentence = "no VMobject can be bent into .*, an image, nor become it; use FadeTransform"
    with pytest.raises(AttributeError, match=sentence):
        scene.play(manim.Transform(Circle(), fresh(name)))
    with pytest.raises(AttributeError, match=sentence):
        Dot().become(fresh(name))


@pytest.mark.parametrize("name", MADE)
def test_opacity_reaches_all_that_is_seen(name: str) -> None:
    with frame(96, 54):
        shown = fresh(name, AFTER).set_opacity(0)
        for one in shown.get_family():
            if isinstance(one, Raster):
                assert one.opacity == 0
            elif isinstance(one, VMobject):
                assert not one.fill_rgbas[:, 3].any() and not one.stroke_rgbas[:, 3].any()


def test_a_moving_camera_sees_them_while_they_run() -> None:
    with frame(96, 54, frame_rate=4):
        scene = MovingCameraScene()
        shown = Group(*(fresh(name, BEFORE) for name in TIMED))
        scene.add(shown)
        scene.play(scene.camera.frame.animate.scale(0.5), *(until(one) for one in shown), run_time=0.5)
        for name, one in zip(TIMED, shown, strict=True):
            assert_same(one, fresh(name, AFTER))


@pytest.mark.parametrize(("kind", "few", "many"), [(kit.Lanes, FEW, MANY), (kit.TileGrid, FEW, MORE)])
def test_lanes_and_tiles_are_classes(kind: Any, few: Any, many: Any) -> None:
    class Mine(kind):
        def __init__(self, run: Any, note: str, **options: Any) -> None:
            super().__init__(run, **options)
            self.note = note

    with frame(96, 54):
        for run in (few, many):
            assert isinstance(kind(run), kind) and not isinstance(kind(run), Mine)
            mine = Mine(run, "note", width=3.0).copy()
            assert isinstance(mine, Mine) and mine.note == "note"
            assert_same(at(mine, AFTER), at(kind(run, width=3.0), AFTER))
            assert set(inspect.signature(type(kind(run)).__init__).parameters) == set(
                inspect.signature(kind.__init__).parameters
            )


@pytest.mark.parametrize("former", kit.FORMER)
def test_a_former_name_still_works_and_says_the_new_one(former: str) -> None:
    with pytest.warns(DeprecationWarning, match=kit.FORMER[former]):
        assert getattr(kit, former) is getattr(kit, kit.FORMER[former])
