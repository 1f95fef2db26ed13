"""Forks: processes that go on from a point of a running program, each to do one part of its work."""

import os
import random
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from tilesim.errors import TilesimError
from tilesim.parallel import held

CAN_FORK = hasattr(os, "fork")
ENDING = signal.SIGINT, signal.SIGTERM
POLL = 0.05
"""Seconds between two looks at whether a process has ended."""


class Forks:
    """At most `jobs` processes at once, forked from this one, each of which writes files in `folder`.

    They say nothing on the terminal, and end when this process does. Each calls `prepare` first; `progress`
    is told of each frame they have done.
    """

    def __init__(
        self,
        jobs: int,
        folder: Path,
        progress: Callable[[int], object],
        prepare: Callable[[], object] = int,
    ) -> None:
        self.jobs, self.folder, self.progress, self.prepare = jobs, folder, progress, prepare
        self.running: set[int] = set()
        self.parent = os.getpid()
        self.read_end, self.write_end = os.pipe()
        os.set_blocking(self.read_end, False)

    def fork(self) -> bool:
        """Wait until there is a process to spare, then fork; whether this is the new process.

        Raises TilesimError where one that was forked before has failed.
        """
        self._wait(until=self.jobs - 1)
        sys.stdout.flush()
        sys.stderr.flush()
        state = random.getstate()
        with held(*ENDING):  # What a signal raises in Python's own hooks around a fork is lost.
            pid = os.fork()
            if pid:
                self.running.add(pid)
                return False
            for number in ENDING:
                signal.signal(number, signal.SIG_DFL)
        random.setstate(state)  # Python seeds it anew in every process that is forked.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (until the end)
        self.prepare()
        return True

    def done(self, frames: int) -> None:
        """Tell the process that was forked from that so many frames are done; ends where it is gone."""
        if os.getppid() != self.parent:
            os._exit(1)
        with suppress(OSError):
            os.write(self.write_end, b"." * frames)

    def leave(self, error: str = "") -> NoReturn:
        """End the forked process, with what went wrong in it, if anything did."""
        if error:
            with suppress(OSError):
                (self.folder / f"{os.getpid()}.error").write_text(error, "utf-8")
        os._exit(1 if error else 0)

    def finish(self) -> None:
        """Wait for all that were forked; raises TilesimError where one of them has failed."""
        self._wait(until=0)

    def close(self) -> None:
        """End those that still run."""
        for pid in self.running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.running.clear()
        os.close(self.read_end)
        os.close(self.write_end)

    def _wait(self, until: int) -> None:
        while True:
            for pid in list(self.running):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if ended:
                    self.running.discard(pid)
                    self._check(pid, os.waitstatus_to_exitcode(status))
            self._read()
            if len(self.running) <= until:
                return
            select.select([self.read_end], [], [], POLL)

    def _read(self) -> None:
        with suppress(BlockingIOError):
            if told := os.read(self.read_end, 65536):
                self.progress(len(told))

    def _check(self, pid: int, code: int) -> None:
        if code == 0:
            return
        report = self.folder / f"{pid}.error"
        raise TilesimError(
            report.read_text("utf-8")
            if report.is_file()
            else f"a process that drew a part of this film died (exit code {code}), killed or out of memory; "
            "try with fewer --jobs"
        )
