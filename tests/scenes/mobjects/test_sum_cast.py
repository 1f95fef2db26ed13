"""Lanes that add up: who is lit, who waits, and where rows and partial sums stand."""

from itertools import pairwise

import numpy as np
import pytest

from tilesim import Device, Problem, simulate
from tilesim.ideas.reduction import interleaved, sequential
from tilesim_scenes import BankQueues, Butterfly, PartialTraffic, RunRow, Strides, SumTree, WarpRow
from tilesim_scenes.animations.restack import stacked
from tilesim_scenes.mobjects.drawing.discs import DISC
from tilesim_scenes.story.traces.split_k_and_friends import handed


def discs(mobject):
    """How many circles a mobject has."""
    return len(mobject.points) // len(DISC)


def test_lanes_fall_wait_and_are_served_one_a_beat():
    queues = BankQueues(interleaved(256), width=12, height=6)
    number = next(n for n, one in enumerate(queues.accesses) if one.wavefronts == 8)
    begin = queues.begin(number)
    for beat in range(8):
        queues.show(begin + beat + 0.5)
        assert (discs(queues.answered), discs(queues.waiting)) == (4, 4 * (7 - beat))


def test_no_lane_waits_where_halves_are_added():
    queues = BankQueues(sequential(256), width=12, height=6)
    for t in np.arange(0.5, queues.until):
        queues.show(float(t))
        assert not discs(queues.waiting) and discs(queues.answered) == len(
            queues.accesses[queues.now(t)].words
        )


def test_at_the_end_one_word_holds_the_sum_and_all_lanes_rest():
    queues = BankQueues(interleaved(64), width=12, height=6).show(1e9)
    assert np.allclose(queues.asked.points, queues.place(0)) and not len(queues.held.points)
    assert not any(len(one.points) for one in queues.warps.lanes)


def test_what_a_mobject_shows_depends_on_its_clock_alone():
    for made, instants in ((BankQueues(interleaved(128)), (3.4, 20.7)), (Butterfly(), (0.5, 3.2))):
        looks = {}
        for t in (*instants, *reversed(instants)):
            look = tuple(one.points.tobytes() for one in made.show(t).get_family())
            assert looks.setdefault(t, look) == look


def test_a_row_of_warps_is_filled_by_its_lanes_at_work():
    row = WarpRow(4, width=8, height=1).work(80)
    shares = [lanes.width / ground.width for lanes, ground in zip(row.lanes, row.grounds, strict=True)]
    assert shares == pytest.approx([1, 1, 0.5, 0])
    places = row.places(1, 32)
    assert (np.diff(places[:, 0]) > 0).all() and row.capsules[1].get_left()[0] < places[0, 0]


def test_a_butterfly_has_a_row_of_sums_for_each_round():
    butterfly = Butterfly(lanes=8)
    assert [discs(butterfly.show(t).sums) for t in range(4)] == [8, 16, 24, 32]
    assert discs(butterfly.show(0.5).moving) == 16


def test_a_tree_ends_on_the_sum_of_its_values():
    tree = SumTree([3, 1, 4, 1])
    assert tree.until == 2 and tree.rows[-1][0][1].text == "9"


def test_strides_read_all_of_an_input_and_no_more():
    strides = Strides(turns=4, waves=3.5).show(4)
    assert strides.read[0].height == pytest.approx(strides.ground.height)
    assert strides.read[-1].height == pytest.approx(0.75 * strides.ground.height)
    assert not any(len(one.points) for one in strides.reading)


RUN = simulate("stream-k", Problem(384, 640, 2048), Device.named("h200", sms=4))


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize("sms", [4, 132])
def test_a_row_stands_where_it_is_placed(beside, sms):
    run = simulate("naive", Problem(1408, 3840, 512), Device.named("h200", sms=sms))
    row = RunRow(run, "Naive", width=12, height=2, beside=beside).show(run.makespan)
    for top, height in ((3.0, 4.0), (-1.0, 1.5)):
        row.place(top, height)
        assert row.lanes.grounds.get_bottom()[1] == pytest.approx(top - height, abs=1e-6)
        assert row.lanes.grounds.get_top()[1] <= top + 1e-6
        assert row.time.get_right()[0] == pytest.approx(6, abs=0.1) and row.time.text.endswith("µs")


def test_rows_that_are_stacked_fill_the_height():
    for large in (None, 0, 3):
        rows = stacked(5, top=2.0, height=9.0, gap=0.5, large=large)
        assert rows[0][0] == 2.0 and rows[-1][0] - rows[-1][1] == pytest.approx(-7.0)
        assert all(low == pytest.approx(top - height - 0.5) for (top, height), (low, _) in pairwise(rows))


def test_a_partial_sum_goes_from_its_giver_s_lane_to_its_owner_s():
    row = RunRow(RUN, "Stream-K", width=12, height=4)
    pairs = handed(RUN)
    traffic = PartialTraffic(RUN, row.lanes, pairs)
    giver, owner = (RUN.spans[which] for which in pairs[0])
    for t, span in ((float(giver["done"]), giver), (float(owner["fixup"]), owner)):
        lane = row.lanes.lane(int(span["sm"]))
        if t < RUN.makespan and (t == giver["done"] or t - giver["done"] > 0.06 * RUN.makespan):
            assert traffic.show(t)[0].get_center()[1] == pytest.approx(lane.get_center()[1])
    assert abs(traffic.show(0.0)[0].get_center()[0]) > 100
