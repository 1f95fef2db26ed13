"""Processes that are forked to draw: how many work at once, and what becomes of those that wait."""

import os
import time
from pathlib import Path

import psutil
import pytest

from tilesim.errors import TilesimError
from tilesim_scenes.render.forks import CAN_FORK, Forks

pytestmark = pytest.mark.skipif(not CAN_FORK, reason="there is no fork here")


@pytest.fixture
def forks(tmp_path: Path) -> Forks:
    made = Forks(1, tmp_path, lambda frames: None)
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
    forks.finish()
    assert (tmp_path / "first is done").exists()


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
