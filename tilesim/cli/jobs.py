"""Where films are encoded: here, in other processes of this machine, or on a Dask cluster."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

import click

from tilesim.cli.packages import load
from tilesim.errors import TilesimError
from tilesim.parallel import cores, processes

RETRIES = 3
"""How often a task is tried anew that a cluster has lost with its worker, or that failed there."""
PATIENCE = "10s"
"""How long a cluster may take to answer."""


jobs_option = click.option(
    "--jobs", type=click.IntRange(1, 256), metavar="COUNT", help="Processes at once.  [one a core]"
)
cluster_option = click.option(
    "--cluster", metavar="ADDRESS", help="Encode on a Dask cluster instead: tcp://host:port of its scheduler."
)


@contextmanager
def executor(jobs: int | None, cluster: str | None, tasks: int) -> Iterator[Executor | None]:
    """Who runs `tasks` tasks: a cluster's workers, `jobs` processes, or None where one process is enough.

    Raises TilesimError where the cluster cannot be reached, or where a process or a worker is lost for good.
    """
    if cluster is not None:
        with _client(cluster) as client, client.get_executor(retries=RETRIES) as workers:
            try:
                yield workers
            except TilesimError:
                raise
            except Exception as error:
                reason = " ".join(f"{type(error).__name__}: {error}".split())
                raise TilesimError(
                    f"the Dask cluster at {cluster!r} failed ({reason}); "
                    "is this tilesim installed on its workers?"
                ) from error
    elif (count := min(jobs or cores(), tasks)) > 1:
        with processes(count, load, "scenes", "_stage.coding") as workers:
            yield workers
    else:
        yield None


def _client(address: str) -> Any:
    """A connection to a Dask cluster."""
    try:
        from distributed import Client
    except ImportError:
        raise TilesimError(
            "--cluster needs Dask's distributed; install it with: pip install distributed"
        ) from None
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        reason = " ".join(str(error).split()) or "no answer"
        raise TilesimError(f"cannot reach a Dask cluster at {address!r} ({reason})") from None
    if not client.nthreads():
        client.close()
        raise TilesimError(
            f"the Dask cluster at {address!r} has no workers; start one with: dask worker {address}"
        )
    return client
