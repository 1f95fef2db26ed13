"""Lanes that add up: who is lit and who waits."""

import numpy as np
import pytest

from tilesim.ideas.reduction import interleaved, sequential
from tilesim_scenes.mobjects.drawing.discs import DISC
from tilesim_scenes.mobjects.hardware.warp_row import WarpRow
from tilesim_scenes.mobjects.models.sums.bank_queues import BankQueues
from tilesim_scenes.mobjects.models.sums.butterfly import Butterfly
from tilesim_scenes.mobjects.models.sums.strides import Strides
from tilesim_scenes.mobjects.models.sums.sum_tree import SumTree


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
