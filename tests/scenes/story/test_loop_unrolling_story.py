"""What loop_unrolling says follows from the measurement that it is given."""

import json
from copy import deepcopy
from typing import Any

import pytest

from tilesim.errors import ReportError
from tilesim.ladder.reports import read, report, row
from tilesim_scenes.story.ideas.loop_unrolling import FACTORS, FEW, MANY, tell


def changed(change: Any, **others: Any) -> dict[str, Any]:
    """The shipped report with each row of sums changed, and other parts of it."""
    other = deepcopy(dict(report("loop_unrolling"))) | others
    other["rows"] = [row | change(row) for row in other["rows"]]
    return other


def test_the_rates_are_those_of_the_largest_sum():
    story, found = tell(), report("loop_unrolling")
    n = max(one["n"] for one in found["rows"])
    for (loads, warps, factor), rate in story.rates.items():
        assert rate == row(found, loads=loads, warps=warps, factor=factor, n=n)["gb_per_s"]


@pytest.mark.parametrize("factor", FACTORS)
def test_the_number_is_what_loads_together_win_at_the_factor_asked_for(factor):
    story = tell(factor=factor)
    few = {one: story.rates["together", FEW, one] for one in (1, factor)}
    assert float(story.number[1:]) == pytest.approx(few[factor] / few[1], abs=0.05)
    assert len(story.flights(factor)) == len(story.flights(1)) == factor


def test_the_finding_follows_from_what_each_part_won():
    assert "do not" in tell().finding
    branches = tell(changed(lambda row: {"gb_per_s": row["gb_per_s"] * row["factor"]}))
    nothing = tell(changed(lambda row: {"gb_per_s": 400.0}))
    assert len({tell().finding, branches.finding, nothing.finding}) == 3
    assert "nothing" in nothing.finding and nothing.number == "×1.0"


def test_what_the_instructions_win_is_said_as_it_was_measured():
    assert tell().waiting.startswith("35%") and "+1%" in tell().waiting
    slower = changed(lambda row: {"gb_per_s": row["gb_per_s"] / (2 if row["factor"] == 8 else 1)})
    assert "-49%" in tell(slower).waiting


def test_where_it_stops_is_the_first_factor_whose_double_wins_little():
    assert tell().stops == 8 and tell().where_it_stops.endswith("at 8")
    ever = tell(changed(lambda row: {"gb_per_s": 100.0 * row["factor"]}))
    assert ever.stops is None and "still" in ever.where_it_stops
    never = tell(changed(lambda row: {"gb_per_s": 100.0}))
    assert never.stops == 1


def test_instructions_are_counted_or_the_models():
    story = tell()
    assert story.counted and story.issued[1] == pytest.approx(8.08, abs=0.01) and story.loop == 6
    for issued in (0, 10**15):
        bare = tell(changed(lambda row, issued=issued: {"issued": issued}))
        assert not bare.counted and bare.issued[1] == 8 and bare.issued[8] == 2.75


def test_enough_chains_are_the_fewest_that_are_about_as_fast_as_any():
    assert tell().enough_chains == 4
    linear = [{"factor": n, "warps": 4, "cycles": 16 / n} for n in (1, 2, 4, 8, 16)]
    assert tell(changed(lambda row: {}, chains=linear)).enough_chains == 16


def test_latency_and_bandwidth_are_the_measured_memorys_and_another_gpus_own():
    story = tell()
    assert 340 < story.latency_ns < 350 and 4600 < story.peak < 4800
    machine = dict(report("loop_unrolling")["machine"]) | {"gpu": "NVIDIA A100"}
    other = tell(changed(lambda row: {}, machine=machine))
    one = other.rates["together", 1, 1]
    assert other.latency_ns == pytest.approx(128 * other.sms / one) and other.peak == max(
        other.rates.values()
    )


def test_what_was_measured_lies_below_what_is_in_flight_allows():
    story = tell()
    for warps in (FEW, MANY):
        for kb, rate in story.curve(warps):
            assert 0.95 * story.of_bursts(kb) < rate < 1.02 * story.bound(kb)


@pytest.mark.parametrize(
    ("change", "others", "says"),
    [
        (lambda row: {"gb_per_s": 0}, {}, "gb_per_s of a row of the report is 0"),
        (lambda row: {"factor": 3}, {}, "the report has no row of"),
        (lambda row: {}, {"sms": 0}, "sms of the report is 0"),
        (
            lambda row: {},
            {"chains": [{"factor": 1, "warps": 8, "cycles": 4.0}]},
            "no row of warps 4, factor 1",
        ),
        (lambda row: {}, {"chains": [{"factor": 1, "warps": 4, "cycles": 0}]}, "cycles of a row"),
        (lambda row: {"n": 0}, {}, "n of a row of the report is 0"),
    ],
)
def test_a_report_that_cannot_be_is_refused(change, others, says):
    with pytest.raises(ReportError, match=says):
        tell(changed(change, **others))


def test_the_report_that_ships_says_where_it_was_measured_and_is_read_as_anybodys(tmp_path):
    found = report("loop_unrolling")
    assert found["machine"]["gpu"] == "NVIDIA H200" and found["method"]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(found))
    assert read(path, "loop_unrolling") == found
