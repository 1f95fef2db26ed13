"""The film of one run shows any run to its end, and adds up all that its lanes show."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from watching import ASPECTS, Seen, frame, watch

from tilesim.cli.packages import scene_class
from tilesim_scenes import Lanes
from tilesim_scenes.animations.fade import opacities
from tilesim_scenes.animations.into_bars import GOES, Gather
from tilesim_scenes.mobjects.charts.share_bar import ShareBar, percents
from tilesim_scenes.mobjects.words.caption import Caption

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
    "blocks that stay, shown as naive": ("naive", {"schedule": "persistent"}),
    "blocks that share tiles": ("naive", {"schedule": "split-k:2"}),
    "one SM": ("run", {"sms": 1}),
}


@pytest.mark.parametrize("case", ASKED)
def test_a_film_of_one_run_is_told_to_its_end(case: str) -> None:
    name, settings = ASKED[case]
    scene = watch(scene_class(name), "wide", SMALL | settings).scene
    assert scene.card.sentence
    assert scene.traces[0].makespan in {run.until for run in scene.runs}


@cache
def played(name: str) -> Seen:
    return watch(scene_class(name), "wide", {"next": "none", "seed": 0})


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
    figures = [one for part in lanes.parts for one in part.submobjects if len(one.points)]

    def look() -> list[list[float]]:
        return [one.points.ravel().tolist() for one in [*lanes.parts, *figures]]

    stood, gather = look(), Gather(lanes, naive.card.bars)
    gather.begin()
    assert look() == stood and all(sum(opacities(one)[0]) or sum(opacities(one)[1]) for one in figures)
    gather.interpolate_mobject(GOES)
    assert look() == stood and not any(sum(opacities(one)[0]) or sum(opacities(one)[1]) for one in figures)


@pytest.mark.parametrize("aspect", ["wide", "square", "tall"])
def test_no_caption_reaches_the_key(aspect: str) -> None:
    seen = watch(scene_class("naive"), aspect, {"seed": 0})
    with frame(*ASPECTS[aspect]):
        tops = [Caption(one.text).get_top()[1] for one in seen.scene.captions]
    assert max(tops) < seen.scene.legend.get_bottom()[1]


def test_percents_add_up_to_a_hundred() -> None:
    for shares in ({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}, {"a": 0.995, "b": 0.005}, {"a": 1.0}):
        assert sum(percents(shares).values()) == 100
        assert all(abs(whole - 100 * shares[name]) < 1 for name, whole in percents(shares).items())
