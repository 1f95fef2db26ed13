"""The figures of lessons follow from what was measured, add up, and are drawn to scale."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from prepared import prepared
from watching import visible

import tilesim
from tilesim import Device, Problem, simulate
from tilesim.cli.packages import scene_class
from tilesim.ideas.launch_latency import timeline
from tilesim.ideas.loop_unrolling import flights
from tilesim_scenes import busy_sms, fusion, stream_k
from tilesim_scenes.kit.many_sms import alike_together, round_ends
from tilesim_scenes.kit.round_trip import PIECES, RoundTrip
from tilesim_scenes.l2_order import Sharing
from tilesim_scenes.latency_hiding import Rounds
from tilesim_scenes.launch_latency import SMALL
from tilesim_scenes.loop_unrolling import Waits
from tilesim_scenes.mobjects.drawing.quads import rectangle
from tilesim_scenes.mobjects.models.phase_rows import Calls
from tilesim_scenes.roofline import after
from tilesim_scenes.wave_quantization import steps

LADDER = Path(tilesim.__file__).parent / "data" / "ladder" / "h200.json"
FOUR = Device.named("h200", sms=4)


def made(name: str, **settings: Any) -> Any:
    return prepared(scene_class(name), settings)


def test_coalescing_has_as_many_pieces_as_were_counted() -> None:
    assert made("coalescing").pieces == [4, 32]


def test_two_blocks_fit_on_an_sm_and_a_third_does_not() -> None:
    scene = made("execution-model")
    assert 2 * scene.shared.of_block <= scene.shared.of_sm < 3 * scene.shared.of_block
    assert scene.at_once == 264 and scene.blocks == 576


def test_the_printed_parts_of_a_line_s_time_add_up() -> None:
    scene = made("fusion")
    assert scene.each == pytest.approx(scene.separate / len(fusion.LINES), abs=0.05)
    assert scene.trip == pytest.approx(2 * round(scene.mb) / round(scene.tb, 1), abs=0.05)


def test_the_code_on_screen_is_what_the_bench_times() -> None:
    torch = pytest.importorskip("torch")
    from tilesim_kernels.bench.fusion_kernels import chain

    names = {"x": torch.tensor([1.0, -3.0])}
    expected = chain(names["x"].clone(), len(fusion.LINES))
    exec("\n".join(fusion.LINES), names)
    assert torch.allclose(names["x"], expected)


def test_a_round_trip_has_a_register_for_each_piece() -> None:
    trip = RoundTrip("memory", "x", "processors", "registers", ["x + 1"], 12.0, 4.0)
    assert len(trip.pieces) == len(trip.slots) == len(trip.homes) == PIECES
    trip.run(["x + 1", "x * 2"])
    assert len(trip.operations) == 2 and trip.submobjects.count(trip.operations) == 1


def test_what_the_tiles_at_work_need() -> None:
    scene = made("l2-order")
    assert scene.few == [[1, 9], [3, 3]] and scene.needs == [[5, 32], [8, 17]]
    assert [round(mb) for mb in scene.mb] == [145, 88]


def test_tiles_at_work_are_lit_with_their_strips_and_earlier_ones_stay_done() -> None:
    sharing = Sharing(4, 3, 2.0, 1.0, np.arange(12), wave=4).show(8.0)
    tiles, rows, columns = (len(one.points) // 16 for one in sharing.now)
    assert (tiles, rows, columns, len(sharing.done.points) // 16) == (4, 2, 3, 4)
    assert len(sharing.show(9.0).now[0].points) // 16 == 4


def test_shares_of_the_ladder_in_a_file_are_of_the_time_of_all_tensor_cores() -> None:
    shares = made("ladder", ladder=str(LADDER)).shares
    assert shares == sorted(shares) and 0 < shares[0] < shares[-1] < 1


def test_the_last_program_of_the_ladder_loads_and_writes_across_tiles() -> None:
    (first, second, wait), _, (load, _), (write,) = made("ladder").across.values()
    assert (wait.start, wait.end) == (first.end, second.start) and write.start == wait.end
    assert load.start < first.end and load.end <= second.start < write.end < second.end


@pytest.mark.parametrize(("t", "dots"), [(50, 1), (150, 2), (250, 1), (1300, 0)])
def test_each_request_that_is_under_way_is_a_dot_on_the_road(t: float, dots: int) -> None:
    asked, came = np.array([[0.0, 300.0], [100.0, 400.0]]), np.array([[200.0, 1000.0], [270.0, 1200.0]])
    shown = Rounds(asked, came, 10, 4, rectangle(5, 1)).show(t)
    assert sum(dot.get_fill_opacity() > 0 for dot in shown.dots) == dots


def test_what_a_call_and_a_product_take_and_what_is_left_add_up() -> None:
    scene = made("launch-latency")
    assert scene.product + scene.waits == pytest.approx(scene.call)
    whole, busy = (scene.us[how, SMALL] for how in ("calls", "queued"))
    assert scene.share == pytest.approx(1 - busy / whole, abs=0.005)


def test_lanes_of_calls_show_what_has_begun_and_nothing_else() -> None:
    lanes = Calls(timeline(3, kernel=5, call=10, gap=0), 10, (0.0, 40.0), width=8.0).show(22.0)
    assert [visible(one) for one in lanes.calls] == [True, True, True]
    assert [visible(one) for one in lanes.products] == [True, True, False]
    assert np.isclose(lanes.products[0].get_left()[0], lanes.x(10.0))
    for wait, ends in zip(lanes.waits, [(0.0, 10.0), (15.0, 20.0)], strict=False):
        assert np.isclose(wait.get_left()[0], lanes.x(ends[0]))
        assert np.isclose(wait.get_right()[0], lanes.x(ends[1]))


def test_a_value_is_added_once_it_has_come() -> None:
    ground = rectangle(10, 4)
    for factor in (1, 8):
        loads = flights(8, factor, latency=100.0)
        shown = Waits(loads, 1000.0, ground).show(50.0)
        assert shown.waiting.width == pytest.approx(0.5) and not len(shown.adding.points)
        shown.show(float(loads["used"][-1]))
        boxes = shown.waiting.points.reshape(-1, 16, 3)
        assert len(boxes) == 8 and np.ptp(boxes[:, :, 0], axis=1) == pytest.approx(1.0)


def test_what_arrives_is_all_that_the_tiles_load() -> None:
    scene = made("memory-hierarchy")
    assert scene.strips * scene.problem.tiles == scene.arrived > scene.sent > scene.whole


def test_the_parts_of_a_tile_are_its_time_and_close_to_the_average_of_all() -> None:
    scene = made("one-tile")
    assert scene.launch + scene.load + scene.multiply + scene.write == scene.done
    assert scene.kb == scene.problem.k_steps * scene.pair_kb == 384
    spans = scene.run.spans
    assert abs((spans["done"] - spans["issue"]).mean() - scene.done) < 100
    assert abs((spans["drain"] - spans["start"]).mean() - scene.multiply) < 100


def test_a_ninth_warp_leaves_the_hand_over_and_two_groups_nothing_of_a_pause() -> None:
    scene = made("ping-pong")
    assert scene.alike["pause"] > 2 * scene.alike["hand_over"]
    assert 0 < scene.loads["pause"] - scene.loads["hand_over"] < 100
    assert scene.turns["pause"] < 0 < scene.turns["hand_over"]
    assert sorted(scene.tiles_us, reverse=True) == scene.tiles_us
    assert 2 * scene.sums == scene.registers == 65536


def test_a_step_with_one_buffer_takes_as_long_as_its_two_parts() -> None:
    scene = made("pipelining")
    assert scene.load + scene.multiply == round(scene.step_ns[1])
    assert scene.until == 6 * (scene.load + scene.multiply)


def test_points_are_under_the_roof_and_move_up_it() -> None:
    film = made("roofline")
    shares = [film.share(point, film.flat) for point in film.points.values()]
    assert min(shares) > 0.7 and max(shares) <= 1
    assert film.computing[64] == pytest.approx(32 * film.computing[2])
    assert film.bound == [n for n in film.us if n <= 64]


def test_a_figure_appears_once_its_bar_has_its_length() -> None:
    assert [after(0.5, alpha) for alpha in (0.0, 0.4, 0.5, 1.0)] == pytest.approx([0, 0, 1, 1])


def test_steps_are_where_one_more_wave_is_needed() -> None:
    points = [(100, 40.0), (132, 44.0), (144, 88.0), (264, 90.0), (276, 135.0)]
    assert steps(points, 132) == [(2, 1.0), (3, 0.5)]


def test_rounds_end_one_after_the_other_and_the_busiest_rows_stand_first() -> None:
    run = simulate("persistent", Problem(128, 1536, 512), FOUR)
    assert len(round_ends(run)) == busy_sms.rounds(run) == 2
    assert round_ends(run) == sorted(round_ends(run))
    assert alike_together(run) == [0, 1, 2, 3]


def test_waiting_at_the_end_is_that_of_an_average_sm_and_painted_to_scale() -> None:
    run = simulate("persistent", Problem(128, 1280, 512), FOUR)
    last = [run.spans["done"][run.spans["sm"] == sm].max() for sm in range(4)]
    assert stream_k.idle_at_the_end(run) == pytest.approx(run.makespan / 1000 - np.mean(last) / 1000)
    scene = made("stream-k")
    lanes, _ = scene.rows(scene.whole, scene.area, "whole tiles")
    x, y, _ = scene.waiting(lanes).get_vertices().T
    painted = abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2
    waited = 1000 * stream_k.idle_at_the_end(scene.whole) / scene.whole.makespan
    assert painted / (lanes.width * lanes.height) == pytest.approx(waited)
