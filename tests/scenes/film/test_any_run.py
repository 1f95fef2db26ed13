"""The films of any run are told to the end, can be read, and add up all that their lanes show."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import others
import pytest
from reading import faults
from watching import ASPECTS, frame, watch

from tilesim import Costs, Device, Problem, simulate
from tilesim.analysis.divergence import since_first_multiply
from tilesim.cli.packages import scene_class
from tilesim.formats.reader import read
from tilesim_scenes import Lanes
from tilesim_scenes.animations.fade import opacities
from tilesim_scenes.animations.into_bars import GOES, Gather
from tilesim_scenes.mobjects.charts.share_bar import ShareBar, percents
from tilesim_scenes.mobjects.words.finding import Caption
from tilesim_scenes.race import Race
from tilesim_scenes.run import RunOfAnything
from tilesim_scenes.sim_vs_silicon import SimVsSilicon

SMALL = {"sms": 3, "m": 256, "n": 1024, "k": 256, "device": "h200"}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "a busy SM": ("naive", {"busy_sms": 1}),
    "residents that stay": ("persistent", {"ctas_per_sm": 2}),
    "a counter": ("persistent", {"schedule": "persistent-dynamic"}),
    "images of residents": ("persistent", {"n": 8192}),
    "blocks that share tiles": ("naive", {"schedule": "split-k:2"}),
}


@pytest.mark.parametrize("case", ASKED)
def test_a_film_of_one_run_is_told_to_its_end(case: str) -> None:
    name, settings = ASKED[case]
    told_to_the_end(watch(scene_class(name), "wide", SMALL | settings).scene)


def told_to_the_end(scene: Any) -> None:
    assert scene.card.sentence
    assert scene.traces[0].makespan in {run.until for run in scene.runs}


@cache
def naive() -> Any:
    """The film of a naive run, played to its end."""
    return watch(scene_class("naive"), "wide", {"next": "none", "seed": 0}).scene


def test_parts_of_lanes_fill_the_bar_that_they_are_added_up_in() -> None:
    bar, lanes = naive().card.bars, naive().lanes
    assert isinstance(bar, ShareBar)
    for kind in ("multiply", "write", "first load", "launch"):
        each = zip(lanes.pieces, lanes.parts, strict=True)
        drawn = [np.ptp(one.points[:, 0]) for part, one in each if part.kind == kind]
        assert sum(drawn) == pytest.approx(bar.grounds[kind].width)


def test_what_is_not_gathered_fades_before_anything_moves() -> None:
    trace, bars = naive().traces[0], naive().card.bars
    lanes = Lanes(trace).show(trace.makespan)
    figures = [one for part in lanes.parts for one in part.submobjects if len(one.points)]

    def look() -> list[list[float]]:
        return [one.points.ravel().tolist() for one in [*lanes.parts, *figures]]

    stood, gather = look(), Gather(lanes, bars)
    gather.begin()
    assert look() == stood and all(sum(opacities(one)[0]) or sum(opacities(one)[1]) for one in figures)
    gather.interpolate_mobject(GOES)
    assert look() == stood and not any(sum(opacities(one)[0]) or sum(opacities(one)[1]) for one in figures)


def test_percents_add_up_to_a_hundred() -> None:
    for shares in ({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}, {"a": 0.995, "b": 0.005}, {"a": 1.0}):
        assert sum(percents(shares).values()) == 100
        assert all(abs(whole - 100 * shares[name]) < 1 for name, whole in percents(shares).items())


OWN = Path(__file__).parents[2] / "own_kernel.csv"
ONE = Problem(128, 256, 512)
MANY = Problem(2**13, 2**13, 64, tile=(64, 64, 64))
FULL = Problem(128, 512, 4, tile=(128, 128, 4))
FEW = Problem(384, 1536, 512)
RUNS = {
    "one tile": lambda: simulate("naive", ONE, Device.named("h200")),
    "one SM": lambda: simulate("persistent", FEW, Device.named("h200", sms=1)),
    "no pause": lambda: simulate("naive", FULL, Device(4), Costs.ideal()),
    "two residents": lambda: simulate("naive", FEW, Device(4, 2)),
    "waits for partials": lambda: simulate("stream-k", Problem(384, 1280, 2048), Device.named("h200", sms=4)),
    "16,384 tiles": lambda: simulate("persistent", MANY, Device.named("h200")),
    "a name of many words": lambda: replace(simulate("naive", FEW, Device(4)), schedule="kernel " * 142),
    "a name and a GPU of wide letters": lambda: replace(
        simulate("naive", FEW, Device(4)), schedule="W" * 1000, origin="measured", meta={"gpu": "W" * 1000}
    ),
}


@pytest.fixture(scope="module", params=RUNS)
def run(request, tmp_path_factory):
    """The run, the name of a file with it, and whether it moves otherwise than the others do."""
    trace, path = RUNS[request.param](), tmp_path_factory.mktemp("run") / "run.npz"
    trace.save(path)
    return trace, str(path), not request.param.startswith("a ")


@pytest.mark.parametrize("aspect", ["wide", "tall"])
def test_a_trace_can_be_read(run, aspect):
    _, path, its_own_way = run
    seen = watch(RunOfAnything, aspect, {"trace": path}, moving=aspect == "wide" and its_own_way)
    found = faults(seen)
    assert not found, "\n".join(found)
    told_to_the_end(seen.scene)
    with frame(*ASPECTS[aspect]):
        tops = [Caption(one.text).get_top()[1] for one in seen.scene.captions]
    assert max(tops) < seen.scene.legend.get_bottom()[1], "no caption reaches the key"


def test_a_foreign_kernel_can_be_read():
    found = faults(watch(RunOfAnything, "wide", {"trace": str(OWN)}, moving=True))
    assert not found, "\n".join(found)


def test_work_items_are_called_so_in_a_film_and_in_a_race(tmp_path):
    one = read(others.write(tmp_path, "tasks.csv"))
    spans = one.spans.copy()
    spans["done"][-1] += 900
    replace(one, schedule="slow", spans=spans).save(tmp_path / "slow.npz")
    one.save(tmp_path / "one.npz")
    both = [str(tmp_path / name) for name in ("one.npz", "slow.npz")]
    for film, given in ((RunOfAnything, both[:1]), (Race, both)):
        seen = watch(film, "wide", {"trace": given}, moving=True)
        assert not faults(seen)
        said = " ".join(one.text for one in seen.scene.captions)
        assert "12 work items" in said and "tile" not in said


def test_a_simulation_can_be_read_beside_any_run(run, tmp_path):
    trace, *_ = run
    slower = replace(trace, spans=_stretched(since_first_multiply(trace).spans), origin="measured", meta={})
    for one in (replace(trace, origin="simulated"), slower):
        one.save(tmp_path / f"{one.origin}.npz")
    both = [str(tmp_path / f"{origin}.npz") for origin in ("simulated", "measured")]
    found = faults(watch(SimVsSilicon, "tall", {"trace": both}))
    assert not found, "\n".join(found)


def _stretched(spans):
    """The same run, 7 % slower."""
    spans = spans.copy()
    for name in ("issue", "start", "drain", "ready", "fixup", "done"):
        spans[name] = spans[name] * 107 // 100
    return spans
