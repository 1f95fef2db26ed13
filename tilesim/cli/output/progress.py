"""A progress bar on stderr, where that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click


@contextmanager
def counter(label: str, what: str) -> Iterator[Callable[[int], None]]:
    """What to call with how many more of something are done, where nobody knows how many there will be."""
    done = 0

    def update(more: int) -> None:
        nonlocal done
        done += more
        if sys.stderr.isatty():
            click.echo(f"\r{label}  {done} {what}", err=True, nl=False)

    try:
        yield update
    finally:
        if done and sys.stderr.isatty():
            click.echo(err=True)


@contextmanager
def progress(label: str, length: int) -> Iterator[Callable[[int], None]]:
    """What to call with how many more of `length` are done. A slow start would make a time left absurd."""
    hidden = not sys.stderr.isatty()
    with click.progressbar(length=length, label=label, show_eta=False, file=sys.stderr, hidden=hidden) as bar:
        yield bar.update
