"""`tilesim record --suite` on a GPU that is played: each run a file and a line, and it goes on later."""

import json
from functools import partial
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from command_line import tilesim

from tilesim import Device, Trace, simulate
from tilesim.cli import main, suites
from tilesim.errors import TilesimError

FACTS = {
    **{"source": "the driver", "sms": 4, "max_sm_mhz": 1500, "l2_mb": 40, "memory_gb_per_s": 60},
    "peak_tflops": {"fp16": 20},
}
ENTRY = {"title": "My GPU", "architecture": "hopper", "facts": [FACTS]}


class Played(SimpleNamespace):
    """Stands for kernels/: notes which runs it was asked for, and cannot do some."""

    def gpu_facts(self):
        return self.entry

    def record(self, schedule, problem, *, kernel, stages, ctas_per_sm, repeats):
        self.asked.append((schedule, problem.tile, kernel, stages, ctas_per_sm, repeats))
        if kernel in self.lacks:
            raise TilesimError("its plan counts on more")
        if len(self.asked) == self.breaks_at:
            raise KeyboardInterrupt
        return simulate(schedule, problem, Device(4, ctas_per_sm))


@pytest.fixture
def gpu(monkeypatch):
    played = Played(entry=ENTRY, asked=[], lacks=(), breaks_at=0)
    monkeypatch.setattr(suites, "load", lambda name: played)
    return played


record = partial(tilesim, "record", "--suite", "-o")


def test_each_run_is_a_file_and_a_line(gpu, tmp_path):
    said = record(tmp_path / "my-gpu", "--repeats", "3").stdout.splitlines()
    files = sorted(path.stem for path in (tmp_path / "my-gpu").glob("*.npz"))
    assert len(said) == len(files) == len(gpu.asked) == 24
    assert {line.split()[3] for line in said} == set(files)
    assert json.loads((tmp_path / "my-gpu/device.json").read_text()) == ENTRY
    assert {one[-1] for one in gpu.asked} == {3}
    assert ("persistent", (128, 64, 64), "dedicated", 2, 1, 3) in gpu.asked
    assert Trace.load(tmp_path / "my-gpu/dram.npz").problem.dtype == "fp16"


def test_it_goes_on_where_it_was_interrupted(gpu, tmp_path):
    gpu.breaks_at = 5
    CliRunner().invoke(main, ["record", "--suite", "-o", str(tmp_path)])
    assert len(list(tmp_path.glob("*.npz"))) == 4
    (tmp_path / "dram.npz").write_bytes(b"cut sho")
    gpu.asked.clear()
    gpu.breaks_at = 0
    said = record(tmp_path).stdout
    assert said.count("kept, ") == 4 and len(gpu.asked) == 20
    assert Trace.load(tmp_path / "dram.npz")


def test_a_run_that_the_gpu_cannot_do_is_left_out(gpu, tmp_path):
    gpu.lacks = ("table",)
    said = record(tmp_path).stdout
    assert said.count("left out: its plan counts on more") == 9
    assert len(list(tmp_path.glob("*.npz"))) == 15
    gpu.lacks = ("table", "dedicated")
    result = CliRunner().invoke(main, ["record", "--suite", "-o", str(tmp_path / "none")])
    assert result.exit_code == 1 and "no run of the suite" in result.stderr


def test_a_folder_of_another_gpu_and_a_file_are_refused(gpu, tmp_path):
    record(tmp_path)
    gpu.entry = ENTRY | {"title": "Another"}
    said = record(tmp_path, code=1).stderr
    assert "device.json is of 'My GPU', and this machine has 'Another'" in said
    (tmp_path / "file").write_text("mine")
    assert "file: File exists" in record(tmp_path / "file", code=1).stderr
    assert (tmp_path / "file").read_text() == "mine"
