"""Forks: processes that go on from a point of a running program, each to do one part of its work."""

import os
import random
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, NoReturn

from tilesim.errors import TilesimError

CAN_FORK = hasattr(os, "fork")
ENDING = signal.SIGINT, signal.SIGTERM
POLL = 0.05
"""Seconds between two looks at whether a process has ended."""
AHEAD = 5
"""Processes that may be forked for each that works, so that none waits while the first draws a segment that
takes as long as five others."""


@contextmanager
def put_off(*signals: int) -> Iterator[dict[int, Any]]:
    """Let these signals wait until the end, whichever thread gets them; gives what then handles each.

    A mask would hold them in this thread alone, and Python runs their handlers here all the same.
    """
    came: list[int] = []
    here = current_thread() is main_thread()  # Python runs no handlers in others.
    ours = [number for number in signals if here and signal.getsignal(number) is not None]
    handlers = {number: signal.signal(number, lambda number, frame: came.append(number)) for number in ours}
    try:
        yield handlers
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


class Forks:
    """Processes that are forked from this one, each of which writes files in `folder`; `jobs` work at once.

    This one is among them: it works where `full`, and else forks. Those that it forks ahead wait for their
    turn, first come, first served. They say nothing on the terminal, and end when this process does. Each
    calls `prepare` first; `progress` is told of each frame that is done.
    """

    def __init__(
        self, jobs: int, folder: Path, progress: Callable[[int], object], prepare: Callable[[], object] = int
    ) -> None:
        self.jobs, self.folder, self.progress, self.prepare = jobs, folder, progress, prepare
        self.running: set[int] = set()
        self.forked, self.parent = False, os.getpid()
        self.read_end, self.write_end = os.pipe()
        self.turns, self.turn_over = os.pipe()
        self.before, begun = os.pipe()
        """A pipe that ends when the last that was forked begins: at once, as nobody was."""
        os.close(begun)
        for end in (self.read_end, self.turns):
            os.set_blocking(end, False)
        os.write(self.turn_over, b"." * (jobs - 1))

    def full(self) -> bool:
        """Whether as many are forked as have work to do; raises TilesimError where one of them has failed."""
        self._look()
        return len(self.running) >= AHEAD * (self.jobs - 1)

    def fork(self) -> bool:
        """Fork, and in the new process wait until it is its turn; whether this is the new process."""
        sys.stdout.flush()
        sys.stderr.flush()
        state = random.getstate()
        begins, waits = os.pipe()
        # What a handler raises in one of Python's hooks around a fork is lost.
        with put_off(*ENDING) as handlers:
            pid = os.fork()
            if pid:
                self.running.add(pid)
                os.close(waits)
                os.close(self.before)
                self.before = begins
                return False
            handlers.update(dict.fromkeys(ENDING, signal.SIG_DFL))
        self.forked = True
        random.setstate(state)  # Python seeds it anew in every process that is forked.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (until the end)
        self.prepare()
        # Until those before have begun, then until there is a turn.
        while not select.select([self.before], [], [], POLL)[0]:
            self._end_if_alone()
        while True:
            select.select([self.turns], [], [], POLL)
            self._end_if_alone()
            # Another may have been faster.
            with suppress(BlockingIOError):
                os.read(self.turns, 1)
                break
        os.close(waits)
        return True

    def done(self, frames: int) -> None:
        """Tell that so many frames are done; raises TilesimError in the first process if another failed."""
        if not self.forked:
            self.progress(frames)
            self._look()
            return
        self._end_if_alone()
        with suppress(OSError):
            os.write(self.write_end, b"." * frames)

    def _end_if_alone(self) -> None:
        """End with the process that was forked from."""
        if os.getppid() != self.parent:
            os._exit(1)

    def leave(self, error: str = "") -> NoReturn:
        """End the forked process, with what went wrong in it, if anything did."""
        if error:
            with suppress(OSError):
                (self.folder / f"{os.getpid()}.error").write_text(error, "utf-8")
        os.write(self.turn_over, b".")
        os._exit(1 if error else 0)

    def finish(self) -> None:
        """Work no more, and wait for the others; raises TilesimError where one of them has failed."""
        os.write(self.turn_over, b".")
        self._look()
        while self.running:
            select.select([self.read_end], [], [], POLL)
            self._look()

    def close(self) -> None:
        """End those that still run."""
        for pid in self.running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.running.clear()
        for end in (self.read_end, self.write_end, self.turns, self.turn_over, self.before):
            os.close(end)

    def _look(self) -> None:
        """See which have ended, and what they have done."""
        for pid in list(self.running):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self.running.discard(pid)
                if status:
                    code, report = os.waitstatus_to_exitcode(status), self.folder / f"{pid}.error"
                    died = f"a process that drew a part of this film died (exit code {code})"
                    died = f"{died}, killed or out of memory; try with fewer --jobs"
                    raise TilesimError(report.read_text("utf-8") if report.is_file() else died)
        with suppress(BlockingIOError):
            if told := os.read(self.read_end, 65536):
                self.progress(len(told))
