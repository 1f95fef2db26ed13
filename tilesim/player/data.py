"""The data of a page, as JSON that `source/data.ts` reads."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from tilesim.analysis.divergence import time_lag
from tilesim.player.columns import encoded
from tilesim.player.window import MOST, Window, before, window
from tilesim.traces import Trace
from tilesim.work import Problem, WorkItems

MOST_LAGS = 1000
"""Maximum number of points in the lag curve."""


def of_runs(traces: Sequence[Trace], names: Sequence[str], at: float | None, version: str) -> dict[str, Any]:
    """JSON values: each run, or a window of it at `at` ns if it is long, and the lag between two runs."""
    windows = [window(trace, MOST // len(traces), at or 0.0) for trace in traces]
    runs = [_run(*one) for one in zip(traces, names, windows, strict=True)]
    both = list(zip(traces, windows, strict=True))
    earlier = [before(trace, shown) for trace, shown in both if shown.first > 0]
    later = [shown.until for trace, shown in both if shown.last < len(trace.spans)]
    return {
        "runs": runs,
        "at": at,
        "version": version,
        "lag": None if earlier or later else _lag(traces),
        "earlier": max(earlier, default=None),
        "later": min(later, default=None),
    }


def as_text(values: Any) -> str:
    """JSON for a script element, escaped so that no text can end it.

    >>> as_text("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(values, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _run(trace: Trace, name: str, shown: Window) -> dict[str, Any]:
    """A run as the program's `GivenRun`."""
    problem, device = trace.problem, trace.device
    free = np.sort(np.array(device.free_sms)) * device.ctas_per_sm
    return {
        "name": name,
        "origin": trace.origin,
        "sms": device.sms,
        "slotsPerSm": device.ctas_per_sm,
        "lanes": (free[:, None] + np.arange(device.ctas_per_sm)).ravel().tolist(),
        "grid": [problem.tiles_m, problem.tiles_n],
        "tileShape": list(problem.tile[:2]) if isinstance(problem, Problem) else [1, 1],
        "kSteps": problem.k_steps,
        **_items(trace, shown),
        "blocks": len(np.unique(trace.spans["cta"])),
        "segments": len(trace.spans),
        "makespan": trace.makespan,
        "window": asdict(shown),
        "columns": encoded(trace, slice(shown.first, shown.last)),
    }


def _items(trace: Trace, shown: Window) -> dict[str, list[Any]]:
    """The names of work items, "" for those outside the window, and their sizes; both empty for tiles."""
    if not isinstance(trace.problem, WorkItems):
        return {"items": [], "sizes": []}
    held = set(trace.spans["tile"][shown.first : shown.last].tolist())
    names = [name if item in held else "" for item, name in enumerate(trace.problem.items)]
    return {"items": names, "sizes": list(trace.problem.sizes)}


def _lag(traces: Sequence[Trace]) -> dict[str, list[int]] | None:
    """How far the measured run lags behind the simulated one, if both begin with a multiply."""
    by_origin = {trace.origin: trace for trace in traces}
    begin = {int(trace.spans["start"].min()) for trace in traces}
    if len(traces) != 2 or len(by_origin) != 2 or begin != {0}:
        return None
    times, lags = time_lag(by_origin["simulated"], by_origin["measured"])
    if len(times) > MOST_LAGS:
        at = np.linspace(times[0], times[-1], MOST_LAGS)
        times, lags = at, np.interp(at, times, lags)
    return {"times": np.rint(times).astype(int).tolist(), "lags": np.rint(lags).astype(int).tolist()}
