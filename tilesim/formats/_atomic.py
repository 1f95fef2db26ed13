"""Write a file so that it appears under its name complete or not at all."""

import os
import tempfile
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from tilesim.errors import TilesimError


def write(path: str | PathLike[str], fill: Callable[[BinaryIO], object]) -> None:
    """Let `fill` write into a temporary file beside `path`, then move it there.

    An existing file is replaced only by a complete one. Raises TilesimError where the folder does not
    exist, cannot be written, or the disk is full.
    """
    target = Path(path)
    if target.is_dir():
        raise TilesimError(f"cannot write {target}: it is a folder; give the name of a file")
    if not target.parent.is_dir():
        raise TilesimError(f"cannot write {target}: the folder {target.parent} does not exist")
    partial = None
    try:
        handle, partial = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            fill(file)
        os.chmod(partial, 0o666 & ~_umask())
        os.replace(partial, target)
        partial = None
    except OSError as error:
        raise TilesimError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        if partial is not None:
            Path(partial).unlink(missing_ok=True)


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
