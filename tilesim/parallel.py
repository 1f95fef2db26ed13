"""Parallel map with results in order, leaving no process behind."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from typing import Any, TypeVar

from tilesim.devices.presets import add, registered
from tilesim.errors import TilesimError

T = TypeVar("T")
R = TypeVar("R")

CHUNK = 16
"""Most items per task, so that passing them costs little."""
PATIENCE = 2.0
"""Seconds in which the threads of a pool without processes end by themselves."""


def cores() -> int:
    """How many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    function: Callable[[T], R],
    items: Sequence[T],
    jobs: int = 1,
    progress: Callable[[int], object] = lambda more: None,
    prepare: Callable[[], object] = int,
) -> list[R]:
    """[function(item) for item in items], computed by `jobs` processes, or in this one if that is 1.

    `function`, items and `prepare`, which each process calls first, must be picklable. `progress` is called
    with the number of items just finished. Raises what `function` raises, and TilesimError if a process dies.
    """
    results: list[R] = []
    size = max(1, min(CHUNK, len(items) // (8 * jobs)))
    chunks = [items[i : i + size] for i in range(0, len(items), size)]
    if jobs == 1 or len(chunks) <= 1:
        for chunk in chunks:
            results += _each(function, chunk)
            progress(len(chunk))
        return results
    with processes(min(jobs, len(chunks)), prepare) as pool:
        tasks = [(chunk, pool.submit(_each, function, chunk)) for chunk in chunks]
        for chunk, task in tasks:
            results += task.result()
            progress(len(chunk))
    return results


@contextmanager
def processes(count: int, prepare: Callable[..., object] = int, *given: object) -> Iterator[Executor]:
    """A pool of `count` new processes, each of which first calls `prepare(*given)`. Raises TilesimError if
    one dies; no process is left running then, nor after Ctrl-C."""
    others = set(active_children())
    # A forked process would inherit locks held by this one's threads, and forks are unsafe on macOS.
    pool = ProcessPoolExecutor(count, get_context("spawn"), partial(_begin, registered(), prepare, *given))
    try:
        # A pool starts processes on demand. Starting all of them here, with SIGINT blocked, keeps them
        # from reacting to Ctrl-C with tracebacks.
        with held(signal.SIGINT):
            for _ in range(count):
                pool.submit(int)
        yield pool
        pool.shutdown()
    except BrokenProcessPool:
        raise TilesimError("a worker process was killed or ran out of memory; try fewer --jobs") from None
    finally:
        for process in set(active_children()) - others:
            process.terminate()
        _let_go(pool)
        pool.shutdown(cancel_futures=True)


def _let_go(pool: ProcessPoolExecutor) -> None:
    """Unblock the pool's threads if their processes are gone; otherwise shutting down would hang.

    The sending thread hangs before Python 3.11.8 and 3.12.2 (issue 94777), the reading thread if a process
    was killed while writing. A manager that ends by itself closes the pipes, which must not be closed twice.
    """
    manager = getattr(pool, "_executor_manager_thread", None)
    if manager is None:
        return
    manager.join(PATIENCE)
    if manager.is_alive():
        for queue, end in (("_call_queue", "_reader"), ("_result_queue", "_writer")):
            with suppress(AttributeError, OSError):
                getattr(getattr(pool, queue), end).close()


def _each(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    return [function(item) for item in items]


def _begin(devices: Mapping[str, Any], prepare: Callable[..., object], *given: object) -> None:
    """Prepare this process, and make it end when its parent does. `devices`: what files added there."""
    parent = parent_process()

    def wait() -> None:
        if parent:
            parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()
    add(devices)
    prepare(*given)


@contextmanager
def held(*signals: int) -> Iterator[None]:
    """Block these signals, where supported, also in processes started meanwhile."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
