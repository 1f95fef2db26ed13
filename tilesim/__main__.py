"""The command line, as `tilesim` and as `python -m tilesim`, also from an unpacked clone."""

import os
import signal


def main() -> None:
    """Run the command line. Ctrl-C while it is still being imported ends it at once: nothing has begun."""
    # Products of small matrices, as Manim makes them, gain nothing from threads, which wait on cores that
    # other processes draw with. NumPy reads this once, as it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from tilesim.cli import main as command

    signal.signal(signal.SIGINT, before)
    command()


if __name__ == "__main__":
    main()
