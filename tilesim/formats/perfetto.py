"""Chrome/Perfetto trace event JSON, for ui.perfetto.dev and chrome://tracing, of one run or of several.

Of several, each is a group of processes, all on one clock. Each SM is a process; each slot has a thread for
main loops and one for epilogues, since slices that overlap in part on one thread are invalid. Where two
epilogues of a slot overlap, the second goes on one more thread. Waiting for partials and the fix-up are
slices inside the epilogue. The GPU is a process of its own, with the counter of busy SMs.

Format: "Trace Event Format", Google, docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
`ts` and `dur` are µs from the trace's zero. otherData, which viewers leave alone, holds a run once more as
plain JSON, so that it can be read back whole. `events` are what a viewer sees, times in ns, for
`tilesim.formats.pftrace` too.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np

from tilesim.formats.json import document as json_document
from tilesim.metrics import first_of_cta, in_turn, slot_index
from tilesim.orders import rasterize
from tilesim.spans.recorded_slots import first_free
from tilesim.storage.trace_file import FORMAT
from tilesim.traces import Trace
from tilesim.version import __version__
from tilesim.work import WorkItems

Event = dict[str, Any]


def document(*traces: Trace) -> Iterator[bytes]:
    opening = b'{"displayTimeUnit": "ns", "traceEvents": ['
    for event in events(traces):
        times = {name: event[name] / 1000 for name in ("ts", "dur") if name in event}
        yield opening + json.dumps(event | times).encode()
        opening = b",\n"
    yield b'], "otherData": '
    if len(traces) == 1:
        yield from json_document(traces[0], writer=f"tilesim {__version__}")
    else:
        yield json.dumps({"format": FORMAT, "runs": len(traces), "writer": f"tilesim {__version__}"}).encode()
    yield b"}"


def events(traces: Sequence[Trace]) -> Iterator[Event]:
    """Names, slices and counters of all traces: events as the format has them, but with times in ns."""
    pids = tids = 0
    for number, trace in enumerate(traces, 1):
        # Epilogues of a slot that overlap go on threads of their own.
        lanes = first_free(slot_index(trace), trace.spans["drain"], trace.spans["done"])
        threads = trace.device.sms * trace.device.ctas_per_sm * (2 + int(lanes.max()))
        group = f"{number} {trace.origin} " if len(traces) > 1 else ""
        for event in chain(
            _names(trace, int(lanes.max()) + 1, group), _slices(trace, lanes), _busy_sms(trace)
        ):
            # Viewers take the numbers of processes and threads as of the whole file.
            event["pid"] += pids
            event["tid"] += tids * (event["tid"] > 0)
            if event["name"] == "process_sort_index":
                event["args"]["sort_index"] += pids
            yield event
        pids, tids = pids + trace.device.sms + 2, tids + threads


def _names(trace: Trace, lanes: int, group: str) -> Iterator[Event]:
    """Metadata events: what processes and threads are called, and how they are sorted."""
    device = trace.device
    title = f"{group}{device.title}, {trace.schedule}, {trace.origin}"
    yield _metadata("process_name", _gpu(trace), 0, name=title)
    yield _metadata("process_sort_index", _gpu(trace), 0, sort_index=-1)
    free = set(device.free_sms)
    for sm in range(device.sms):
        held = "" if sm in free else " (held by another kernel)"
        yield _metadata("process_name", sm + 1, 0, name=f"{group}SM {sm}{held}")
        yield _metadata("process_sort_index", sm + 1, 0, sort_index=sm)
        for slot in range(device.ctas_per_sm if sm in free else 0):
            for thread in range(1 + lanes):
                part = "main loop" if not thread else "epilogue" + f" {thread}" * (thread > 1)
                tid = _thread(trace, sm, slot, thread, lanes)
                yield _metadata("thread_name", sm + 1, tid, name=f"slot {slot} {part}")
                yield _metadata("thread_sort_index", sm + 1, tid, sort_index=slot * (1 + lanes) + thread)


def _slices(trace: Trace, epilogue_lanes: np.ndarray) -> Iterator[Event]:
    """Complete events: up to five per span, those of no length left out."""
    spans, problem, lanes = trace.spans, trace.problem, int(epilogue_lanes.max()) + 1
    place = np.empty(problem.tiles, np.int64)
    place[rasterize(problem)] = np.arange(problem.tiles)
    slots = trace.device.slots
    later_in_cta, drained = np.ones(len(spans), bool), np.zeros(len(spans), np.int64)
    later_in_cta[first_of_cta(trace)] = False
    before, after = in_turn(trace)
    drained[after] = spans["drain"][before]
    columns = (place[spans["tile"]], later_in_cta, drained, epilogue_lanes)
    rows = zip(spans.tolist(), *(column.tolist() for column in columns), strict=True)
    for row, (span, order, later, free_from, lane) in enumerate(rows):
        cta, tile, k0, k1, sm, slot, issue, start, drain, ready, fixup, done, cycles = span
        if isinstance(problem, WorkItems):
            called, which = problem.called(tile), {"size": problem.sizes[tile]} if problem.sizes else {}
        else:
            pid_m, pid_n = divmod(tile, problem.tiles_n)
            called, which = f"tile {tile}", {"pid_m": pid_m, "pid_n": pid_n}
        args = {
            "tile": tile, **which, "wave": row // slots, "order": order, "cta": cta, "k0": k0, "k1": k1,
            "cycles": cycles,
        }  # fmt: skip
        main = _thread(trace, sm, slot, 0, lanes)
        writer = _thread(trace, sm, slot, 1 + lane, lanes)
        for name, category, thread, first, last in (
            ("hand-over" if later else "launch", "launch", main, max(issue, free_from), start),
            (called, "main loop", main, start, drain),
            (called, "epilogue", writer, drain, done),
            ("wait for partials", "wait", writer, drain, ready),
            ("fix-up", "fix-up", writer, ready, fixup),
        ):
            if last > first:
                yield {
                    "name": name, "cat": category, "ph": "X", "pid": sm + 1, "tid": thread,
                    "ts": first, "dur": last - first, "args": args,
                }  # fmt: skip


def _busy_sms(trace: Trace) -> Iterator[Event]:
    """Counter events: on how many SMs a segment is between issue and done, at each change."""
    sms = trace.spans["sm"].tolist()
    changes = [(time, sm, 1) for time, sm in zip(trace.spans["issue"].tolist(), sms, strict=True)]
    changes += [(time, sm, -1) for time, sm in zip(trace.spans["done"].tolist(), sms, strict=True)]
    held, shown = Counter[int](), -1
    for time, at_once in groupby(sorted(changes), key=itemgetter(0)):
        for _, sm, more in at_once:
            held[sm] += more
            if not held[sm]:
                del held[sm]
        if len(held) != shown:
            shown = len(held)
            yield {
                "name": "busy SMs", "cat": "counter", "ph": "C", "pid": _gpu(trace), "tid": 0,
                "ts": time, "args": {"SMs": shown},
            }  # fmt: skip


def _gpu(trace: Trace) -> int:
    """The process of the whole GPU; an SM's is its number + 1, because viewers treat process 0 as none."""
    return trace.device.sms + 1


def _thread(trace: Trace, sm: int, slot: int, thread: int, lanes: int) -> int:
    """A thread id that no other process uses: Perfetto takes thread ids as global."""
    return (sm * trace.device.ctas_per_sm + slot) * (1 + lanes) + thread + 1


def _metadata(name: str, pid: int, tid: int, /, **args: Any) -> Event:
    return {"name": name, "cat": "__metadata", "ph": "M", "pid": pid, "tid": tid, "ts": 0, "args": args}
