"""Files of versions before 0.2 still load: the names in them become those of today."""

import json
from dataclasses import replace
from pathlib import Path

import ladders
import pytest

from tilesim import Costs, Device, Problem, Trace, simulate
from tilesim.analysis.explain import explain
from tilesim.cli.commands.info import _calibrations
from tilesim.errors import CostsError
from tilesim.kernel_costs.calibration import Calibration
from tilesim.kernel_costs.default import read_costs
from tilesim.ladder.file import parse

FOLDER = Path(__file__).parent / "old_files"
PARTS = {"mainloop_overhead": 90, "launch": 168, "prologue": 400, "tile_gap": 150, "epilogue": 900}
COSTS = Costs(k_step=700, overlap=True, epilogue_overlap_penalty=80, **PARTS)
PROBLEM, DEVICE = Problem(1024, 1280, 512), Device(3)


def test_costs():
    assert read_costs(FOLDER / "costs.json", "persistent", PROBLEM, DEVICE) == COSTS
    values = json.loads((FOLDER / "costs.json").read_text("utf-8")) | {"tile_gap": 3}
    with pytest.raises(CostsError, match="no field"):  # under both names
        Costs.from_mapping(values)


def test_calibrations():
    (values,) = json.loads((FOLDER / "calibrations.json").read_text("utf-8"))
    found = Calibration.from_mapping(values)
    assert (found.costs.mainloop_overhead, found.costs.tile_gap) == (191, 606)
    assert found.costs.epilogue_overlap_penalty == 60
    assert found.unseen == ("launch", "epilogue_overlap_penalty")
    assert found.kernel.config.kernel == "table"
    assert Calibration.from_mapping(json.loads(json.dumps(found.as_json()))) == found
    assert "tile_gap 606 ns" in "".join(_calibrations([values])[1])


def test_a_trace(tmp_path):
    """It is explained as one that was simulated today, and a gap alone makes its costs not bare."""
    now = simulate("persistent", PROBLEM, DEVICE, COSTS)
    old = json.loads((FOLDER / "costs.json").read_text("utf-8"))
    replace(now, meta=now.meta | {"costs": old}).save(tmp_path / "old.npz")
    found = Trace.load(tmp_path / "old.npz")
    assert explain(found) == explain(now)


def test_a_ladder():
    values = ladders.values()
    for row in values["rows"]:
        row["name"] = row["name"].replace("warp-specialized", "specialised")
    assert parse(values) == parse(ladders.values())
