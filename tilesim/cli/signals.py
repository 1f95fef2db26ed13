"""Signals: being stopped by another program is like Ctrl-C: what was begun is undone, and a line says so."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

EXIT_CODE = 128 + signal.SIGTERM
"""As shells report a program that the signal ended."""


class Stopped(BaseException):
    """The process was sent SIGTERM, as `kill`, `timeout` and job schedulers do."""


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM raises Stopped in here, once; where somebody else handles or ignores it, that stays."""
    alone = threading.current_thread() is threading.main_thread()
    if not alone or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _stop(number: int, frame: FrameType | None) -> None:
    # Whoever is impatient would otherwise interrupt the tidying up.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Stopped
