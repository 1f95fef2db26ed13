"""Where films are drawn: by processes of this machine, or on a Dask cluster."""

from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext

import click

from tilesim.cli.arguments.parameter_types import Whole
from tilesim.cli.running.cluster import cluster_executor

jobs_option = click.option(
    "--jobs", type=Whole(1, 256), metavar="COUNT", help="Number of processes.  [one per core]"
)
cluster_option = click.option(
    "--cluster", metavar="ADDRESS", help="Draw on a Dask cluster instead: tcp://host:port of its scheduler."
)


def workers_of(cluster: str | None) -> AbstractContextManager[Executor | None]:
    """A cluster's workers; None where there is none, and films are drawn here.

    Raises TilesimError where the cluster cannot be reached, or where a worker is lost for good.
    """
    return nullcontext() if cluster is None else cluster_executor(cluster)
