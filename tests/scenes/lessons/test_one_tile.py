"""One tile: its parts add up, and a run that says otherwise is refused."""

from dataclasses import replace

import pytest
from prepared import prepared

from tilesim_scenes import one_tile


def made(monkeypatch, change=lambda spans: None):
    """The film on the recorded run, changed."""
    spans = one_tile.shipped(one_tile.RECORDED).spans.copy()
    change(spans)
    other = replace(one_tile.shipped(one_tile.RECORDED), spans=spans)
    monkeypatch.setattr(one_tile, "shipped", lambda path: other)
    return prepared(one_tile.OneTile)


def later(ns, *names):
    """Moves some times of all tiles."""

    def change(spans):
        for name in names:
            spans[name] += ns

    return change


def spread(spans):
    """Half of the tiles multiply for a much shorter time than the others."""
    spans["drain"][::2] -= 2000


def test_our_tile_is_close_to_the_average_of_all(monkeypatch):
    scene = made(monkeypatch)
    spans = scene.run.spans
    assert abs((spans["done"] - spans["issue"]).mean() - scene.done) < 100
    assert abs((spans["drain"] - spans["start"]).mean() - scene.multiply) < 100


def test_the_parts_of_a_tile_are_its_time(monkeypatch):
    scene = made(monkeypatch)
    assert scene.launch + scene.load + scene.multiply + scene.write == scene.done
    assert scene.kb == scene.problem.k_steps * scene.pair_kb == 384


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (spread, "close to the average"),
        (later(3000, "start"), "most of a tile's time is multiplying"),
    ],
)
def test_a_run_that_says_otherwise_is_refused(change, claim, monkeypatch):
    with pytest.raises(SystemExit, match=claim):
        made(monkeypatch, change)
