"""Scratch: a temporary folder that does not outlive its process, however that ends."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # There are no such locks on Windows, where killed processes leave their folders.
    fcntl = None  # type: ignore[assignment]

PREFIX = "tilesim-scratch-"
NEW = "tilesim-new-"
"""What the name of a folder begins with that is not locked yet, so that nobody takes it for stale."""


@contextmanager
def folder() -> Iterator[Path]:
    """A new folder of this process, gone when the `with` block is left; removes those of processes that died.

    Raises OSError where none can be made.
    """
    remove_stale()
    made, lock = Path(tempfile.mkdtemp(prefix=NEW)), None
    if fcntl is not None:
        lock = os.open(made, os.O_RDONLY)
        with suppress(OSError):  # Where a file system has no locks, the folder keeps its first name.
            fcntl.flock(lock, fcntl.LOCK_EX)
            made = made.rename(made.with_name(made.name.replace(NEW, PREFIX)))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def remove_stale() -> None:
    """Remove the folders of this user's processes that are gone."""
    if fcntl is None:
        return
    for found in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            ours = re.fullmatch(PREFIX + r"\w{8}", found.name) and found.lstat().st_uid == os.geteuid()
            if not ours or found.is_symlink() or not found.is_dir():
                continue
            lock = os.open(found, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(found, ignore_errors=True)
            finally:
                os.close(lock)
