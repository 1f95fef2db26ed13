"""A progress bar on stderr, where that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def progress(label: str) -> Iterator[Callable[[float], None]]:
    """What to call with the share that is done. No time left is shown: a slow start makes it absurd."""
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=1000, label=label, show_eta=False, file=sys.stderr, hidden=hidden) as bar:
        yield lambda share: bar.update(round(1000 * share) - bar.pos)
