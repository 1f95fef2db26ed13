"""How the command line starts, and how Ctrl-C and SIGTERM stop it before a command has begun."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from tilesim import __main__
from tilesim.cli import Stopped, stoppable


@pytest.mark.parametrize(("asked", "used"), [(None, "1"), ("3", "3")])
def test_numpy_multiplies_in_one_thread_unless_the_user_says_how_many(asked, used, monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", asked or "")
    if asked is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    seen = []
    monkeypatch.setattr("tilesim.cli.main", lambda: seen.append(os.environ["OPENBLAS_NUM_THREADS"]))
    __main__.main()
    assert seen == [used]


@pytest.mark.parametrize("module", ["numpy", "click", "tilesim.costs"])
def test_ctrl_c_while_modules_are_imported_is_no_traceback(module, tmp_path):
    """Whichever is being imported: here one that interrupts the process as it is executed."""
    code = f"""
import importlib.abc, os, runpy, signal, sys, time

class Interrupted(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(30)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupted())
sys.argv = ["tilesim", "list"]
runpy.run_module("tilesim", run_name="__main__", alter_sys=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode in (130, -signal.SIGINT)  # a shell shows both as 130
    assert (done.stdout, done.stderr.strip()) == ("", "")


def test_sigterm_is_raised_once_and_then_as_before_also_for_who_handles_it_otherwise():
    with pytest.raises(Stopped), stoppable():
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    seen = []
    before = signal.signal(signal.SIGTERM, lambda *args: seen.append(args))
    try:
        with stoppable():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert len(seen) == 1


def test_another_thread_leaves_signals_alone():
    found = []

    def enter():
        with stoppable():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert found == [signal.SIG_DFL]
