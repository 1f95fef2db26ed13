"""What shows an instant of a trace is a function of that instant, wherever it stands."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from manim import DOWN, RED, RIGHT, Dot, FadeIn, FadeOut, Group, Scene, Transform, VGroup, VMobject, config
from watching import frame

from tilesim import Device, Problem, Trace, simulate
from tilesim.ideas.divergence import loop
from tilesim.ideas.pipelining import pipeline
from tilesim.ideas.warp_specialization import Times, timeline
from tilesim.metrics import breakdown
from tilesim_scenes import (
    SM,
    Barrier,
    BlockTraffic,
    Clock,
    Count,
    Curve,
    KPair,
    Lanes,
    Operands,
    PlayTrace,
    Plot,
    Queue,
    TileGrid,
    TileTraffic,
    TimeBracket,
    Warp,
)
from tilesim_scenes.look.text import px
from tilesim_scenes.look.theme import sm_colours
from tilesim_scenes.mobjects.charts.share_bar import Balance, Entry
from tilesim_scenes.mobjects.models.k_steps import Loaf
from tilesim_scenes.mobjects.models.phase_rows import Bar, PhaseRows, bars_of
from tilesim_scenes.mobjects.models.pipelined_sm import PipelinedSM, PipelineRows
from tilesim_scenes.mobjects.models.warp_lanes import WarpLanes
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.lanes import KINDS, parts
from tilesim_scenes.mobjects.traces.tile_grid import TileImage
from tilesim_scenes.mobjects.words import key

FOUR = Device.named("h200", sms=4)
RUNS = {
    "naive": simulate("naive", Problem(384, 1536, 512), FOUR),
    "persistent": simulate("persistent", Problem(384, 1536, 512), FOUR),
    "stream-k": simulate("stream-k", Problem(384, 1280, 2048), FOUR),
    "two residents": simulate("naive", Problem(384, 1536, 512), Device.named("h200", sms=2, ctas_per_sm=2)),
}
OF_RUNS: dict[str, Callable[[Trace], Any]] = {
    "tiles": TileGrid,
    "lanes": Lanes,
    "a window of lanes": lambda trace: Lanes(trace, sms=[1], window=(2000, 12_000)),
    "image of tiles": TileImage,
    "image of lanes": lambda trace: LaneImage(trace, range(trace.device.sms), height=2.0),
    "clock": lambda trace: Clock(until=trace.makespan),
}
STEPS = pipeline(6, stages=2, load=989, multiply=662)
TURNS = timeline(Times(700, 300, 1100, 300, contention=200), tiles=4, k_steps=4, stages=4, groups=2)
LOOP = loop(range(1, 33), 2)
ENDS = np.cumsum(LOOP.instructions)


def blocks(trace: Trace) -> BlockTraffic:
    queue = Queue(sorted(set(trace.spans["cta"].tolist())), width=8)
    return BlockTraffic(trace, queue, Lanes(trace).shift(DOWN), [block.get_center() for block in queue])


def travelling(trace: Trace) -> TileTraffic:
    return TileTraffic(trace, Lanes(trace).shift(3 * DOWN), TileGrid(trace.problem, width=4))


def rows() -> PhaseRows:
    groups = {f"group {group}": bars_of(TURNS.consumers(group)) for group in (0, 1)}
    return PhaseRows({"producer": bars_of(TURNS.loads())} | groups)


def warp_lanes() -> WarpLanes:
    spans = np.stack([ENDS - LOOP.instructions, ENDS], axis=1)
    return WarpLanes(LOOP.masks, spans, float(ENDS[-1]), width=8, height=4)


ALONE: dict[str, tuple[Callable[[], Any], float]] = {
    "pipeline": (lambda: PipelineRows(STEPS, STEPS.makespan, width=10, height=2), STEPS.makespan),
    "processor": (lambda: PipelinedSM(STEPS, width=12, height=3), STEPS.makespan),
    "phases": (rows, TURNS.makespan),
    "warp": (warp_lanes, float(ENDS[-1])),
    "count": (lambda: Count("{:.0f} lines".format), 32),
    "curve": (lambda: Curve(Plot((0, 4), (0, 2), width=4, height=2), [(0, 0), (1, 2), (4, 1)]), 4),
}
"""What shows an instant of no trace, and the last one."""
OVER = ("blocks", "tiles that travel", "turn", "curve")
"""What is drawn over or beside others, and does not move alone."""
MADE = ALONE | {
    f"{name} of {run}": (partial(make, trace), float(trace.makespan))
    for name, make in (OF_RUNS | {"blocks": blocks, "tiles that travel": travelling}).items()
    for run, trace in RUNS.items()
}


def look(mobject: Any) -> list[bytes]:
    """All that can be seen of a mobject."""
    looks = []
    for one in mobject.get_family():
        looks.append(np.round(one.points, 9).tobytes())
        if isinstance(one, VMobject):
            looks.append(np.round(np.concatenate([one.fill_rgbas, one.stroke_rgbas]), 6).tobytes())
        else:
            looks.append(one.pixel_array.tobytes())
    return looks


@pytest.fixture(params=RUNS)
def trace(request: pytest.FixtureRequest) -> Trace:
    return RUNS[request.param]


@pytest.mark.parametrize("name", MADE)
def test_what_is_shown_does_not_depend_on_what_was_shown_before_or_by_a_copy(name: str) -> None:
    make, end = MADE[name]
    steps = np.linspace(0, end, 9)
    wandered = make()
    for t in (*steps, *steps[::-2], steps[4]):
        wandered.show(t)
    wandered.copy().show(end).shift(DOWN)
    assert look(wandered) == look(make().show(steps[4]))


@pytest.mark.parametrize("name", [name for name in MADE if not name.startswith(OVER)])
def test_it_can_be_moved_and_scaled_before_or_after_it_is_shown(name: str) -> None:
    make, end = MADE[name]
    early, late = make().show(0.2 * end), make()
    early.shift(RIGHT).scale(0.7, about_point=np.zeros(3)).show(end / 2)
    late.show(end / 2).shift(RIGHT).scale(0.7, about_point=np.zeros(3))
    # What is there is all in its place; centres differ by what was not there when it was moved.
    assert early.width == pytest.approx(late.width, abs=0.02)
    assert early.height == pytest.approx(late.height, abs=0.02)


def test_what_lanes_show_does_not_depend_on_the_window_they_showed_before(trace: Trace) -> None:
    """In the whole window, ticks have no room."""
    narrow = (0.4 * trace.makespan, 0.6 * trace.makespan)
    wandered, fresh = (Lanes(trace, width=px(400), numbers=False) for _ in range(2))
    whole = wandered.window
    for window in (narrow, whole):
        wandered.window = window
        wandered.show(trace.makespan)
    assert look(wandered) == look(fresh.show(trace.makespan))


def test_every_part_of_a_lane_is_time_of_the_run(trace: Trace) -> None:
    every = parts(trace)
    length = every.end - every.begin
    sums = {kind: int(length[every.kind == number].sum()) for number, kind in enumerate(KINDS)}
    shares = breakdown(trace)
    assert sums["multiply"] == shares["multiply"]
    assert sums["launch"] + sums["first load"] == shares["launch"]
    assert sums["hand over"] == shares["hand over"]
    assert (
        sums["wait"] + sums["fix up"] + sums["write"] >= shares["wait"] + shares["fix up"] + shares["write"]
    )


def test_a_span_stands_where_its_times_are(trace: Trace) -> None:
    lanes = Lanes(trace).show(trace.makespan)
    first = trace.spans[0]
    span = lanes.span(tile=int(first["tile"]))
    of_tile = trace.spans[trace.spans["tile"] == first["tile"]]
    assert span.get_left()[0] == pytest.approx(lanes.x(of_tile["start"].min()))
    assert span.get_right()[0] == pytest.approx(lanes.x(of_tile["drain"].max()))


@pytest.mark.parametrize("t", [5000, 12_000])
def test_vectors_and_images_of_tiles_show_the_same(trace: Trace, t: int) -> None:
    vectors, image = TileGrid(trace, width=8.0, numbers=False).show(t), TileImage(trace, width=8.0)
    pixels = image.show(t).pixel_array
    colours = {tuple(colour) for colour in sm_colours(trace.device.sms).tolist()}
    rows, columns = pixels.shape[:2]
    for tile in range(trace.problem.tiles):
        place = vectors.tile(tile)[0].get_center()
        x = (place[0] - image.get_left()[0]) / image.width + 0.01
        y = (image.get_top()[1] - place[1]) / image.height
        filled = tuple(pixels[int(y * rows), int(x * columns), :3].tolist()) in colours
        centre = place[0] + 0.01 * image.width
        fills = [one for one in vectors.tile(tile)[1:] if len(one.points) and one.get_fill_opacity()]
        assert filled == any(fill.get_left()[0] <= centre < fill.get_right()[0] for fill in fills)


def test_lanes_that_have_not_begun_draw_no_part(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    image = OF_RUNS["image of lanes"](trace)
    monkeypatch.setattr(image, "_drawn", lambda *_: pytest.fail("drawn"))
    for size in (1.0, 1.5):
        pixels = image.scale(size).pixel_array
        assert (pixels == pixels[0, 0]).all()


@pytest.mark.parametrize("name", ["image of tiles", "image of lanes"])
def test_an_image_is_as_opaque_as_it_was_told_to_be(trace: Trace, name: str) -> None:
    image = OF_RUNS[name](trace).show(5000)
    opaque = image.pixel_array.copy()
    for opacity in (0.4, 0.0, 1.0):
        pixels = image.set_opacity(opacity).pixel_array
        assert (pixels[..., 3] == round(255 * opacity)).all()
        assert (pixels[..., :3] == opaque[..., :3]).all()


def test_only_tiles_that_look_different_are_drawn_again(trace: Trace) -> None:
    grid = TileGrid(trace).show(5000)
    before = [[one.points for one in tile] for tile in grid]
    spans = trace.spans[(trace.spans["start"] <= 5200) & (trace.spans["done"] >= 5000)]
    grid.show(5200)
    changed = {
        number
        for number, (tile, old) in enumerate(zip(grid, before, strict=True))
        if any(one.points is not points for one, points in zip(tile, old, strict=True))
    }
    assert changed and changed <= set(spans["tile"].tolist())


WRONG: dict[str, tuple[Callable[[Trace], Any], type[Exception], str]] = {
    "a tile": (lambda trace: TileGrid(trace).tile(999), IndexError, "no tile 999; the last is"),
    "a part": (lambda trace: Lanes(trace).span(0, "lunch"), KeyError, "no lunch of tile 0; .*write under"),
    "an SM": (lambda trace: TimeBracket(Lanes(trace), 0, 5, sm=9), IndexError, "no SM 9; they show"),
    "no list of SMs": (lambda trace: Lanes(trace, sms=4), ValueError, "not 4"),
    "an SM of lanes": (lambda trace: Lanes(trace, sms=[0, 9]), ValueError, "names 9"),
    "no SM of lanes": (lambda trace: Lanes(trace, sms=[]), ValueError, "names none"),
    "a kind of fill": (lambda trace: Lanes(trace, fills={"lunch": RED}), ValueError, "multiply"),
    "no kinds of fill": (lambda trace: Lanes(trace, fills=RED), ValueError, "multiply"),
    "few fills of an image": (lambda trace: LaneImage(trace, fills={"write": RED}), ValueError, "all of"),
    "no mobject": (lambda trace: PlayTrace(until=5), ValueError, "was given no mobject"),
    "a trace to play": (lambda trace: PlayTrace(trace, until=5), TypeError, "not a Trace"),
    "what shows no instant": (lambda trace: PlayTrace(VGroup(Dot()), until=5), TypeError, "not a VGroup"),
    "an end": (lambda trace: PlayTrace(Clock(), until="5us"), TypeError, "number of ns.*5us"),
    "a clock's end": (Clock, TypeError, "number of ns.*not a Trace"),
    "a row of bars": (lambda _: rows().bar("nobody", "write", 0), KeyError, "nobody"),
    "a bar": (lambda _: rows().bar("group 0", "write", 9), KeyError, "write"),
    "a kind of bar": (lambda _: rows().bar("group 0", "load", 0), KeyError, "load"),
    "an unknown kind of bar": (lambda _: PhaseRows({"a": [Bar("rest", 0, 1)]}), ValueError, "'rest'"),
    "a barrier": (lambda _: Barrier(0), ValueError, "wider than 0"),
    "an axis": (lambda _: Plot((1, 1), (0, 1)), ValueError, "from low to high"),
    "a logarithmic axis": (lambda _: Plot((0, 1), (1, 2), log=True), ValueError, "from low to high"),
    "a reversed axis": (lambda _: Plot((2, 1), (1, 2)), ValueError, "from low to high"),
    "a key": (lambda _: key.Key([key.Entry("a", [(0, 0, 0)])] * (key.MOST + 1), 9), ValueError, "7 entries"),
    "no gain": (lambda _: Balance([], 0.1, 1, 9), ValueError, "nothing is left"),
    "a loss": (lambda _: Balance([Entry("a", -5)], 0.1, 1, 9), ValueError, "nothing is left"),
    "a larger loss": (
        lambda _: Balance([Entry("a", 5), Entry("b", -9)], 0.1, 1, 9),
        ValueError,
        "nothing is left",
    ),
    "a slice": (
        lambda _: Loaf(64, 2, 1).cut([16, 47], [RED, RED]),
        ValueError,
        "have 63 slices; the loaf has 64",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_not_there_or_does_not_fit_is_a_sentence(what: str) -> None:
    make, kind, said = WRONG[what]
    with pytest.raises(kind, match=said):
        make(RUNS["naive"])


@pytest.mark.parametrize("name", OF_RUNS)
def test_a_time_is_a_number(trace: Trace, name: str) -> None:
    with pytest.raises(TypeError, match="number of ns"):
        OF_RUNS[name](trace).show("5us")


@pytest.mark.parametrize("color", [RED, RED.to_hex(), "RED"])
def test_a_color_is_one_of_manims_or_bytes(trace: Trace, color: Any) -> None:
    made: list[Callable[[Any], Any]] = [
        lambda one: Lanes(trace, fills={"multiply": one}).show(9000),
        lambda one: LaneImage(trace, height=2.0, fills=dict.fromkeys(KINDS, one)).show(9000),
        lambda one: TimeBracket(Lanes(trace), 0, 5000, color=one).show(9000),
        lambda one: Operands(trace.problem).row_panel(0, one),
        lambda one: SM("SM 0", one),
        KPair,
        lambda one: Warp(4, colour=one),
    ]
    for make in made:
        assert look(make(color)) == look(make(tuple(RED.to_int_rgb().tolist())))


def test_a_group_is_played_as_its_members(trace: Trace) -> None:
    lanes, image, clock = Lanes(trace), TileImage(trace), Clock()
    with frame(160, 90):
        scene = Scene(skip_animations=True)
        scene.add(lanes)
        scene.play(PlayTrace(Group(lanes, Dot(), Group(image)), clock, until=5000))
        assert (lanes.t, image.t, clock.t) == (5000, 5000, 5000)
        assert scene.mobjects == [lanes, image, clock]
        # What was faded out comes back when it is asked for, and not before.
        for played, shown in ((clock, False), (lanes, True)):
            scene.play(FadeOut(lanes))
            scene.play(PlayTrace(played, until=6000))
            assert (lanes in scene.mobjects) == shown


def test_many_tiles_and_lanes_are_images() -> None:
    large = simulate("naive", Problem(4096, 4096, 512), Device.named("h200"))
    assert isinstance(Lanes(large, height=3), LaneImage)
    assert isinstance(TileGrid(large), TileImage)
    assert not isinstance(Lanes(large, sms=[0, 1]), LaneImage)


def test_run_ends_where_it_was_told_to_at_any_frame_rate(trace: Trace) -> None:
    ends = []
    for rate in (24, 60):
        with frame(160, 90, frame_rate=rate):
            scene = Scene(skip_animations=True)
            grid, lanes = TileGrid(trace), Lanes(trace)
            scene.play(PlayTrace(grid, lanes, until=9000, pace=9000))
            scene.play(FadeIn(Group(Clock())), Transform(grid.tile(0).copy(), grid.tile(1).copy()))
            ends.append(look(grid) + look(lanes))
    assert ends[0] == ends[1]
    assert config.frame_rate != 24


@pytest.mark.parametrize("last", [1.0, 1 - 2**-53])
def test_run_ends_exactly_where_it_was_told_to(last: float) -> None:
    clock = Clock().show(0.7)
    PlayTrace(clock, until=0.1, rate_func=lambda alpha: last * alpha).finish()
    assert clock.t == 0.1


@pytest.mark.parametrize(
    ("pace", "said"),
    [(6000, ""), (1500, "slow motion, 1/4"), (3000, "slow motion, 1/2"), (9000, ""), (0, "")],
)
def test_a_clock_says_how_slow_slow_motion_is(pace: float, said: str) -> None:
    clock = Clock(40_000).run_at(6000).run_at(pace)
    assert clock.factor.text == said
    assert clock.factor.submobjects[0].get_left()[0] > clock.show(40_000).points[:, 0].max()


def test_a_run_slows_its_clock_as_long_as_it_lasts() -> None:
    clock, said = Clock(40_000), []

    class Watched(PlayTrace):
        def interpolate_mobject(self, alpha: float) -> None:
            said.append(clock.factor.text)
            super().interpolate_mobject(alpha)

    with frame(160, 90):
        scene = Scene(skip_animations=True)
        for until, pace in ((6000, 6000), (7000, 1500)):
            scene.play(Watched(clock, until=until, pace=pace))
    assert (said[0], said[-1], clock.factor.text) == ("", "slow motion, 1/4", "")


def test_going_back_is_no_slow_motion_nor_makes_what_comes_slow() -> None:
    clock = Clock(40_000)
    with frame(160, 90):
        scene = Scene(skip_animations=True)
        for until, pace in ((6000, 6000), (0, 1500), (6000, 6000), (0, 60_000), (6000, 6000)):
            move = PlayTrace(clock, until=until, pace=pace)
            move.begin()
            assert clock.factor.text == ""
            scene.play(move)
