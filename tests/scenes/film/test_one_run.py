"""Films of one run can be told of any run that has such blocks."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from watching import Seen, watch

from tilesim.cli.packages import scene_class
from tilesim_scenes import Lanes
from tilesim_scenes.animations.fade import opacities
from tilesim_scenes.animations.gather import GOES, Gather
from tilesim_scenes.mobjects.charts.share_bar import ShareBar
from tilesim_scenes.mobjects.drawing.quads import seen

SMALL = {"sms": 3, "m": 256, "n": 1024, "k": 256, "device": "h200"}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "two residents": ("naive", {"ctas_per_sm": 2}),
    "a busy SM": ("naive", {"busy_sms": 1}),
    "one tile": ("naive", {"n": 128, "m": 128}),
    "no overheads": ("naive", {"costs": "ideal"}),
    "image": ("naive", {"n": 8192}),
    "residents that stay": ("persistent", {"ctas_per_sm": 2}),
    "cut tiles": ("persistent", {"schedule": "stream-k"}),
    "a counter": ("persistent", {"schedule": "persistent-dynamic"}),
    "images of residents": ("persistent", {"n": 8192}),
}


@pytest.mark.parametrize("case", ASKED)
def test_a_film_of_one_run_is_told_to_its_end(case: str) -> None:
    name, settings = ASKED[case]
    scene = watch(scene_class(name), "wide", SMALL | settings).scene
    assert scene.card.sentence
    assert scene.traces[0].makespan in {run.until for run in scene.runs}


@pytest.mark.parametrize(
    ("name", "schedule"), [("naive", "persistent"), ("naive", "split-k:2"), ("persistent", "naive")]
)
def test_a_run_of_other_blocks_is_refused_in_a_sentence(name: str, schedule: str) -> None:
    with pytest.raises(SystemExit, match=f"error: the film {name} shows blocks .* the film"):
        watch(scene_class(name), "wide", SMALL | {"schedule": schedule})


@cache
def played(name: str) -> Seen:
    return watch(scene_class(name), "wide", {"next": "none"})


def test_the_pair_has_one_scale() -> None:
    assert played("naive").scene.lanes.window == played("persistent").scene.lanes.window


def test_parts_of_lanes_fill_the_bar_that_they_are_added_up_in() -> None:
    bar, lanes = played("naive").scene.card.bars, played("naive").scene.lanes
    assert isinstance(bar, ShareBar)
    for kind in ("multiply", "write", "first load", "launch"):
        each = zip(lanes.pieces, lanes.parts, strict=True)
        drawn = [np.ptp(one.points[:, 0]) for part, one in each if part.kind == kind]
        assert sum(drawn) == pytest.approx(bar.grounds[kind].width)


def test_what_is_not_gathered_fades_before_anything_moves() -> None:
    naive = played("naive").scene
    lanes = Lanes(naive.traces[0]).show(naive.traces[0].makespan)
    figures = [one for part in lanes.parts for one in part.submobjects if seen(one)]

    def look() -> list[list[float]]:
        return [one.points.ravel().tolist() for one in [*lanes.parts, *figures]]

    stood, gather = look(), Gather(lanes, naive.card.bars)
    gather.begin()
    assert look() == stood and all(sum(opacities(one)[0]) or sum(opacities(one)[1]) for one in figures)
    gather.interpolate_mobject(GOES)
    assert look() == stood and not any(sum(opacities(one)[0]) or sum(opacities(one)[1]) for one in figures)


def test_every_tile_is_home_and_every_block_gone_at_the_end() -> None:
    naive = played("naive").scene
    end = naive.traces[0].makespan
    naive.traffic.show(end)
    for row in naive.traffic:
        place, fill, _, coming, flying = row
        assert seen(fill)
        assert not (seen(place) or seen(coming) or seen(flying))
    naive.blocks.show(end + 10_000)
    assert all(block.token.get_fill_opacity() == 0 for block in naive.blocks)


def test_persistent_says_what_one_block_a_tile_would_be() -> None:
    share = played("naive").scene.card.number.split()[0]
    assert any(word.text.endswith(share) for word in played("persistent").moments[-1][1])
