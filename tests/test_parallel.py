"""Work spread over processes: results in order, and nothing left behind however it ends."""

import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import active_children
from multiprocessing.connection import Connection

import pytest

from tilesim.errors import TilesimError
from tilesim.parallel import cores, in_order


def test_results_are_in_order_an_error_arrives_and_no_process_stays():
    numbers = list(range(-500, 500))
    assert in_order(abs, numbers, jobs=2) == in_order(abs, numbers) == list(map(abs, numbers))
    assert in_order(abs, [], jobs=2) == []
    assert in_order(abs, [-1], jobs=2) == [1]
    with pytest.raises(ValueError, match="invalid literal"):
        in_order(int, ["1"] * 200 + ["x"] * 200, jobs=2)
    assert not active_children()


def test_alone_there_is_no_pool():
    assert 1 <= cores() <= os.cpu_count()
    assert set(in_order(_process, range(100), jobs=1)) == {os.getpid()}


def _process(number):
    return os.getpid()


def test_a_process_that_dies_is_one_sentence_and_no_pipe_is_closed_twice(monkeypatch):
    """Python closes the pipes of a broken pool in a thread, slowly here; then it may be another's."""

    def slowly(connection):
        handle = connection._handle
        time.sleep(0.2)
        os.close(handle)

    failed = []
    monkeypatch.setattr(Connection, "_close", slowly)
    monkeypatch.setattr(threading, "excepthook", failed.append)
    with pytest.raises(TilesimError, match="a worker process was killed"):
        in_order(os._exit, [9] * 100, jobs=2)
    assert not failed and not active_children()


SLEEPER = """
import os, time
from tilesim.parallel import in_order

def sleep(number):
    os.write(1, b"%d\\n" % os.getpid())  # at once, or the lines of two would mix
    time.sleep(60)

if __name__ == "__main__":
    in_order(sleep, range(32), jobs=2)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_it_is_ended_no_process_stays(how, tmp_path):
    script = tmp_path / "sleeper.py"
    script.write_text(SLEEPER)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    started = subprocess.Popen([sys.executable, script], start_new_session=True, **pipes)
    for _ in range(2):
        assert int(started.stdout.readline()) != started.pid
    # A terminal sends Ctrl-C to all processes; the other two are sent to one.
    (os.killpg if how == signal.SIGINT else os.kill)(started.pid, how)
    # Every process that lives holds an end of these pipes, which would not come to their ends.
    _, said = started.communicate(timeout=30)
    assert started.returncode != 0
    assert said.count("Traceback") == (how == signal.SIGINT)


HALF_A_RESULT = """
import os, struct, sys, time
from pathlib import Path
from tilesim.parallel import processes

def half(written):
    frame = sys._getframe()
    while "result_queue" not in frame.f_locals:
        frame = frame.f_back
    os.write(frame.f_locals["result_queue"]._writer.fileno(), struct.pack("!i", 1000) + b"the rest lacks")
    Path(written).touch()
    time.sleep(60)

if __name__ == "__main__":
    written = Path(sys.argv[1])
    with processes(1) as pool:
        pool.submit(half, str(written))
        while not written.exists():
            time.sleep(0.05)
        time.sleep(0.5)
        raise SystemExit(7)
"""


def test_a_process_that_is_ended_in_the_middle_of_its_result_is_not_waited_for(tmp_path):
    script = tmp_path / "half.py"
    script.write_text(HALF_A_RESULT)
    command = [sys.executable, script, tmp_path / "written"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=40, check=False)
    assert (done.returncode, done.stderr) == (7, "")
