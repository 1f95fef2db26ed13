"""Launch latency: what the film says is true of the report, or it is not made; its lanes are the model's."""

from copy import deepcopy

import numpy as np
import pytest
from prepared import prepared
from watching import visible

from tilesim.ideas.launch_latency import timeline
from tilesim.ladder import reports
from tilesim_scenes import launch_latency
from tilesim_scenes.kit.calls import Calls
from tilesim_scenes.launch_latency import LARGE, SMALL


@pytest.mark.parametrize(
    ("how", "size", "factor", "claim"),
    [
        ("calls", SMALL, 0.3, "a call takes longer"),
        ("queued", SMALL, 2.0, "most of the time"),
        ("graph", SMALL, 1.5, "keeps the GPU busy"),
        ("queued", LARGE, 0.5, "a large product takes longer"),
        ("calls", LARGE, 1.5, "hide their calls"),
    ],
)
def test_a_report_that_says_something_else_is_refused(how, size, factor, claim, monkeypatch):
    other = deepcopy(dict(reports.report("launch_latency")))
    for row in other["together"]:
        if (row["how"], row["size"]) == (how, size):
            row["us"]["p50"] *= factor
    monkeypatch.setattr(launch_latency.LaunchLatency, "report", lambda *_: other)
    with pytest.raises(SystemExit, match=claim):
        prepared(launch_latency.LaunchLatency)


def test_what_a_call_and_a_product_take_and_what_is_left_add_up():
    scene = prepared(launch_latency.LaunchLatency)
    assert scene.product + scene.waits == pytest.approx(scene.call)
    whole, busy = (scene.us[how, SMALL] for how in ("calls", "queued"))
    assert scene.share == pytest.approx(1 - busy / whole, abs=0.005)


def test_lanes_show_what_has_begun_and_nothing_else():
    lanes = Calls(timeline(3, kernel=5, call=10, gap=0), 10, (0.0, 40.0), width=8.0).show(22.0)
    assert [visible(one) for one in lanes.calls] == [True, True, True]
    assert [visible(one) for one in lanes.products] == [True, True, False]
    assert np.isclose(lanes.products[0].get_left()[0], lanes.x(10.0))
    assert np.isclose(lanes.waits[0].get_left()[0], lanes.x(15.0))
    assert np.isclose(lanes.waits[0].get_right()[0], lanes.x(20.0))
