"""The cast of films is to scale and where its trace has it: brackets, sums, loaves, panels, moving tiles."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from manim import DOWN, RIGHT, Rectangle, Scene
from watching import frame, visible

from tilesim import Device, Problem, Trace, simulate
from tilesim_scenes import BlockTraffic, Lanes, Queue, TileGrid, TileTraffic
from tilesim_scenes.animations.into_bars import Tip
from tilesim_scenes.animations.zoom import Zoom
from tilesim_scenes.look.text import px
from tilesim_scenes.mobjects.charts.share_bar import Balance, Entry
from tilesim_scenes.mobjects.models.k_steps import Loaf, Piece, Ribbon
from tilesim_scenes.mobjects.traces.lane_image import LaneImage
from tilesim_scenes.mobjects.traces.run_panel import RunPanel
from tilesim_scenes.mobjects.traces.sm_lane import SmLane
from tilesim_scenes.mobjects.traces.time_bracket import TimeBracket
from tilesim_scenes.mobjects.traces.traffic import FLIGHT, LEAVING

RUN = simulate("naive", Problem(384, 1536, 512), Device.named("h200", sms=4))
PERSISTENT = simulate("persistent", RUN.problem, RUN.device)
BLUE, GREEN = (86, 180, 233), (0, 158, 115)


@pytest.fixture(autouse=True)
def in_a_frame():
    with frame(1920, 1080):
        yield


def test_a_bracket_grows_with_the_clock_says_its_length_at_its_end_and_follows_its_lanes():
    lanes = Lanes(RUN)
    bracket = TimeBracket(lanes, 6832, 10_223, sm=1)
    for t in (6000, 6900, 8000, 10_222):
        bracket.show(t)
        assert not bracket.figure.text and visible(bracket.line) == (t > 6832)
    for t, end in ((8000, 8000), (20_000, 10_223)):
        line = bracket.show(t).line
        ends = line.get_left()[0], line.get_right()[0]
        assert ends == pytest.approx((lanes.x(6832), lanes.x(end)))
    assert bracket.figure.text == "3.39 µs"
    lanes.shift(RIGHT)
    assert bracket.show(20_000).line.get_left()[0] == pytest.approx(lanes.x(6832))
    assert bracket.copy().lanes is lanes
    late = TimeBracket(lanes, RUN.makespan - 200, RUN.makespan).show(RUN.makespan)
    assert late.figure.get_right()[0] <= lanes.x(RUN.makespan) + 1e-6


@pytest.mark.parametrize("kind", ["vectors", "image"])
def test_lanes_that_tip_over_fill_their_bar_to_scale(kind):
    window = (0.0, 1.5 * RUN.makespan)
    lanes = Lanes(RUN, window=window) if kind == "vectors" else LaneImage(RUN, range(4), window, height=2.0)
    bar = Rectangle(width=3.0, height=0.5).shift(RIGHT)
    Scene(skip_animations=True).play(Tip(lanes.show(RUN.makespan), bar))
    filled = lanes if kind == "image" else lanes.grounds
    assert filled.get_left() == pytest.approx(bar.get_left())
    assert (filled.width, filled.height) == pytest.approx((3.0, 0.5))
    span = lanes.span(tile=1)
    took = RUN.spans[RUN.spans["tile"] == 1][0]
    assert span.width == pytest.approx(3.0 * (took["drain"] - took["start"]) / RUN.makespan)


def test_an_image_of_lanes_that_shrinks_is_drawn_once_and_keeps_its_colours():
    lanes = LaneImage(RUN, range(4), (0.0, 1.5 * RUN.makespan), height=2.0, cursor=False).show(RUN.makespan)
    large = lanes.pixel_array[..., :3].mean(axis=(0, 1))
    with patch.object(LaneImage, "_drawn", side_effect=AssertionError("drawn again")):
        for _ in range(3):
            lanes.stretch(0.7, 0).stretch(0.6, 1)
            assert lanes.pixel_array.shape[:2] == lanes.pixels()
            assert lanes.pixel_array[..., :3].mean(axis=(0, 1)) == pytest.approx(large, abs=1)


def test_an_image_of_lanes_that_grows_or_shows_other_times_is_drawn_again():
    lanes = LaneImage(RUN, range(4), height=1.0).show(RUN.makespan)
    other = LaneImage(RUN, range(4), (0.0, 9000.0), height=1.5).show(RUN.makespan)
    lanes.stretch(1.5, 1)
    assert not np.array_equal(lanes.pixel_array, other.pixel_array)
    lanes.window = other.window
    lanes.show(9000.0).show(RUN.makespan)
    lanes.shift(RIGHT).opacity = 0.5
    assert np.array_equal(lanes.pixel_array[..., :3], other.pixel_array[..., :3])


def test_zoom_ends_on_its_window_and_shows_its_parts():
    lanes = Lanes(RUN, sms=[1]).show(20_000)
    zoom = Zoom(lanes, window=(6000, 16_000))
    zoom.begin()
    zoom.interpolate(1.0)
    assert lanes.window == pytest.approx((6000, 16_000))
    assert lanes.x(6000) == pytest.approx(lanes.grounds.get_left()[0])
    second = np.flatnonzero(RUN.spans["sm"] == 1)[1]
    seen = lanes.span(tile=RUN.spans["tile"][second])
    assert seen.get_left()[0] == pytest.approx(lanes.x(int(RUN.spans["start"][second])), abs=1e-6)


def test_a_balance_leaves_what_is_not_given_back_which_covers_the_gain_from_the_left():
    balance = Balance([Entry("a", 10_000), Entry("b", -3000), Entry("c", -1000)], per_us=0.1, row=1, room=9)
    gain, *losses = bars = [row[0] for row in balance.rows]
    assert [bar.width for bar in bars] == pytest.approx([1.0, 0.3, 0.1])
    assert balance.result[0].width == pytest.approx(0.6)
    at = gain.get_left()[0]
    for loss in losses:
        assert loss.get_left()[0] == pytest.approx(at)
        at = loss.get_right()[0]
    assert balance.result[0].get_left()[0] == pytest.approx(at)


def test_a_loaf_is_as_deep_as_its_slices_and_cut_where_it_lies():
    loaf, flat = Loaf(64, 2, 1).shift(RIGHT), Loaf(16, 2, 1)
    depth = [one.width - one.front.width for one in (loaf, flat)]
    assert depth[0] == pytest.approx(4 * depth[1])
    pieces = loaf.cut([16, 48], [BLUE, GREEN])
    for edge in ("get_left", "get_right", "get_top", "get_bottom"):
        assert getattr(pieces, edge)() == pytest.approx(getattr(loaf, edge)(), abs=1e-6)


def test_a_ribbon_is_to_scale():
    ribbon = Ribbon([Piece(0, 64, "64", BLUE), Piece(64, 80, "16", BLUE)], 80, width=8.0, height=0.5)
    assert [piece[0].width + px(4) for piece in ribbon] == pytest.approx([6.4, 1.6])


def test_panels_of_one_length_have_one_scale_and_show_their_time_once_the_run_is_done():
    panels = [RunPanel(trace, "x", 12.0, 4.0, longest=50_000, side=2.0) for trace in (RUN, PERSISTENT)]
    assert panels[0].lanes.x(30_000) == pytest.approx(panels[1].lanes.x(30_000))
    assert not panels[0].show(RUN.makespan - 1).time.text
    assert panels[0].show(RUN.makespan).time.text == f"{RUN.makespan / 1000:.1f} µs"


def test_waits_and_additions_are_named():
    cut = simulate("stream-k", Problem(384, 1280, 2048), RUN.device)
    row = cut.spans[int((cut.spans["fixup"] - cut.spans["drain"]).argmax())]
    drain, done = int(row["drain"]), int(row["done"])
    lane = SmLane(cut, int(row["sm"]), "Stream-K", 12.0, 1.0, window=(drain - 100, done + 100)).show(done)
    assert {name.original_text for name in lane.names_of(drain, done)} >= {"add partials"}


def test_a_recorded_launch_says_where_its_length_is_from_within_its_lane():
    recorded = replace(RUN, origin="measured", meta={})
    lane = SmLane(recorded, 1, "Naive", 12.0, 1.0)
    for begin, end in ((0, 100), (6832, 10_223)):
        note = lane.launch_source(begin, end)
        assert lane.x(lane.window[0]) <= note.get_left()[0] and note.get_right()[0] <= lane.x(lane.window[1])
        assert note.original_text in {name.original_text for name in lane.names_of(begin, end)}
    assert SmLane(RUN, 1, "Naive", 12.0, 1.0).launch_source(0, 100) is None


def blocks(trace: Trace = RUN) -> BlockTraffic:
    queue = Queue(sorted(set(trace.spans["cta"].tolist())), width=8)
    homes = [block.get_center() for block in queue]
    return BlockTraffic(trace, queue, Lanes(trace).shift(DOWN), homes).show(0)


def tiles(trace: Trace = RUN) -> TileTraffic:
    return TileTraffic(trace, Lanes(trace).shift(3 * DOWN), TileGrid(trace.problem, width=4))


def test_a_block_waits_then_stands_beside_its_lane_then_is_gone() -> None:
    traffic, span = blocks(), RUN.spans[RUN.spans["cta"] == 4][0]
    block = traffic[4]
    waits = traffic.show(span["issue"])[4].get_center()
    assert np.allclose(waits, traffic.homes[0])
    assert np.allclose(
        traffic.show(span["issue"] + FLIGHT)[4].get_center()[1],
        traffic.ground(int(span["sm"])).get_center()[1],
        atol=0.1,
    )
    traffic.show(span["done"] + LEAVING)
    assert block.token.get_fill_opacity() == 0


def test_the_queue_moves_up_when_a_block_leaves_it() -> None:
    traffic = blocks()
    later = RUN.spans["issue"][RUN.spans["cta"] == 7][0] + FLIGHT
    assert np.allclose(traffic.show(0)[8].get_center(), traffic.homes[4])
    assert np.allclose(traffic.show(later)[8].get_center(), traffic.homes[0])


def test_a_tile_is_home_when_it_is_written_and_not_before() -> None:
    traffic = tiles()
    for row, span in enumerate(RUN.spans):
        _, fill, _, _, flying = traffic[row]
        traffic.show(span["done"] - 1)
        assert visible(flying) and not visible(fill)
        traffic.show(span["done"])
        assert visible(fill) and not visible(flying)
        assert np.allclose(fill.get_center(), traffic.grid.tile(int(span["tile"]))[0].get_center())


def test_tiles_come_to_blocks_that_stay_and_to_no_others() -> None:
    staying, leaving = tiles(PERSISTENT), tiles(RUN)
    row = int(np.flatnonzero(PERSISTENT.spans["tile"] == 5)[0])
    middle = (PERSISTENT.spans["issue"][row] + PERSISTENT.spans["start"][row]) / 2
    assert visible(staying.show(middle)[row][3])
    assert not any(
        visible(leaving.show(t)[row][3]) for t in np.linspace(0, RUN.makespan, 50) for row in range(18)
    )
