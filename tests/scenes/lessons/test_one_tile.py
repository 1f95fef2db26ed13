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


def later(block, ns, *names):
    """Moves some of a block's times."""

    def change(spans):
        for name in names:
            spans[name][spans["cta"] == block] += ns

    return change


def test_the_parts_of_a_tile_are_its_time(monkeypatch):
    scene = made(monkeypatch)
    assert scene.launch + scene.load + scene.multiply + scene.write == scene.done
    assert scene.read_kb == scene.problem.k_steps * scene.pair_kb == 384


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        (later(0, 1000, "done"), "first tiles of all SMs"),
        (later(0, 4200, "start"), "most of a tile's time is multiplying"),
    ],
)
def test_a_run_that_says_otherwise_is_refused(change, claim, monkeypatch):
    with pytest.raises(SystemExit, match=claim):
        made(monkeypatch, change)
