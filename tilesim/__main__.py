"""The command line, as `tilesim` and as `python -m tilesim`, also from an unpacked clone."""

import os
import signal
from types import FrameType

BLAS = "OPENBLAS_NUM_THREADS"
"""What NumPy reads once, as it is imported."""


def main() -> None:
    """Run the command line. Ctrl-C while it is still being imported ends it at once: nothing has begun."""
    # Products of small matrices, as Manim makes them, gain nothing from threads, which wait on cores that
    # other processes draw with.
    os.environ.setdefault(BLAS, "1")
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from tilesim.cli import main as command

    signal.signal(signal.SIGINT, before)
    command()


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


if __name__ == "__main__":
    main()
