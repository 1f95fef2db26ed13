"""The films of any trace can be read: of one tile or many, without a pause, of several residents."""

from dataclasses import replace
from pathlib import Path

import others
import pytest
from reading import faults
from watching import watch

from tilesim import Costs, Device, Problem, simulate
from tilesim.analysis.divergence import since_first_multiply
from tilesim.formats.reader import read
from tilesim_scenes.race import Race
from tilesim_scenes.run import RunOfAnything
from tilesim_scenes.sim_vs_silicon import SimVsSilicon

OWN = Path(__file__).parents[2] / "own_kernel.csv"
ONE = Problem(128, 256, 512)
MANY = Problem(2**14, 2**14, 64, tile=(64, 64, 64))
FULL = Problem(128, 512, 4, tile=(128, 128, 4))
FEW = Problem(384, 1536, 512)
RUNS = {
    "one tile": lambda: simulate("naive", ONE, Device.named("h200")),
    "one SM": lambda: simulate("persistent", FEW, Device.named("h200", sms=1)),
    "no pause": lambda: simulate("naive", FULL, Device(4), Costs.ideal()),
    "two residents": lambda: simulate("naive", FEW, Device(4, 2)),
    "waits for partials": lambda: simulate("stream-k", Problem(384, 1280, 2048), Device.named("h200", sms=4)),
    "65,536 tiles": lambda: simulate("persistent", MANY, Device.named("h200")),
    "a name of a thousand letters": lambda: replace(
        simulate("naive", FEW, Device(4)), schedule="wgmma_" * 160
    ),
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
    found = faults(watch(RunOfAnything, aspect, {"trace": path}, moving=aspect == "wide" and its_own_way))
    assert not found, "\n".join(found)


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
