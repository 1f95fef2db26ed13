"""What launch_latency says follows from the measurement that it is given."""

from copy import deepcopy
from itertools import pairwise
from typing import Any

import pytest

from tilesim.errors import ReportError
from tilesim.ladder.reports import report
from tilesim_scenes.story.ideas import launch_latency


@pytest.mark.parametrize("mhz", [0, 1e15, float("nan")])
def test_a_clock_that_no_sm_has_is_refused(mhz):
    with pytest.raises(ReportError, match=r"sm_mhz is .*; it must be from 100 to 10,000"):
        launch_latency.tell(dict(report("launch_latency")) | {"sm_mhz": mhz})


@pytest.mark.parametrize("kind", ["host", "stream", "graph", "turnaround"])
@pytest.mark.parametrize("ns", [0, -5, 1e9, float("nan")])
def test_what_cannot_be_shown_of_launches_is_refused_in_a_sentence(kind, ns):
    with pytest.raises(ReportError, match=f"a launch of the kind '{kind}' takes .* ns; the film shows"):
        launch_latency.tell(launches(**{kind: ns}))


def launches(**ns: float) -> dict[str, Any]:
    """The shipped report of launch-latency with other medians of some kinds of launch."""
    other = deepcopy(dict(report("launch_latency")))
    for one in other["rows"]:
        if one["launch"] in ns:
            one["ns"] = dict.fromkeys(one["ns"], ns[one["launch"]])
    return other


@pytest.mark.parametrize("ns", [{}, {"host": 50}, {"stream": 30_000}, {"turnaround": 20_000}])
def test_each_row_has_launches_of_its_own_length_and_nothing_between_them_and_the_work(ns):
    story = launch_latency.tell(launches(**ns))
    lengths = {"host": story.host, "stream": story.stream, "graph": story.graph, "SM": story.block}
    for name, parts in story.rows.items():
        assert {end - begin for what, begin, end in parts if what == "launch"} == {lengths[name]}
        assert all(before[2] == after[1] for before, after in pairwise(parts))
        assert parts[-1][2] >= story.until
        begin, end = story.gap(name)
        assert ("launch", begin, end) in parts and begin > 0


def test_the_launch_films_number_is_the_ratio_of_the_hosts_call_and_a_blocks_turnaround():
    story = launch_latency.tell()
    assert float(story.number[1:]) == pytest.approx(story.host / story.block, abs=0.5)
    twice = launch_latency.tell(launches(turnaround=2 * story.block))
    assert twice.times == pytest.approx(story.times / 2)


def test_the_hosts_launch_is_called_dear_only_where_it_is():
    shipped = launch_latency.tell()
    assert launch_latency.tell(launches(host=100)).finding != shipped.finding
    assert launch_latency.tell(launches(stream=2 * shipped.host)).finding != shipped.finding


def test_the_gpu_idles_only_where_a_call_takes_longer_than_the_product():
    story = launch_latency.tell()
    assert f"{1 - story.kernel / story.call:.0%}" in story.waits
    quick = deepcopy(dict(report("launch_latency")))
    for one in quick["products"]:
        one["call_us"]["us"] = 1.0
    assert launch_latency.tell(quick).waits != story.waits and "%" not in launch_latency.tell(quick).waits


def test_products_of_a_graph_begin_after_its_one_call_and_end_before_those_called_one_by_one():
    story = launch_latency.tell()
    assert story.at_once["begin"][0] == story.replay
    assert story.at_once["end"][-1] < story.calls["end"][-1]
    assert story.in_graph == story.kernel + story.graph


def test_the_pause_is_recorded_and_shown_of_its_own_gpu_alone():
    pause = launch_latency.recorded_pause()
    assert pause.drain < pause.done < pause.launched < pause.start
    assert f"{pause.launch / pause.length:.0%}" in launch_latency.tell().in_a_pause
    other = deepcopy(dict(report("launch_latency")))
    other["machine"]["gpu"] = "another"
    assert launch_latency.tell(other).pause is None
