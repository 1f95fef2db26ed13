"""The native trace file: an .npz without pickle that holds `header` (JSON, UTF-8) and `planes`.

These are the spans as uint8 [columns, 8, rows]: of each column's numbers the bytes, the lowest first, and of
times what lies between one and the one before it. Most planes are nearly all zeros, so a file is half as
large as one of the spans as they are; such a one, with the SPAN array `spans` for `planes`, is read too.
"""

import json
from dataclasses import asdict
from os import PathLike
from typing import Any

import numpy as np

from tilesim import files
from tilesim.devices import Device
from tilesim.errors import TilesimError, TraceError
from tilesim.problems import Problem
from tilesim.traces import PLACES, SPAN, TIMES, Trace

FORMAT = "tilesim trace"
VERSION = 1


def header(trace: Trace) -> dict[str, Any]:
    """Everything of a trace but its spans, as JSON values."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "problem": asdict(trace.problem),
        "device": asdict(trace.device),
        "schedule": trace.schedule,
        "origin": trace.origin,
        "tick_ns": trace.tick_ns,
        "meta": dict(trace.meta),
    }


def save(trace: Trace, path: str | PathLike[str]) -> None:
    """Write `trace` under exactly the name `path`; equal traces give equal bytes."""
    text = np.frombuffer(json.dumps(header(trace), sort_keys=True).encode(), np.uint8)
    files.write(path, lambda file: np.savez_compressed(file, header=text, planes=packed(trace.spans)))


def packed(spans: np.ndarray) -> np.ndarray:
    """The planes of a SPAN array, sorted by issue: uint8, shape [13, 8, rows]."""
    steps = np.diff([np.append(0, spans["issue"][:-1]), *(spans[name] for name in TIMES)], axis=0)
    columns = np.stack([*(spans[name] for name in PLACES), *steps, spans["cycles"]]).astype("<i8")
    return np.ascontiguousarray(columns.view(np.uint8).reshape(*columns.shape, 8).transpose(0, 2, 1))


def unpacked(planes: np.ndarray) -> np.ndarray:
    """The SPAN array of `planes`; raises ValueError where they are none.

    >>> from tilesim import Device, Problem, simulate
    >>> spans = simulate("persistent", Problem(300, 300, 64, tile=(64, 64, 64)), Device(3)).spans
    >>> planes = packed(spans)
    >>> planes.shape == (13, 8, len(spans)), np.array_equal(unpacked(planes), spans)
    (True, True)
    """
    if planes.dtype != np.uint8 or planes.ndim != 3 or planes.shape[:2] != (len(SPAN.names or ()), 8):
        raise ValueError(f"{planes.dtype} {planes.shape}")
    columns = np.ascontiguousarray(planes.transpose(0, 2, 1)).view("<i8")[:, :, 0]
    spans = np.empty(planes.shape[2], SPAN)
    for name, column in zip(PLACES, columns, strict=False):
        spans[name] = column
        if not np.array_equal(spans[name], column):
            raise ValueError(name)
    issue, *steps = columns[len(PLACES) : -1]
    at = np.cumsum(issue)
    for name, step in zip(TIMES, (0, *steps), strict=True):
        at = at + step
        spans[name] = at
    spans["cycles"] = columns[-1]
    return spans


def load(path: str | PathLike[str]) -> Trace:
    """Read a trace and check it again.

    Raises TraceError, in a sentence that starts with the path, where the file does not exist, is
    truncated, is no trace, comes from a newer version, or contradicts itself.
    """
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            described = json.loads(bytes(arrays["header"]))
            version = described["version"]
            spans: Any = None
            if version == VERSION:
                spans = unpacked(arrays["planes"]) if "planes" in arrays else arrays["spans"]
    except FileNotFoundError:
        raise TraceError(f"{path}: there is no such file") from None
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror or 'it is not a trace file'}") from None
    except Exception:  # a damaged archive raises nearly anything: zlib.error, RuntimeError, MemoryError ...
        raise TraceError(
            f"{path}: this is not a complete tilesim trace (.npz with header and planes)"
        ) from None
    if version != VERSION:
        raise TraceError(
            f"{path}: the file has format version {version!r}; this tilesim reads version {VERSION}"
        )
    try:
        return Trace(
            _problem(described["problem"]),
            _device(described["device"]),
            described["schedule"],
            spans,
            described["origin"],
            described["tick_ns"],
            described["meta"],
        )
    except (KeyError, TypeError) as error:
        raise TraceError(f"{path}: the header lacks or does not fit {error}") from None
    except TilesimError as error:
        raise TraceError(f"{path}: {error}") from None


def _problem(values: dict[str, Any]) -> Problem:
    return Problem(**{**values, "tile": tuple(values["tile"])})


def _device(values: dict[str, Any]) -> Device:
    return Device(**{**values, "sm_order": tuple(values["sm_order"])})
