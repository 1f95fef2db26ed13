"""Write a file so that it appears under its name complete or not at all."""

import os
import tempfile
from collections.abc import Callable
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from tilesim.errors import TilesimError


def check(path: str | PathLike[str]) -> None:
    """Raise TilesimError where it can be seen beforehand that `path` cannot be written."""
    target = Path(path)
    try:
        if target.is_dir():
            raise TilesimError(f"cannot write {target}: it is a folder; give the name of a file")
        if not target.parent.is_dir():
            raise TilesimError(f"cannot write {target}: the folder {target.parent} does not exist")
        if not os.access(target.parent if _is_file(target) else target, os.W_OK):
            raise TilesimError(f"cannot write {target}: permission denied")
    except OSError as error:
        raise TilesimError(f"cannot write {target}: {error.strerror}") from None


def write(path: str | PathLike[str], fill: Callable[[BinaryIO], object]) -> None:
    """Let `fill` write into a temporary file beside `path`, then move it there.

    An existing file is replaced only by a complete one; a link's target is replaced, not the link. What
    is no file, such as /dev/stdout, is written to directly. Raises TilesimError where the folder does
    not exist, cannot be written, or the disk is full.
    """
    check(path)
    partial = None
    try:
        if not _is_file(Path(path)):
            # A zip file is written back and forth, which a pipe cannot take.
            whole = BytesIO()
            fill(whole)
            with open(path, "wb") as stream:
                stream.write(whole.getbuffer())
            return
        target = Path(os.path.realpath(path))
        handle, partial = tempfile.mkstemp(prefix=f".{target.name[:32]}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            fill(file)
        os.chmod(partial, 0o666 & ~_umask())
        os.replace(partial, target)
        partial = None
    except OSError as error:
        raise TilesimError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if partial is not None:
            Path(partial).unlink(missing_ok=True)


def _is_file(target: Path) -> bool:
    """Whether `target` is a regular file or could become one, rather than a device or a pipe."""
    return target.is_file() or not target.exists()


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
