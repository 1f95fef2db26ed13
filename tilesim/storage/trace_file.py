"""The native trace file: an .npz without pickle that holds `header` (JSON, UTF-8) and `planes`.

These are the spans as uint8 [columns, 8, rows]: of each column's numbers the bytes, the lowest first, and of
times what lies between one and the one before it, most of which are zeros. A file with the SPAN array `spans`
for `planes` is read too. What the archive says of sizes is held against limits before anything is inflated.
"""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from math import prod
from os import PathLike
from typing import IO, Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as npy

from tilesim.errors import TilesimError, TraceError, shown
from tilesim.spans.columns import FIELDS, SPAN, TIMES
from tilesim.storage import files

FORMAT = "tilesim trace"
VERSION = 1
MOST_SPANS = 2**23
"""Rows of a file: twice the tiles that the command line takes on, 640 MiB of spans."""
MOST_PREAMBLE = 2**16
"""Bytes that may say an array's shape and dtype before it."""


def write(path: str | PathLike[str], header: Mapping[str, Any], spans: np.ndarray) -> None:
    """Write under exactly the name `path`; what is equal gives equal bytes. `header` holds JSON values.
    Raises TilesimError where `path` cannot be written, or what it would hold is too large to be read."""
    text = np.frombuffer(json.dumps(header, sort_keys=True).encode(), np.uint8)
    if len(spans) > MOST_SPANS or len(text) > files.MOST_JSON:
        raise TilesimError(
            f"cannot write {path}: the trace has {len(spans)} segments and a header of "
            f"{files.size(len(text))}; at most {MOST_SPANS} and {files.size(files.MOST_JSON)} are allowed"
        )
    files.write(path, lambda file: np.savez_compressed(file, header=text, planes=packed(spans)))


def packed(spans: np.ndarray) -> np.ndarray:
    """The planes of a SPAN array, sorted by issue: uint8, shape [13, 8, rows]."""
    planes = np.empty((len(FIELDS), 8, len(spans)), np.uint8)
    earlier = dict(zip(TIMES[1:], TIMES, strict=False))
    for name, plane in zip(FIELDS, planes, strict=True):
        column = spans[name] - spans[earlier[name]] if name in earlier else spans[name]
        if name == TIMES[0]:
            column = np.diff(column, prepend=0)
        plane[:] = np.ascontiguousarray(column, "<i8").view(np.uint8).reshape(-1, 8).T
    return planes


def read(path: str | PathLike[str], file: BinaryIO | None = None) -> tuple[dict[str, Any], np.ndarray]:
    """(the header's values, the spans) of a file; `file` is what to read where it is open already. Raises
    TraceError, which starts with the path, where it is none, too large, or from a newer version."""
    try:
        with nullcontext(file) if file else open(path, "rb") as opened, ZipFile(opened) as archive:
            return _read(archive)
    except TraceError as error:
        raise TraceError(f"{path}: {error}") from None
    except FileNotFoundError:
        raise TraceError(f"{path}: there is no such file") from None
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror or 'it is not a trace file'}") from None
    except Exception:  # a damaged archive raises nearly anything: zlib.error, RuntimeError, MemoryError ...
        raise TraceError(
            f"{path}: this is not a complete tilesim trace (.npz with header and planes)"
        ) from None


def _read(archive: ZipFile) -> tuple[dict[str, Any], np.ndarray]:
    """What an archive holds; raises nearly anything, and TraceError where there are words for it."""
    text, shape, dtype = _opened(archive, "header", files.MOST_JSON)
    try:
        described = files.parse(text.read(), TraceError)
        version = described["version"]
    except TraceError as error:
        raise ValueError from error
    fault = files.fault(described)
    if fault:
        raise TraceError(f"the header: {fault}")
    if version != VERSION:
        raise TraceError(
            f"the file has format version {shown(version)}; this tilesim reads version {VERSION}"
        )
    if "planes.npy" in archive.namelist():
        return described, _from_planes(*_opened(archive, "planes", MOST_SPANS * 8 * len(FIELDS)))
    member, shape, dtype = _opened(archive, "spans", MOST_SPANS * SPAN.itemsize)
    return described, np.frombuffer(member.read(), dtype).reshape(shape)


def _opened(archive: ZipFile, name: str, most: int) -> tuple[IO[bytes], tuple[int, ...], np.dtype]:
    """(an array's bytes to be read, its shape, its dtype); nothing is inflated of one larger than `most`.

    Zip ends a member at the size that the archive states, so what that says of sizes holds.
    """
    info = archive.getinfo(f"{name}.npy")
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise ValueError(info.compress_type)
    if info.file_size > most + MOST_PREAMBLE:
        raise TraceError(f"its {name} take {files.size(info.file_size)}; at most {files.size(most)} are read")
    member = archive.open(info)
    header = npy.read_array_header_1_0 if npy.read_magic(member) == (1, 0) else npy.read_array_header_2_0
    shape, column_first, dtype = header(member)
    if dtype.hasobject or (column_first and len(shape) > 1) or prod(shape) * dtype.itemsize > info.file_size:
        raise ValueError(f"{dtype} {shape}")
    return member, shape, dtype


def _from_planes(member: IO[bytes], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The SPAN array of planes, a column inflated at a time; raises ValueError where they are none."""
    if dtype != np.uint8 or len(shape) != 3 or shape[:2] != (len(FIELDS), 8):
        raise ValueError(f"{dtype} {shape}")
    rows = shape[2]
    spans = np.empty(rows, SPAN)
    at = np.zeros(rows, np.int64)
    for name in FIELDS:
        planes = np.frombuffer(member.read(8 * rows), np.uint8).reshape(8, rows)
        column = np.ascontiguousarray(planes.T).view("<i8")[:, 0]
        if name in TIMES:
            at += np.cumsum(column) if name == TIMES[0] else column
            column = at
        spans[name] = column
        if not np.array_equal(spans[name], column):
            raise ValueError(name)
    if member.read(1):
        raise ValueError(shape)
    return spans
