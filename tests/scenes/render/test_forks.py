"""Processes that are forked to draw: how many work at once, and what becomes of those that wait."""

import os
import signal
import socket
import threading
import time
from pathlib import Path

import psutil
import pytest

from tilesim.errors import TilesimError
from tilesim_scenes.render.forks import CAN_FORK, ENDING, Forks

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="there is no fork here")


@pytest.fixture
def forks(tmp_path: Path) -> Forks:
    made = Forks(2, tmp_path, lambda frames: None)
    yield made
    made.close()


def until(path: Path) -> None:
    """Wait for a file."""
    deadline = time.monotonic() + 30
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)


def test_one_more_is_forked_while_another_works_and_waits_for_its_turn(forks: Forks, tmp_path: Path) -> None:
    if forks.fork():
        until(tmp_path / "both are there")
        (tmp_path / "first is done").touch()
        forks.leave()
    if forks.fork():
        forks.leave("" if (tmp_path / "first is done").exists() else "both worked at once")
    (tmp_path / "both are there").touch()
    until(tmp_path / "first is done")
    forks.finish()
    assert (tmp_path / "first is done").exists()
    assert not forks.running


def test_who_was_forked_first_works_first(forks: Forks, tmp_path: Path) -> None:
    """A film ends standing still, so its last segments cost little: drawn last, they fill what is left."""
    numbers, order = range(8), tmp_path / "order"
    for number in numbers:
        if forks.fork():
            until(tmp_path / "all are there")
            with open(order, "a", encoding="utf-8") as file:
                file.write(str(number))
            forks.leave()
    (tmp_path / "all are there").touch()
    while forks.running:
        forks.full()
        time.sleep(0.01)
    assert order.read_text("utf-8") == "".join(map(str, numbers))


def test_once_this_one_works_no_more_another_does(forks: Forks, tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "a")):
        if forks.fork():
            (tmp_path / name).touch()
            until(tmp_path / other)
            forks.leave("" if (tmp_path / other).exists() else "the other never began")
    forks.finish()
    assert not forks.running


def test_enough_are_forked_until_one_has_ended(forks: Forks, tmp_path: Path) -> None:
    while not forks.full():
        if forks.fork():
            until(tmp_path / "go on")
            forks.leave()
    assert len(forks.running) > 1
    (tmp_path / "go on").touch()
    deadline = time.monotonic() + 30
    while forks.full() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not forks.full()


def test_one_that_is_killed_while_another_waits_is_told(forks: Forks, tmp_path: Path) -> None:
    for _ in range(2):
        if forks.fork():
            until(tmp_path / "never")
            os._exit(0)
    waiting = [psutil.Process(pid) for pid in forks.running]
    for process in waiting:
        process.kill()
    with pytest.raises(TilesimError, match="killed or out of memory"):
        forks.finish()


def test_what_went_wrong_in_one_is_said_by_the_first(forks: Forks) -> None:
    if forks.fork():
        forks.leave("there is no such colour")
    with pytest.raises(TilesimError, match="there is no such colour"):
        forks.finish()


@pytest.mark.parametrize("where", ["before", "after_in_parent"])
def test_a_signal_that_another_thread_gets_within_a_fork_is_not_lost(
    forks: Forks, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Python throws away what a handler raises in a hook around a fork."""
    ended, here = threading.Event(), os.getpid()
    other = threading.Thread(target=ended.wait)
    told, tell = socket.socketpair()
    tell.setblocking(False)

    def send() -> None:
        signal.pthread_kill(other.ident, signal.SIGINT)
        told.recv(1)  # Python says so where a signal has come.

    other.start()
    monkeypatch.setattr(f"{__name__}.hook", send)
    os.register_at_fork(**{where: lambda: hook()})
    before = signal.set_wakeup_fd(tell.fileno())
    try:
        with pytest.raises(KeyboardInterrupt):
            if forks.fork():
                forks.leave()
        assert os.getpid() == here and len(forks.running) == 1
    finally:
        signal.set_wakeup_fd(before)
        monkeypatch.undo()
        ended.set()
        other.join()
        told.close()
        tell.close()


def hook() -> None:
    """What is called around forks: there is no way to take a hook back."""


@pytest.mark.parametrize("thread", [False, True])
def test_signals_are_handled_as_before_after_a_fork(forks: Forks, thread: bool) -> None:
    def fork() -> None:
        if forks.fork():
            ends = all(signal.getsignal(number) is signal.SIG_DFL for number in ENDING)
            forks.leave("" if ends else "a signal does not end it")

    before = [*map(signal.getsignal, ENDING)]
    if thread:
        caller = threading.Thread(target=fork)
        caller.start()
        caller.join()
    else:
        fork()
    forks.finish()
    assert [*map(signal.getsignal, ENDING)] == before
