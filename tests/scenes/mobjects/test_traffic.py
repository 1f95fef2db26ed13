"""Thread blocks and tiles that travel are where the trace has them."""

import numpy as np
from manim import DOWN
from watching import visible

from tilesim import Device, Problem, Trace, simulate
from tilesim_scenes import BlockTraffic, Lanes, Queue, TileGrid, TileTraffic
from tilesim_scenes.mobjects.traces.traffic import FLIGHT, LEAVING

PROBLEM, FOUR = Problem(384, 1536, 512), Device.named("h200", sms=4)
NAIVE = simulate("naive", PROBLEM, FOUR)
PERSISTENT = simulate("persistent", PROBLEM, FOUR)


def blocks(trace: Trace = NAIVE) -> BlockTraffic:
    queue = Queue(sorted(set(trace.spans["cta"].tolist())), width=8)
    homes = [block.get_center() for block in queue]
    return BlockTraffic(trace, queue, Lanes(trace).shift(DOWN), homes).show(0)


def tiles(trace: Trace = NAIVE) -> TileTraffic:
    return TileTraffic(trace, Lanes(trace).shift(3 * DOWN), TileGrid(trace.problem, width=4))


def test_a_block_waits_then_stands_beside_its_lane_then_is_gone() -> None:
    traffic, span = blocks(), NAIVE.spans[NAIVE.spans["cta"] == 4][0]
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
    later = NAIVE.spans["issue"][NAIVE.spans["cta"] == 7][0] + FLIGHT
    assert np.allclose(traffic.show(0)[8].get_center(), traffic.homes[4])
    assert np.allclose(traffic.show(later)[8].get_center(), traffic.homes[0])


def test_a_tile_is_home_when_it_is_written_and_not_before() -> None:
    traffic = tiles()
    for row, span in enumerate(NAIVE.spans):
        _, fill, _, _, flying = traffic[row]
        traffic.show(span["done"] - 1)
        assert visible(flying) and not visible(fill)
        traffic.show(span["done"])
        assert visible(fill) and not visible(flying)
        assert np.allclose(fill.get_center(), traffic.grid.tile(int(span["tile"]))[0].get_center())


def test_tiles_come_to_blocks_that_stay_and_to_no_others() -> None:
    staying, leaving = tiles(PERSISTENT), tiles(NAIVE)
    row = int(np.flatnonzero(PERSISTENT.spans["tile"] == 5)[0])
    middle = (PERSISTENT.spans["issue"][row] + PERSISTENT.spans["start"][row]) / 2
    assert visible(staying.show(middle)[row][3])
    assert not any(
        visible(leaving.show(t)[row][3]) for t in np.linspace(0, NAIVE.makespan, 50) for row in range(18)
    )
