"""What the program computes, in Node: what tilesim.view defines, totals, a search, a link."""

import numpy as np
import pytest
from programs import data_in, in_node, measured, needs_node, race, split

from tilesim import Costs, Device, Problem, metrics, player, simulate, view
from tilesim.analysis.compare import compare
from tilesim.analysis.divergence import since_first_multiply, time_lag

pytestmark = needs_node

STATES = """
    const run = player.read(given.run);
    return given.instants.map((t) => {
        const rows = [...Array(run.count).keys()];
        return {
            progress: rows.map((row) => player.progress(run, row, t)),
            segments: rows.map((row) => player.segmentPhase(run, row, t)),
            tiles: [...player.tilePhases(run, t)],
            counts: player.counts(run, t),
        };
    });
"""


def instants(trace, since=0, until=None):
    """Edges of phases, and between them."""
    until = trace.makespan if until is None else until
    edges = np.unique([trace.spans[name] for name in ("issue", "start", "drain", "ready", "fixup", "done")])
    edges = edges[(edges >= since) & (edges < until)]
    return sorted(
        {*edges[:: max(1, len(edges) // 40)].tolist(), *np.linspace(since, until - 0.5, 17).tolist()}
    )


RUNS = {
    "naive": lambda: race()[0],
    "persistent": lambda: race()[1],
    "tiles in several segments": split,
    "two blocks an SM": lambda: simulate("naive", Problem(384, 1536, 256), Device(3, ctas_per_sm=2)),
    "measured": lambda: measured(race()[1]),
    "blocks that do nothing": lambda: simulate("persistent", Problem(128, 256, 64), Device(4), Costs.ideal()),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_player_shows_what_view_defines(name):
    trace = RUNS[name]()
    times = instants(trace)
    found = in_node(STATES, {"run": data_in(player.page([trace]))["runs"][0], "instants": times})
    for t, state in zip(times, found, strict=True):
        assert np.allclose(state["progress"], view.progress(trace, t), atol=1e-12), t
        assert state["segments"] == view.segment_phases(trace, t).tolist(), t
        assert dict(state["tiles"]) == dict(enumerate(view.phases(trace, t).tolist())), t
        assert state["counts"] == {
            "tilesDone": view.tiles_done(trace, t),
            "blocksLaunched": view.blocks_launched(trace, t),
            "busySms": view.busy_sms(trace, t),
        }, t


@pytest.mark.parametrize("at", [0, 9_000, 30_000])
@pytest.mark.parametrize("schedule", ["naive", "persistent", "stream-k"])
def test_a_window_counts_as_the_whole_run(schedule, at, monkeypatch):
    monkeypatch.setattr("tilesim.player.data.MOST", 20)
    trace = simulate(schedule, Problem(1280, 1280, 512), Device.named("h200", 4))
    assert trace.makespan > 40_000
    run = data_in(player.page([trace], at=at))["runs"][0]
    window = run["window"]
    assert window["last"] - window["first"] == 20
    assert window["since"] <= at < window["until"] or at < window["since"]
    times = instants(trace, window["since"], window["until"])
    found = in_node(STATES, {"run": run, "instants": times})
    for t, state in zip(times, found, strict=True):
        assert state["counts"] == {
            "tilesDone": view.tiles_done(trace, t),
            "blocksLaunched": view.blocks_launched(trace, t),
            "busySms": view.busy_sms(trace, t),
        }, t


def test_every_column_survives_and_the_sm_that_finishes_a_tile_is_views():
    trace = split()
    columns = ["tile", "cta", "sm", "slot", "k0", "k1", "issue", "start", "drain", "ready", "fixup", "done"]
    wanted = f"{columns}.map((name) => [...run[name]])"
    script = f"const run = player.read(given); return [{wanted}, [...run.finisher]];"
    found, finisher = in_node(script, data_in(player.page([trace]))["runs"][0])
    assert found == [trace.spans[name].tolist() for name in columns]
    assert dict(finisher) == dict(enumerate(view.tile_sm(trace).tolist()))


def test_the_lag_is_time_lags_and_the_error_at_the_end_that_of_compare():
    simulated = race()[1]
    pair = [since_first_multiply(trace) for trace in (simulated, measured(simulated))]
    times, lags = time_lag(*pair)
    at = np.linspace(0, times[-1], 33).tolist()
    given = {"lag": data_in(player.page(pair))["lag"], "at": at}
    script = """
        const found = given.at.map((t) => player.lagAt(given.lag, t)), last = given.lag.times.at(-1);
        return [found, player.errorAt(player.lagAt(given.lag, last), last)];
    """
    found, error = in_node(script, given)
    assert np.allclose(found, np.interp(at, times, lags), atol=1.5)
    assert error == pytest.approx(compare(*pair).run.error, abs=1e-4)


def brute(trace, since, until):
    """Busy slot-time in ns by marking each ns, and tiles done, in (since, until]."""
    busy = np.zeros((trace.device.slots, trace.makespan), bool)
    ends = {}
    for span in trace.spans:
        busy[span["sm"] * trace.device.ctas_per_sm + span["slot"], span["issue"] : span["done"]] = True
        ends[span["tile"]] = max(ends.get(span["tile"], 0), span["done"])
    return int(busy[:, since:until].sum()), sum(since < end <= until for end in ends.values())


@pytest.mark.parametrize("name", [name for name in RUNS if name != "measured"])
def test_totals_are_those_of_every_ns_and_the_median_is_numpys(name):
    trace = RUNS[name]()
    shares = ((0, 1), (0.2, 0.21), (0.3, 0.8), (0.9, 1))
    ranges = [{"from": int(one * trace.makespan), "to": int(other * trace.makespan)} for one, other in shares]
    given = {"run": data_in(player.page([trace]))["runs"][0], "ranges": ranges}
    script = """
        const run = player.read(given.run);
        return [run.median, given.ranges.map((range) => player.totals(run, range))];
    """
    median, totals = in_node(script, given)
    assert median == np.median(trace.spans["done"] - trace.spans["issue"])
    for within, found in zip(ranges, totals, strict=True):
        busy, tiles = brute(trace, within["from"], within["to"])
        idle = trace.device.slots * (within["to"] - within["from"]) - busy
        assert found == {"busy": busy, "idle": idle, "tiles": tiles}
    share = totals[0]["busy"] / (totals[0]["busy"] + totals[0]["idle"])
    assert share == pytest.approx(metrics.busy_share(trace))


def test_a_search_finds_what_it_names():
    column = {"tile": "tile", "sm": "sm", "block": "cta"}
    lit = {
        "tile 7": ("tile", 7), "7": ("tile", 7), "SM 3": ("sm", 3), "sm3": ("sm", 3),
        " Block #12 ": ("block", 12), "CTA 0": ("block", 0),
    }  # fmt: skip
    unknown = ["tile 18", "SM 4", "warp 1", "", "tile", "tile -1"]
    trace = race()[0]
    given = {"run": data_in(player.page([trace]))["runs"][0], "words": [*lit, *unknown]}
    script = (
        "const run = player.read(given.run); return given.words.map((words) => player.find([run], words));"
    )
    found = in_node(script, given)
    for (kind, id), one in zip(lit.values(), found, strict=False):
        assert one["lit"] == {"kind": kind, "id": id}
        assert trace.spans[one["place"]["row"]][column[kind]] == id
    assert found[len(lit) :] == [None] * len(unknown)


def test_an_address_gives_back_what_it_was_made_of():
    shown = {
        "t": 12_345, "view": {"from": 1_001, "to": 30_000}, "range": {"from": 2_000, "to": 9_999},
        "speed": 2, "loop": True, "lit": {"kind": "block", "id": 5}, "pinned": {"run": 1, "row": 3},
    }  # fmt: skip
    given = {
        "runs": data_in(player.page(race()))["runs"], "shown": shown, "whole": {"from": 0, "to": 42_000}
    }  # fmt: skip
    script = """
        const runs = given.runs.map(player.read), { shown, whole } = given;
        return [player.shownIn(player.addressOf(shown, whole), runs, whole),
            player.shownIn('#start=x&end=9&at=1e9&pin=7.7&sm=-1&speed=zero&from=9&to=2&loops', runs, whole)];
    """
    back, odd = in_node(script, given)
    assert back == shown
    first = {"from": 0, "to": 9000}
    assert odd == {"loop": False, "range": first, "view": first, "t": 42_000}
