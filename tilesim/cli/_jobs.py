"""Where films are encoded: here, in other processes of this machine, or on a Dask cluster."""

import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

import click

from tilesim.cli._options import F
from tilesim.cli._rooms import room
from tilesim.errors import TilesimError

RETRIES = 3
"""How often a task is tried anew that a cluster has lost with its worker, or that failed there."""
PATIENCE = "10s"
"""How long a cluster may take to answer."""


def jobs_options(command: F) -> F:
    """`--jobs` and `--cluster`, passed on by those names."""
    jobs = click.option(
        "--jobs",
        type=click.IntRange(1, 256),
        metavar="COUNT",
        help="Processes that encode; the film is the same.  [one a core]",
    )
    cluster = click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Encode on a Dask cluster instead: tcp://host:port of its scheduler.",
    )
    return jobs(cluster(command))


@contextmanager
def executor(jobs: int | None, cluster: str | None, tasks: int) -> Iterator[Executor | None]:
    """Who runs `tasks` tasks: a cluster's workers, `jobs` processes, or None where one process is enough.

    Raises TilesimError where the cluster cannot be reached, or where a process or a worker is lost for good.
    """
    try:
        if cluster is not None:
            with _client(cluster) as client, client.get_executor(retries=RETRIES) as workers:
                yield workers
        elif (processes := min(jobs or cores(), tasks)) > 1:
            with _processes(processes) as workers:
                yield workers
        else:
            yield None
    except BrokenExecutor:
        raise TilesimError(
            "a process that encodes was killed, perhaps for lack of memory; take fewer --jobs"
        ) from None


def cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def frames_bar(label: str, frames: int) -> Any:
    """A progress bar for so many frames, on stderr where that is a terminal."""
    return click.progressbar(
        length=frames, label=label, show_eta=False, file=sys.stderr, hidden=not sys.stderr.isatty()
    )


@contextmanager
def _processes(count: int) -> Iterator[Executor]:
    """New processes, not forks, which would share this one's threads and what they hold."""
    workers = ProcessPoolExecutor(count, get_context("spawn"), room, ("scenes", "_stage.coding"))
    # They start now, while there is no task yet, and inherit that Ctrl-C is for this process alone.
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for _ in range(count):
            workers.submit(int)
    finally:
        signal.signal(signal.SIGINT, heard)
    try:
        yield workers
    finally:
        workers.shutdown(cancel_futures=True)


def _client(address: str) -> Any:
    """A connection to a Dask cluster."""
    try:
        from distributed import Client
    except ImportError:
        raise TilesimError(
            "--cluster needs Dask's distributed; install it with: pip install distributed"
        ) from None
    try:
        return Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        reason = " ".join(str(error).split()) or "no answer"
        raise TilesimError(f"cannot reach a Dask cluster at {address!r} ({reason})") from None
