"""Ctrl-C and SIGTERM before a command has begun; in the middle of one: tests/scenes/test_export.py."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from tilesim.cli import Stopped, stoppable


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
    assert (done.returncode, done.stdout, done.stderr.strip()) == (130, "", "")


def test_sigterm_is_raised_once_and_then_as_before():
    with pytest.raises(Stopped), stoppable():
        os.kill(os.getpid(), signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_who_handles_sigterm_otherwise_still_does():
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
