"""Where rows of a run and partial sums stand."""

from itertools import pairwise

import pytest

from tilesim import Device, Problem, simulate
from tilesim_scenes.animations.restack import stacked
from tilesim_scenes.mobjects.traces.partial_traffic import PartialTraffic
from tilesim_scenes.mobjects.traces.run_row import RunRow
from tilesim_scenes.story.traces.split_k_and_friends import handed

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
