"""Where films are encoded: here, in other processes of this machine, or on a Dask cluster."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

import click

from tilesim.cli.cluster import cluster_executor
from tilesim.cli.packages import load
from tilesim.parallel import cores, processes

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
        with cluster_executor(cluster) as workers:
            yield workers
    elif (count := min(jobs or cores(), tasks)) > 1:
        with processes(count, load, "scenes", "_stage.coding") as workers:
            yield workers
    else:
        yield None
