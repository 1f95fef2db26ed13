"""The example of a kernel that others wrote: it compiles, and what it printed on an H200 is a trace."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tilesim import Device, Problem
from tilesim.calibration.calibrate import calibrate, repeated
from tilesim.formats.reader import read
from tilesim.metrics import breakdown, launches

SOURCE, PRINTED = (Path(__file__).with_name(f"own_kernel.{ending}") for ending in ("cu", "csv"))


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_it_compiles(tmp_path):
    words = ["nvcc", "-O3", "-arch=sm_90", "-Werror=all-warnings", "-c", SOURCE, "-o", tmp_path / "own.o"]
    subprocess.run(words, check=True, timeout=300)


def test_what_it_printed_is_what_it_prints():
    """The header and the facts are those of the format strings, filled in."""
    formats = re.findall(r'printf\("(.*?)\\n"', SOURCE.read_text())
    facts, header, *rows = PRINTED.read_text().splitlines()
    assert header == formats[1]
    assert facts.startswith("# m=4096 n=2560 k=1024 tile=128x128x16 dtype=fp32")
    assert all(row.count(",") == formats[2].count(",") for row in rows)
    known = {name: int(value) for name, value in re.findall(r"\b(\w+) = (\d+)\b", SOURCE.read_text())}
    assert [known[name] for name in ("m", "n", "k", "TILE", "DEPTH")] == [4096, 2560, 1024, 128, 16]
    assert len(rows) == (known["m"] // known["TILE"]) * (known["n"] // known["TILE"])


def test_it_is_a_trace_that_can_be_calibrated_and_played_again():
    trace = read(PRINTED)
    assert trace.problem == Problem(4096, 2560, 1024, (128, 128, 16), "fp32")
    assert trace.device == Device(132, 2, name="h200")  # as `__launch_bounds__(THREADS, 2)` makes room for
    assert (trace.schedule, trace.origin, trace.tick_ns) == ("my matmul", "measured", 32)
    assert trace.meta == {"gpu": "NVIDIA H200"}
    assert launches(trace) == len(np.unique(trace.spans["tile"])) == 640
    assert sum(breakdown(trace).values()) == trace.device.slots * trace.makespan
    spans = trace.spans
    assert spans["tile"].tolist() == spans["cta"].tolist()
    first = spans["issue"] == 0
    assert first.sum() == 264 and (spans["cta"][first] < 264).all()
    gap = (spans["start"] - spans["issue"])[~first]
    assert (gap >= 0).all() and np.median(gap) < 2000
    measured, simulated = repeated(trace, calibrate([trace]))
    assert simulated == pytest.approx(measured, rel=0.15)
