"""Who draws: processes of this machine, and a Dask cluster that loses a worker."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from importlib import import_module

import pytest
from command_line import tilesim
from film_files import frames

pytest.importorskip("manim", reason="the films need Manim")

from tilesim.cli import jobs
from tilesim.errors import TilesimError

SCENE = """
from manim import *

class Spins(Scene):
    def construct(self):
        self.play(Rotating(Square(color=RED, fill_opacity=1), run_time=5))
"""
CUT = ["--size", "128x72", "--fps", "10"]


run = partial(tilesim, "export")


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """A scene of three segments."""
    file = tmp_path_factory.mktemp("scenes") / "spins.py"
    file.write_text(SCENE, "utf-8")
    return file


@pytest.fixture(scope="module")
def alone(scene):
    path = scene.with_name("film.mp4")
    assert run(scene, *CUT, "--jobs", 1, "-o", path).stdout == ""
    return path


@pytest.mark.parametrize("jobs", [[], ["--jobs", 2], ["--jobs", 64]])
def test_any_number_of_jobs_gives_the_same_file(jobs, scene, alone, tmp_path):
    assert run(scene, *CUT, *jobs, "-o", tmp_path / "film.mp4").stdout == ""
    assert (tmp_path / "film.mp4").read_bytes() == alone.read_bytes()


@pytest.fixture(scope="module")
def cluster():
    """Two workers, each a process with one thread, which a nanny starts anew where it dies."""
    distributed = pytest.importorskip("distributed")
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": "CRITICAL"}
    with distributed.LocalCluster(n_workers=2, memory_limit=0, **options) as made:
        yield made


def test_a_cluster_gives_the_same_file(cluster, scene, alone, tmp_path):
    address = cluster.scheduler_address
    assert run(scene, *CUT, "--cluster", address, "-o", tmp_path / "film.mp4").stdout == ""
    assert (tmp_path / "film.mp4").read_bytes() == alone.read_bytes()


def test_a_cluster_that_loses_a_worker_does_its_task_again(cluster, scene, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster) as client:
        pids = client.run(os.getpid)
        command = [sys.executable, "-m", "tilesim", "export", str(scene), "--size", "320x180", "--fps", "30"]
        command += ["--cluster", cluster.scheduler_address, "-o", str(tmp_path / "film.mp4")]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        deadline, busy = time.monotonic() + 60, None
        while busy is None and time.monotonic() < deadline:
            busy = next((worker for worker, tasks in client.processing().items() if tasks), None)
            time.sleep(0.05)
        os.kill(pids[busy], signal.SIGKILL)
        _, said = process.communicate(timeout=120)
        assert pids[busy] not in client.run(os.getpid).values()
    assert process.returncode == 0 and said.startswith("wrote ") and said.count("\n") == 1
    assert len(frames(tmp_path / "film.mp4")) == 150
    assert [path.name for path in tmp_path.iterdir()] == ["film.mp4"]


def test_a_cluster_whose_workers_lack_something_is_one_sentence(cluster):
    sentence = "failed .*no_such_module.*; is this tilesim installed on its workers"
    with pytest.raises(TilesimError, match=sentence), jobs.workers_of(cluster.scheduler_address) as workers:
        workers.submit(import_module, "no_such_module").result()


@pytest.fixture
def alone_in_its_cluster():
    """A cluster of one worker, which nobody starts anew."""
    distributed = pytest.importorskip("distributed")
    options = {"processes": False, "dashboard_address": ":0", "silence_logs": "CRITICAL"}
    with distributed.LocalCluster(n_workers=1, **options) as made:
        yield made


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        (lambda cluster: cluster.scale(0), "has lost all of its workers, .*; none came back within 2 s"),
        (lambda cluster: cluster.close(), "has lost its scheduler, and with it what it had computed"),
    ],
)
def test_what_is_gone_is_not_waited_for(end, sentence, alone_in_its_cluster, monkeypatch):
    for name in ("LOST", "PATIENCE"):
        monkeypatch.setattr(jobs, name, 2)
    with (
        pytest.raises(TilesimError, match=sentence),
        jobs.workers_of(alone_in_its_cluster.scheduler_address) as workers,
    ):
        task = workers.submit(time.sleep, 5)
        end(alone_in_its_cluster)
        task.result()


def test_a_task_that_runs_out_of_time_itself_says_so(alone_in_its_cluster):
    with (
        pytest.raises(TilesimError, match="TimeoutError: of its own"),
        jobs.workers_of(alone_in_its_cluster.scheduler_address) as workers,
    ):
        workers.submit(out_of_time).result()


def out_of_time():
    raise TimeoutError("of its own")


def test_a_cluster_without_workers_is_not_waited_for(scene, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty:
        address = empty.scheduler_address
        result = run(scene, *CUT, "--cluster", address, "-o", tmp_path / "film.mp4", code=1)
    assert "has no workers" in result.stderr and not list(tmp_path.iterdir())


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x", "127.0.0.1:notaport", "x"])
def test_a_cluster_that_is_not_there(address, scene, tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "PATIENCE", 1)
    result = run(scene, *CUT, "--cluster", address, "-o", tmp_path / "film.mp4", code=1)
    assert f"cannot reach a Dask cluster at {address!r}" in result.stderr and not list(tmp_path.iterdir())


def test_a_cluster_that_never_was_leaves_no_traceback(scene, tmp_path):
    """As Python exits, too."""
    command = [sys.executable, "-m", "tilesim", "export", str(scene), "--cluster", "x", "-o", "film.mp4"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and not list(tmp_path.iterdir())
    assert done.stderr.startswith("error: cannot reach a Dask cluster at 'x' (")


def test_without_dask_it_is_said_what_to_install(scene, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = run(scene, *CUT, "--cluster", "tcp://127.0.0.1:1", "-o", tmp_path / "film.mp4", code=1)
    assert "pip install '.[cluster]'" in result.stderr
