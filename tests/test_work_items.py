"""Work that is no matrix product: a list of items, which is read, drawn and compared, never planned."""

import json

import others
import pytest
from command_line import said
from refusals import refused

from tilesim import Costs, Device, WorkItems, plan, player, simulate, view
from tilesim.engine.simulate import replay
from tilesim.errors import ProblemError, TilesimError, TraceError
from tilesim.formats.reader import read
from tilesim.player.data import of_runs
from tilesim.work import decode_work

ITEMS = WorkItems(["attention 0", "attention 1", "project"], [4096, 4096, 128])


@pytest.fixture
def tasks(tmp_path):
    return others.write(tmp_path, "tasks.csv")


def test_items_are_listed_below_one_another_also_of_files_that_have_them_as_tiles():
    assert (ITEMS.tiles, ITEMS.tiles_m, ITEMS.tiles_n, ITEMS.k_steps, ITEMS.noun) == (3, 3, 1, 1, "item")
    assert WorkItems(**ITEMS.as_json()) == ITEMS
    old = {"m": 3, "n": 1, "k": 1, "tile": [1, 1, 1], "dtype": "bf16", "order": "row-major"}
    assert decode_work(old | ITEMS.as_json(), TraceError) == ITEMS


@pytest.mark.parametrize(
    ("names", "sizes", "words"),
    [
        ([], (), "items is []; it must be a list that is not empty"),
        ("attention", (), "must be a list"),
        (["a", " "], (), "not blank"),
        (["a" * 201], (), "a text of 1 to 200 characters"),
        (["a", "\x1b[31m"], (), "U+001B, which cannot be printed"),
        (["a", "b"], (1,), "2 work items and 1 size;"),
        (["a"], (-1,), "sizes[0] is -1"),
    ],
)
def test_items_that_make_no_sense(names, sizes, words):
    with refused(words, ProblemError):
        WorkItems(names, sizes)


def test_nothing_plans_simulates_or_replays_them(tasks):
    for call in (plan, simulate):
        with pytest.raises(ProblemError, match="3 work items have no schedule: only a matrix product"):
            call("stream-k", ITEMS, Device(2))
    with pytest.raises(ProblemError, match="12 work items have no schedule"):
        replay(read(tasks), Costs.ideal())


def test_views_and_figures_are_those_of_any_run(tasks):
    trace = read(tasks)
    assert trace.utilization == pytest.approx(others.RUN.busy_share, abs=0.2)
    assert view.tiles_done(trace, trace.makespan) == 12 and view.tiles_done(trace, 0) == 0
    assert trace.waves == 3
    assert repr(trace).startswith("<Trace: tasks on 4 SMs, measured, 12 work items, ")


@pytest.mark.parametrize("command", ["calibrate", "compare"])
def test_what_needs_a_product_says_so(tasks, tmp_path, command, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "12 work items" in said(command, tasks, code=1)


@pytest.mark.parametrize("command", ["info", "explain"])
def test_commands_say_what_ran(tasks, command):
    text = said(command, tasks)
    assert "12 work items, no matrix product; their sizes add up to 9984" in text
    assert "1x1" not in text
    assert json.loads(said(command, tasks, "--json"))["problem"]["items"][1] == "qkv 0"


def test_the_player_lists_them_and_of_a_window_those_in_it_alone(tasks, monkeypatch):
    trace = read(tasks)
    held = of_runs([trace], ["tasks"], None, "")["runs"][0]
    assert held["items"] == list(trace.problem.items) and held["sizes"] == list(trace.problem.sizes)
    text = player.page([trace])
    assert "12 work items; no matrix product" in text and "of which slots work" in text
    monkeypatch.setattr("tilesim.player.data.MOST", 4)
    held = of_runs([trace], ["tasks"], 0, "")["runs"][0]
    assert [bool(name) for name in held["items"]] == [True] * 4 + [False] * 8


def test_a_name_in_the_player_stays_text_and_runs_of_unlike_work_are_not_compared(tasks, tmp_path):
    (tmp_path / "a.csv").write_text('# sms=1\nitem,sm,start,end\n"<script>alert(1)</script>",0,0,9\n')
    text = player.page([read(tmp_path / "a.csv")])
    assert "<script>alert" not in text and r"\u003cscript" in text
    with pytest.raises(TilesimError, match="12 work items and of 1 work item"):
        player.page([read(tasks), read(tmp_path / "a.csv")])


def test_a_grid_lists_them(tasks):
    pytest.importorskip("manim")
    from tilesim_scenes.mobjects.traces.tile_grid import TileGrid

    grid = TileGrid(read(tasks), width=4.0, height=3.0)
    assert len(grid) == 12 and grid.width > 3.9
    assert grid.tile(0).get_y() > grid.tile(11).get_y()
