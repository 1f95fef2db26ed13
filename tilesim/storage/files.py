"""Files: read within limits, never written over what was read, and whole under their name or not there.

JSON is what any tool would read alike, or one sentence says what is wrong with it: Python's own parser also
takes NaN, numbers beyond a double, a key given twice, and any depth of nesting.
"""

import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import Any, BinaryIO

from tilesim.errors import TilesimError, shown

PathName = str | PathLike[str]

MOST_JSON = 2**24
"""Bytes of a JSON file of costs, a ladder or tuned configurations: a thousand times what ships."""
PIECE = 2**20
DEEPEST = 32
"""Levels of objects and lists in one another; nothing that tilesim reads has more than 6."""
LARGEST = 10**300
"""Numbers lie within plus and minus this, so that each is finite as a double."""


def check(path: PathName) -> None:
    """Raise TilesimError where it can be seen beforehand that `path` cannot be written."""
    if "\0" in str(path):
        raise TilesimError(f"cannot write {shown(str(path))}: no name of a file has a null character")
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


def check_outputs(outputs: Iterable[PathName | None], inputs: Iterable[PathName | None] = ()) -> None:
    """Raise TilesimError unless each of `outputs` can be written and is neither one of the `inputs` nor
    another output.

    Two names are of one file however they are spelled. None stands for an option that was not given. What is
    no file, such as /dev/stdout, may be named twice.
    """
    read = [path for path in inputs if path is not None]
    written = [path for path in outputs if path is not None]
    for number, output in enumerate(written):
        check(output)
        for path in read:
            if _same(output, path):
                raise TilesimError(
                    f"cannot write {output}: it is read as {path}; give the output another name"
                )
        for other in written[:number]:
            if _same(output, other):
                raise TilesimError(f"cannot write {output} and {other}: they are the same file")


def write(path: PathName, fill: Callable[[BinaryIO], object]) -> None:
    """Let `fill` write into a temporary file beside `path`, then move it there.

    An existing file is replaced only by a complete one, which keeps its permissions; a link's target is
    replaced, not the link. What is no file is written to once all is there. Raises TilesimError as `check`.
    """
    check(path)
    partial = None
    try:
        if not _is_file(Path(path)):
            # A zip file is written back and forth, which a pipe cannot take.
            with tempfile.TemporaryFile() as whole, open(path, "wb") as stream:
                fill(whole)
                whole.seek(0)
                shutil.copyfileobj(whole, stream)
            return
        target = Path(os.path.realpath(path))
        beside = target.parent / f".{target.name[:32]}.{token_hex(8)}"
        with open(beside, "xb") as file:
            partial = beside
            fill(file)
        if target.exists():
            shutil.copymode(target, partial)
        os.replace(partial, target)
        partial = None
    except OSError as error:
        raise TilesimError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


def read_bytes(path: PathName, most: int, error: type[TilesimError]) -> bytes:
    """What is in a file or a pipe; raises `error` where it cannot be read or has more than `most` bytes."""
    try:
        with open(path, "rb") as file:
            data = at_most(file.read, most + 1)
    except FileNotFoundError:
        raise error(f"{path}: there is no such file") from None
    except OSError as fault:
        raise error(f"{path}: {fault.strerror or fault}") from None
    except ValueError as fault:  # a NUL in the name
        raise error(f"{shown(str(path))}: {fault}") from None
    if len(data) > most:
        raise error(f"{path}: this is larger than the {size(most)} that are read of such a file")
    return data


def at_most(read: Callable[[int], bytes], most: int) -> bytes:
    """The first `most` bytes of a stream's `read`, in pieces, as to ask for many takes memory for many."""
    data = BytesIO()
    while piece := read(min(PIECE, most - data.tell())):
        data.write(piece)
    return data.getvalue()


def read_json(
    path: PathName, error: type[TilesimError], make: Callable[[Any], Any] | None = None, most: int = MOST_JSON
) -> Any:
    """The values in a JSON file, or what `make` makes of them: no NaN, no number beyond a double, no key
    twice, no deep nesting. Raises `error`, which names the path, if it is no such file or `make` does."""
    data = read_bytes(path, most, error)
    try:
        values = parse(data.removeprefix(b"\xef\xbb\xbf"), error)
        if wrong := fault(values):
            raise error(wrong)
        return make(values) if make else values
    except error as problem:
        raise error(f"{path}: {problem}") from None


def decoder(parse_float: Callable[[str], Any] | None = None) -> json.JSONDecoder:
    """Decodes strictly: raises ValueError for NaN, or a key given twice.

    `parse_float` makes a number out of one with a fraction, else it is a float.
    """
    return json.JSONDecoder(parse_constant=_constant, parse_float=parse_float, object_pairs_hook=_once)


def parse(
    text: str | bytes, error: type[TilesimError], parse_float: Callable[[str], Any] | None = None
) -> Any:
    """The values in `text`, UTF-8 where it is bytes; raises `error` where it is no such JSON.

    How deep values are nested and how large numbers are is left to `fault`, a walk through all of them.
    """
    try:
        return decoder(parse_float).decode(text.decode() if isinstance(text, bytes) else text)
    except json.JSONDecodeError as problem:
        raise error(f"this is not JSON: {problem.msg} in line {problem.lineno}") from None
    except UnicodeDecodeError as problem:
        raise error(f"this is not JSON: byte {problem.start} is no text") from None
    except (ValueError, ArithmeticError) as problem:
        raise error(f"this is not JSON that can be read: {problem}") from None
    except RecursionError:
        raise error(f"this is nested too deeply; at most {DEEPEST} levels are allowed") from None


def fault(values: object) -> str:
    """What is wrong with parsed `values`, where their nesting is too deep or a number too large, or ""."""
    for depth, level in enumerate(levels(values)):
        if depth == DEEPEST and any(isinstance(value, dict | list | tuple) for value in level):
            return f"this is nested too deeply; at most {DEEPEST} levels are allowed"
        if any(isinstance(value, int | float) and not abs(value) <= LARGEST for value in level):
            return "a number in it is too large for a double"
    return ""


def levels(values: object) -> Iterator[list[Any]]:
    """Parsed `values`, then what is in them, keys of objects too, one level of nesting after the other."""
    level: list[Any] = [values]
    while level:
        yield level
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below += [*value, *value.values()]
            elif isinstance(value, list | tuple):
                below += value
        level = below


def _constant(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {shown(twice)} is there twice in one object")
    return values


def size(count: int) -> str:
    """Bytes as people read them."""
    return f"{count} bytes" if count < 2**20 else f"{count / 2**20:g} MiB"


def _same(one: PathName, other: PathName) -> bool:
    """Whether two names are of one regular file, that exists or does not yet."""
    try:
        if not os.path.exists(one) or not os.path.exists(other):
            return _spelled(one) == _spelled(other)
        return os.path.isfile(one) and os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def _spelled(path: PathName) -> str:
    """A name as its file system compares it: those of Windows and macOS do not tell a from A."""
    name = os.path.realpath(path)
    return name.casefold() if sys.platform in ("win32", "darwin") else name


def _is_file(target: Path) -> bool:
    """Whether `target` is a regular file or could become one, rather than a device or a pipe."""
    return target.is_file() or not target.exists()
