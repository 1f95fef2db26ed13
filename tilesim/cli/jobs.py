"""Where films are drawn: by processes of this machine, or on a Dask cluster."""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

import click

from tilesim.cli.arguments.parameter_types import Whole
from tilesim.errors import TilesimError, shown

jobs_option = click.option("--jobs", type=Whole(1, 256), metavar="COUNT", help="Processes.  [one per core]")
cluster_option = click.option(
    "--cluster", metavar="ADDRESS", help="Draw on a Dask cluster instead: tcp://host:port of its scheduler."
)


PATIENCE = 8
LOST = 30
"""Seconds without any worker, after which none is expected back; a nanny needs some to start one anew."""


@contextmanager
def workers_of(address: str | None) -> Iterator[Executor | None]:
    """The workers of the Dask cluster whose scheduler is at `address`, None without one: films are drawn here
    then. Raises TilesimError once the workers are lost."""
    if address is None:
        yield None
        return
    client = _client(address)
    try:
        yield Workers(client, address)
    except TilesimError:
        raise
    except CancelledError:
        raise TilesimError(
            f"the Dask cluster at {shown(address)} has lost its scheduler, and with it what it had computed"
        ) from None
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:500]
        raise TilesimError(
            f"the Dask cluster at {shown(address)} failed ({reason}); "
            "is this tilesim installed on its workers?"
        ) from error
    finally:
        with suppress(TimeoutError):
            client.close(timeout=PATIENCE)


class Workers(Executor):
    """A cluster's workers as long as there are any."""

    def __init__(self, client: Any, address: str) -> None:
        self.client, self.address = client, address
        self.executor = client.get_executor(retries=3)
        self.seen = monotonic()

    def submit(self, function: Callable[..., Any], /, *args: Any, **options: Any) -> "Answer":
        return Answer(self.executor.submit(function, *args, **options), self)

    def check(self) -> None:
        """Raise TilesimError where there has been no worker for LOST seconds."""
        with suppress(Exception):  # A scheduler that does not answer has no workers for us.
            if self.client.sync(self.client.scheduler.ncores, callback_timeout=PATIENCE):
                self.seen = monotonic()
        if monotonic() - self.seen > LOST:
            raise TilesimError(
                f"the Dask cluster at {shown(self.address)} has lost all of its workers, or does not answer; "
                f"none came back within {LOST} s"
            )


class Answer(Future):
    """What a worker will have computed; whoever waits for it sees to it that there are workers."""

    def __init__(self, future: Future, workers: Workers) -> None:
        super().__init__()
        self.future, self.workers = future, workers

    def result(self, timeout: float | None = None) -> Any:
        while True:
            try:
                return self.future.result(timeout=1)
            except TimeoutError:
                if self.future.done():
                    raise
                self.workers.check()

    def cancel(self) -> bool:
        return self.future.cancel()


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise TilesimError("--cluster needs Dask; install it with: pip install '.[cluster]'") from None

    class Connection(Client):
        def __del__(self) -> None:
            """One that never came about would wait here for its end, and report that it has none."""

    try:
        client = Connection(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        reason = " ".join(str(error).split())[:200] or "no answer"
        raise TilesimError(f"cannot reach a Dask cluster at {shown(address)} ({reason})") from None
    if not client.nthreads():
        client.close(timeout=PATIENCE)
        raise TilesimError(
            f"the Dask cluster at {shown(address)} has no workers; start some with: dask worker ADDRESS"
        )
    return client
