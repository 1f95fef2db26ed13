"""The native trace file: an .npz without pickle that holds `header` (JSON, UTF-8) and `spans`."""

import json
from dataclasses import asdict
from os import PathLike
from typing import Any

import numpy as np

from tilesim.devices import Device
from tilesim.errors import TilesimError, TraceError
from tilesim.formats import _atomic
from tilesim.problems import Problem
from tilesim.traces import Trace

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
    _atomic.write(path, lambda file: np.savez_compressed(file, header=text, spans=trace.spans))


def load(path: str | PathLike[str]) -> Trace:
    """Read a trace and check it again.

    Raises TraceError, in a sentence that starts with the path, where the file does not exist, is
    truncated, is no trace, comes from a newer version, or contradicts itself.
    """
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            described = json.loads(bytes(arrays["header"]))
            version = described["version"]
            spans: Any = arrays["spans"] if version == VERSION else None
    except FileNotFoundError:
        raise TraceError(f"{path}: there is no such file") from None
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror or 'it is not a trace file'}") from None
    except Exception:  # a damaged archive raises nearly anything: zlib.error, RuntimeError, MemoryError ...
        raise TraceError(
            f"{path}: this is not a complete tilesim trace (.npz with header and spans)"
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
