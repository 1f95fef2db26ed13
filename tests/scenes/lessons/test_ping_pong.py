"""Ping-pong: pauses are what the film says they are, and a ladder that says otherwise is refused."""

from dataclasses import replace

import pytest
from prepared import prepared

from tilesim.ladder.file import ladders
from tilesim_scenes import ping_pong


def made(monkeypatch, **slower):
    """The film on the shipped ladder, some kernels of which take so many times as long."""
    (ladder, *_) = ladders()
    rows = tuple(replace(row, us=row.us * slower.get(row.name.replace("-", "_"), 1.0)) for row in ladder.rows)
    monkeypatch.setattr(ping_pong, "ladders", lambda: (replace(ladder, rows=rows),))
    return prepared(ping_pong.PingPong)


def test_a_pause_is_a_write_and_a_load_and_two_groups_have_none(monkeypatch):
    scene = made(monkeypatch)
    before, after = (pause.end - pause.start for pause in scene.waits)
    assert before > after == scene.write
    assert not scene.turns.pauses() and scene.alike.pauses()


@pytest.mark.parametrize(
    ("slower", "claim"),
    [("ping_pong", "is faster"), ("warp_specialized", "is faster"), ("persistent", "the model comes close")],
)
def test_a_ladder_that_says_otherwise_is_refused(slower, claim, monkeypatch):
    with pytest.raises(SystemExit, match=claim):
        made(monkeypatch, **{slower: 1.2})


def test_the_sums_of_two_tiles_take_all_registers(monkeypatch):
    scene = made(monkeypatch)
    assert 2 * scene.sums == scene.registers == 65536
