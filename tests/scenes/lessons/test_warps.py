"""Lessons on warps: data that does not show what a lesson says is refused."""

import json
from copy import deepcopy

import numpy as np
import pytest

from tilesim.cli.packages import scene_class
from tilesim.ideas.loop_unrolling import flights
from tilesim.ladder.reports import report
from tilesim_scenes.latency_hiding import Rounds
from tilesim_scenes.loop_unrolling import Waits
from tilesim_scenes.mobjects.drawing.quads import rectangle


def refused(name, tmp_path, change, bench=None):
    """What a lesson says of the report that ships, once `change` has altered it."""
    altered = deepcopy(dict(report(bench or name.replace("-", "_"))))
    change(altered)
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(altered))
    scene = scene_class(name)(skip_animations=True)
    scene.settings = {"report": str(path)}
    with pytest.raises(SystemExit) as found:
        scene.setup()
    assert str(found.value).count("\n") == 0
    return str(found.value)


def rows(found, **wanted):
    return [row for row in found["rows"] if wanted.items() <= row.items()]


def part_ways(found):
    for row in found["rows"]:
        row["joined"] = 0.5


def overlap(found):
    spans = next(one for one in found["spans"] if one["ways"] == 4)["spans"]
    spans[1][0] = spans[0][1] - 100


def sorting_is_no_use(found):
    for row in rows(found, code="branch", split="warps", warps=32, ways=4):
        row["cycles"] *= 3


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (part_ways, "continue together"),
        (overlap, "one case after another"),
        (sorting_is_no_use, "lose as much"),
    ],
)
def test_divergence(change, claim, tmp_path):
    assert claim in refused("divergence", tmp_path, change)


def waits_grow_at_once(found):
    for row in rows(found, sms=132, warps=4):
        row["wait"]["p50"] *= 1.5


def one_warp_is_enough(found):
    for row in rows(found, sms=132, warps=1):
        row["bytes_per_clock"] *= 5


def memory_is_not_shared(found):
    for row in rows(found, sms=1, warps=16):
        row["wait"]["p50"] *= 2


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (waits_grow_at_once, "about as long as one"),
        (one_warp_is_enough, "four times as much"),
        (memory_is_not_shared, "one SM alone"),
    ],
)
def test_latency_hiding(change, claim, tmp_path):
    assert claim in refused("latency-hiding", tmp_path, change)


@pytest.mark.parametrize(("t", "dots"), [(50, 1), (150, 2), (250, 1), (1300, 0)])
def test_each_request_that_is_under_way_is_a_dot_on_the_road(t, dots):
    asked, came = np.array([[0.0, 300.0], [100.0, 400.0]]), np.array([[200.0, 1000.0], [270.0, 1200.0]])
    shown = Rounds(asked, came, 10, 4, rectangle(5, 1)).show(t)
    assert sum(dot.get_fill_opacity() > 0 for dot in shown.dots) == dots


def trees_cost_nothing(found):
    for row in rows(found, name="sequential"):
        row["us"] /= 3


def memory_is_far_from_busy(found):
    for name in ("sequential", "unrolled", "shuffles"):
        for row in rows(found, name=name):
            row["us"] *= 2


@pytest.mark.parametrize(
    ("change", "claim"),
    [(trees_cost_nothing, "is much faster"), (memory_is_far_from_busy, "little is left")],
)
def test_reduction(change, claim, tmp_path):
    assert claim in refused("reduction", tmp_path, change, "reductions")


def fewer_instructions_are_all(found):
    for row in rows(found, loads="one by one", factor=8, warps=8):
        row["gb_per_s"] *= 3


def the_check_is_all(found):
    for row in rows(found, loads="together", factor=1, warps=8):
        row["gb_per_s"] *= 3


def nothing_queues(found):
    for row in rows(found, loads="together", factor=8, warps=8):
        row["gb_per_s"] *= 1.5


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (fewer_instructions_are_all, "gain hardly anything"),
        (nothing_queues, "larger with fewer threads"),
        (the_check_is_all, "dropping the check alone"),
    ],
)
def test_loop_unrolling(change, claim, tmp_path):
    assert claim in refused("loop-unrolling", tmp_path, change)


def test_a_value_is_added_once_it_has_come():
    ground = rectangle(10, 4)
    for factor in (1, 8):
        loads = flights(8, factor, latency=100.0)
        shown = Waits(loads, 1000.0, ground).show(50.0)
        assert shown.waiting.width == pytest.approx(0.5) and not len(shown.adding.points)
        shown.show(float(loads["used"][-1]))
        boxes = shown.waiting.points.reshape(-1, 16, 3)
        assert len(boxes) == 8 and np.ptp(boxes[:, :, 0], axis=1) == pytest.approx(1.0)
