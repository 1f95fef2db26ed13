"""A function of many items on all cores: results in the items' order, and no process left behind."""

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

from tilesim.devices.presets import add, adopted
from tilesim.errors import TilesimError

T = TypeVar("T")
R = TypeVar("R")

CHUNK = 16
"""Items that a process takes at once at most, so that passing them costs little."""

PATIENCE = 2.0
"""Seconds in which a pool whose processes are gone ends its own threads."""


def cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    function: Callable[[T], R],
    items: Sequence[T],
    jobs: int = 1,
    progress: Callable[[int], object] = lambda more: None,
    prepare: Callable[[], object] = int,
) -> list[R]:
    """[function(item) for item in items], computed by `jobs` processes; by this one alone where that is 1.

    `function`, the items and `prepare`, which each process calls first, must be picklable. `progress` is told
    how many more are done. Raises what `function` raises, and TilesimError where a process dies; then, as
    after Ctrl-C, none is left running.

    >>> in_order(abs, [3, -1, 2])
    [3, 1, 2]
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
    """`count` new processes to submit tasks to, each of which calls `prepare(*given)` first.

    Raises TilesimError where one of them dies; then, as after Ctrl-C, none is left running.
    """
    others = set(active_children())
    # A forked process would inherit locks that threads of this one may hold; macOS allows no forks at all.
    pool = ProcessPoolExecutor(count, get_context("spawn"), partial(_begin, adopted(), prepare, *given))
    try:
        # A pool starts a process when there is a task for it; so they start while there is none yet.
        # Processes that are started meanwhile never see Ctrl-C, so they say nothing.
        with held(signal.SIGINT):
            for _ in range(count):
                pool.submit(int)
        yield pool
        pool.shutdown()
    except BrokenProcessPool:
        raise TilesimError(
            "a process that computed a part of this died, killed or out of memory; try with fewer --jobs"
        ) from None
    finally:
        for process in set(active_children()) - others:
            process.terminate()
        _let_go(pool)
        pool.shutdown(cancel_futures=True)


def _let_go(pool: ProcessPoolExecutor) -> None:
    """Let the pool's threads give up whose other ends, in processes, are gone; or we wait for them for ever.

    One sends tasks, and hangs before 3.11.8 and 3.12.2 (Python's issue 94777). One reads results, and hangs
    where a process was ended with half of one written: the end that we hold ourselves keeps the pipe open.
    Where it ends by itself it closes the pipes, and a file descriptor must not be closed twice.
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
    """Let this process end when the one that started it does, however that ends, and make it ready.

    `devices` are those that files have added there.
    """
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
    """These signals wait until the end, where there is such a thing; also in processes that are started."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
