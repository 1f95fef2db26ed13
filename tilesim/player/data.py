"""The data of a page, as JSON that `source/data.ts` reads: a long run is shown window by window."""

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tilesim.analysis.divergence import time_lag
from tilesim.metrics import first_of_cta, launch_end
from tilesim.traces import Trace
from tilesim.work import Problem, WorkItems

MOST = 2**16
"""Maximum number of segments in a page, over all its traces."""


@dataclass(frozen=True, slots=True)
class Window:
    """Rows `first` to `last` of a trace's spans, and what a page needs to count correctly with them.

    No other segment holds a slot between `since` and `until`, ns. `tiles`, `blocks`: done and launched
    before. `resident`: blocks of the window launched before it. `unfinished`: its tiles with a later segment.
    """

    first: int
    last: int
    since: int
    until: int
    tiles: int
    blocks: int
    resident: tuple[int, ...]
    unfinished: tuple[int, ...]


def window(trace: Trace, most: int = MOST, at: float = 0.0) -> Window:
    """At most `most` segments in order of issue, from the first that is not done at `at` ns."""
    spans, count = trace.spans, len(trace.spans)
    first = 0
    if count > most:
        first = min(int(np.argmax(spans["done"] > at)), count - most) if at < trace.makespan else count - most
    last = min(count, first + most)
    before, inside, after = spans[:first], spans[first:last], spans[last:]
    since = int(before["done"].max(initial=0))
    until = int(after["issue"][0]) if len(after) else trace.makespan
    tiles, blocks = np.unique(inside["tile"]), np.unique(inside["cta"])
    # Flags by tile, because sorting the tiles of two million segments would take a second.
    later = np.zeros(trace.problem.tiles, bool)
    later[after["tile"]] = True
    held = np.count_nonzero(later) + np.count_nonzero(~later[tiles])
    firsts = first_of_cta(trace)
    return Window(
        first,
        last,
        since,
        max(until, since + 1),
        trace.problem.tiles - int(held),
        int(np.count_nonzero(firsts < first)),
        tuple(blocks[np.isin(blocks, before["cta"])].tolist()),
        tuple(tiles[later[tiles]].tolist()),
    )


def before(trace: Trace, shown: Window) -> int:
    """The time, in ns, at which to open the preceding window of equal size, with some overlap."""
    count = shown.last - shown.first
    # A window begins with unfinished segments: at most one per slot, and another being written.
    shared = min(2 * trace.device.slots, count // 2)
    return int(trace.spans["issue"][max(0, shown.first - count + shared)])


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
    """JSON for a script element, escaped so that no text can end it."""
    text = json.dumps(values, allow_nan=False, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _run(trace: Trace, name: str, shown: Window) -> dict[str, Any]:
    """A run as the program's `GivenRun`."""
    problem, device = trace.problem, trace.device
    items, sizes = [], []
    if isinstance(problem, WorkItems):
        held = set(trace.spans["tile"][shown.first : shown.last].tolist())
        # The names of items outside the window are not shown.
        items = [name if item in held else "" for item, name in enumerate(problem.items)]
        sizes = list(problem.sizes)
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
        "items": items,
        "sizes": sizes,
        "blocks": len(np.unique(trace.spans["cta"])),
        "segments": len(trace.spans),
        "makespan": trace.makespan,
        "window": asdict(shown),
        "columns": encoded(trace, slice(shown.first, shown.last)),
    }


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


PLACES = ("tile", "cta", "sm", "slot", "k0", "k1")
TIMES = ("issue", "load", "start", "drain", "ready", "fixup", "done")
"""Each is stored as the difference from the previous one; `load` is when the first load begins."""


def encoded(trace: Trace, rows: slice) -> str:
    """Rows of the spans by column, PLACES, then TIMES: differences between rows in zigzag, LEB128, base64."""
    spans = trace.spans[rows]
    times = [launch_end(trace)[rows] if name == "load" else spans[name] for name in TIMES]
    columns = [spans[name] for name in PLACES] + [times[0]]
    columns += [after - before for before, after in pairwise(times)]
    data = b"".join(varints(np.diff(column.astype(np.int64), prepend=0)) for column in columns)
    return b64encode(data).decode()


def varints(values: np.ndarray) -> bytes:
    """Integers in zigzag and LEB128 encoding: seven bits per byte, lowest first."""
    rest = ((values << 1) ^ (values >> 63)).view(np.uint64)
    widths = np.ones(len(rest), np.int64)
    for bits in range(7, 64, 7):
        widths += rest >> np.uint64(bits) > 0
    ends = np.cumsum(widths)
    found = np.zeros(ends[-1] if len(ends) else 0, np.uint8)
    for place in range(int(widths.max(initial=0))):
        wide = widths > place
        more = (widths[wide] > place + 1).astype(np.uint8) << 7
        digit = (rest[wide] >> np.uint64(7 * place)).astype(np.uint8) & 0x7F
        found[ends[wide] - widths[wide] + place] = digit | more
    return found.tobytes()
