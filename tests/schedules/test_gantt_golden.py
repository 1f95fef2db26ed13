"""Charts in golden/*.txt: what each schedule does, as a picture that a diff shows.

After a change that is meant, draw them anew and read the diff:

    TILESIM_GOLDEN=write pytest tests/schedules/test_gantt_golden.py
"""

import os
from pathlib import Path

import pytest

from tilesim import Costs, Device, Problem, simulate
from tilesim.formats import gantt

GOLDEN = Path(__file__).parents[1] / "golden"
WRITE = os.environ.get("TILESIM_GOLDEN") == "write"

FIGURE = Problem(384, 384, 128, tile=(128, 128, 4))
CLASSROOM = Problem(384, 1536, 512)
STEPS = Costs(k_step=1000, launch=1500, prologue=500, tile_gap=500, epilogue=2500)
MERGES = Costs(k_step=1000, launch=1500, prologue=500, tile_gap=500, epilogue=2500, fixup=1500)
CASES = {
    "stream-k-figure-1a": ("naive", FIGURE, Device(4), Costs.ideal(), 0),
    "stream-k-figure-1b": ("naive", Problem(384, 384, 128, tile=(128, 64, 4)), Device(4), Costs.ideal(), 0),
    **{
        f"classroom-{schedule}": (schedule, CLASSROOM, Device(4), STEPS, 0)
        for schedule in ("naive", "persistent", "persistent-contiguous", "persistent-dynamic")
    },
    "overlapped-epilogue": (
        "persistent",
        CLASSROOM,
        Device(4),
        Costs(k_step=1000, launch=1500, prologue=500, epilogue=2500, overlap=True),
        0,
    ),
    "two-blocks-per-sm": (
        "naive",
        Problem(384, 1280, 512),
        Device(2, ctas_per_sm=2, sm_order=(1, 0)),
        Costs(k_step=1000, launch=1500, epilogue=2500, coresidency=(1.0, 1.5)),
        0,
    ),
    "busy-sm-persistent": ("persistent", CLASSROOM, Device(4, busy_sms=1), STEPS, 0),
    "busy-sm-dynamic": ("persistent-dynamic", CLASSROOM, Device(4, busy_sms=1), STEPS, 0),
    "jitter-persistent": ("persistent", CLASSROOM, Device(4), Costs(jitter=0.3), 7),
    "jitter-dynamic": ("persistent-dynamic", CLASSROOM, Device(4), Costs(jitter=0.3), 7),
    "split-k": ("split-k:2", CLASSROOM, Device(4), MERGES, 0),
    "stream-k": ("stream-k:4", CLASSROOM, Device(4), MERGES, 0),
    "stream-k-waits": ("stream-k:4", Problem(256, 256, 1024), Device(4), MERGES, 0),
    "stream-k-hybrid-1": ("stream-k-hybrid:1", CLASSROOM, Device(4), MERGES, 0),
    "stream-k-hybrid-2": ("stream-k-hybrid:2", CLASSROOM, Device(4), MERGES, 0),
    "cluster-launch-control": ("cluster-launch-control", CLASSROOM, Device(4, busy_sms=1), STEPS, 0),
    "hilbert-order": ("persistent", Problem(512, 1024, 512, order="hilbert"), Device(4), STEPS, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_chart(name):
    schedule, problem, device, costs, seed = CASES[name]
    drawn = gantt.draw(simulate(schedule, problem, device, costs, seed), 96) + "\n"
    path = GOLDEN / f"{name}.txt"
    if WRITE:
        path.write_text(drawn, "utf-8")
    assert drawn == path.read_text("utf-8")


def test_each_chart_has_its_case():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CASES)
