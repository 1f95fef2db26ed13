"""Files as other profilers write them, of one run that is known: a persistent kernel's, on 4 SMs, 12 tiles.

Each follows a documented format:

proton.json           Triton's third_party/proton, TraceWriter.cpp: "NAME CoreS CTAC", in it "warp W (line L)"
flashinfer            flashinfer.profiler of 2025 with tg4perfetto 0.0.6: processes "SM_005", tracks "blk3_g0"
sm_profiler.json      SM Profiler: an SM a process, a block with its group a thread
iket.json             CUTLASS 4.6, run-iket: "JSON Trace Shape" of its manual
iket_tables.json      the same with names and places in tables, as run-iket of CUTLASS 4.6.1 writes it
nuggets.json          transformer_nuggets, cute/profiler/host.py, chrome_json: a thread "Block 3", no SM
plain.csv             columns of one's own names
"""

import json

import numpy as np

from tilesim import Costs, Device, Problem, simulate
from tilesim.formats.pftrace import field

PROBLEM = Problem(384, 512, 256, tile=(128, 128, 64))
FACTS = {"m": 384, "n": 512, "k": 256, "tile": "128x128x64", "sms": 4}
OPTIONS = ["--m", "384", "--n", "512", "--k", "256", "--tile", "128x128x64", "--sms", "4"]
RUN = simulate("persistent", PROBLEM, Device(4), Costs(k_step=300, prologue=200, epilogue=500, jitter=0.1))
FIRST = int(RUN.spans["start"].min())
WARPS = 2
MAPS = {
    "proton.json": {"tile_from": "order"},
    "flashinfer.perfetto-trace": {"tile_from": "order", "map": {"main": "gemm", "epilogue": "store"}},
    "sm_profiler.json": {"tile_from": "order", "map": {"main": "compute", "epilogue": "write"}},
    "iket.json": {"tile_from": "order"},
    "iket_tables.json": {"tile_from": "order"},
    "nuggets.json": {"tile_from": "order", "map": {"main": "mma", "epilogue": "tma_store", "sm": "unit_id"}},
    "plain.csv": {
        "tile_from": "order",
        "map": {"sm": "smid", "cta": "block", "start": "t0", "drain": "t1", "end": "t2"},
    },
}
"""What each needs to be told, beside FACTS."""


def rows():
    """(cta, sm, start, drain, done) of each segment, as Python numbers."""
    return [tuple(int(one[name]) for name in ("cta", "sm", "start", "drain", "done")) for one in RUN.spans]


def _x(name, begin, end, pid, tid, **more):
    times = {"ts": begin / 1000, "dur": (end - begin) / 1000}
    return {"ph": "X", "name": name, **times, "pid": pid, "tid": tid, **more}


def _named(kind, name, pid, tid=0):
    return {"ph": "M", "name": f"{kind}_name", "pid": pid, "tid": tid, "args": {"name": name}}


def proton():
    events = []
    for cta, sm, start, drain, done in rows():
        for warp in range(WARPS):
            about = {"pid": f"matmul Core{sm} CTA{cta}", "cat": "matmul", "cname": "cq_build_passed"}
            about["args"] = {"Frequency (MHz)": 1000.0, "call_stack": ["main.py:7"]}
            late, line = 2 * warp, cta % 2
            events.append(_x("load", start, start + 20, tid=f"warp {warp} (line 1)", **about))
            events.append(
                _x("main_loop", start + late, drain - 2 + late, tid=f"warp {warp} (line {line})", **about)
            )
            events.append(_x("epilogue", drain, done, tid=f"warp {warp} (line 0)", **about))
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events})


def flashinfer():
    """tg4perfetto's packets: sequence 2, event names interned as they come."""
    found = [field(10, 2) + field(59, field(58, 1) + field(11, field(11, 1))) + field(13, 1)]
    groups, tracks, names, uuid = {}, {}, {}, 1234567

    def event(time, track, kind, name=""):
        content = field(9, kind) + field(11, track) + field(3, 1)
        interned = b""
        if name:
            if name not in names:
                names[name] = len(names) + 1
                interned = field(12, field(2, field(1, names[name]) + field(2, name)))
            content += field(10, names[name])
        return field(8, time) + field(10, 2) + field(13, 2) + interned + field(11, content)

    for cta, sm, start, drain, done in rows():
        if sm not in groups:
            groups[sm] = uuid
            process = field(1, sm + 10) + field(6, f"SM_{sm:03d}")
            found.append(field(60, field(1, uuid) + field(3, process) + field(2, f"SM_{sm:03d}")))
            uuid += 1
        for group in range(WARPS):
            if (cta, group) not in tracks:
                tracks[cta, group] = uuid
                track = field(1, uuid) + field(5, groups[sm]) + field(2, f"blk{cta}_g{group}")
                found.append(field(60, track))
                uuid += 1
            track = tracks[cta, group]
            found += [event(start, track, 1, "gemm"), event(drain, track, 2), event(drain, track, 1, "store")]
            found += [event(done, track, 2), event(done, track, 3, "next")]
    return b"".join(field(1, packet) for packet in found)


def sm_profiler():
    events, seen = [], set()
    for cta, sm, start, drain, done in rows():
        if sm not in seen:
            events.append(_named("process", f"SM {sm}", sm))
        events.append(_named("thread", f"Block {cta} Group 0", sm, cta))
        seen.add(sm)
        events += [_x("compute", start, drain, sm, cta), _x("write", drain, done, sm, cta)]
    return json.dumps({"traceEvents": events})


def iket(tables=False):
    ranges, lifetimes, strings, places = [], [], ["main loop", "epilogue"], []
    for cta, sm, start, drain, done in rows():
        for warp in range(WARPS):
            place = {"smId": sm, "tpcId": sm // 2, "gpcId": 0, "warpId": warp}
            place["ctaId"] = [cta % 2, cta // 2, 0]
            if place not in places:
                places.append(place)
                lifetimes.append({"startTs": FIRST, "endTs": done, "warpLocation": place})
            for name, begin, end in (("main loop", start, drain), ("epilogue", drain, done)):
                one = {"rangeScope": 0, "startTs": begin, "endTs": end, "internalEvents": []}
                if tables:
                    one |= {"rangeNameIdx": strings.index(name), "warpLocIdxs": [places.index(place)] * 2}
                else:
                    one |= {"rangeName": name, "warpLocs": [place]}
                ranges.append(one)
    if tables:
        for one in lifetimes:
            one["locIdx"] = places.index(one.pop("warpLocation"))
    launch = {"gridId": 0, "kernelName": "gemm_kernel", "ranges": ranges, "warpLifetimes": lifetimes}
    more = {"stringTable": strings, "locationTable": places} if tables else {}
    return json.dumps(more | {"launches": [launch | {"markers": []}]})


def nuggets():
    events = [_named("process", "GPU 0", 0)]
    for cta, _, start, drain, done in rows():
        events.append(_named("thread", f"Block {cta}", 0, cta))
        for tag, (name, begin, end) in enumerate((("mma", start, drain), ("tma_store", drain, done))):
            args = {"tag_id": tag, "start_ns": begin + 10**18, "dur_ns": end - begin, "unit_id": cta}
            events.append(_x(name, begin, end, 0, cta, cat="profile", args=args))
    return json.dumps({"traceEvents": events})


def plain():
    lines = [f"{cta};{sm};{start};{drain};{done}" for cta, sm, start, drain, done in rows()]
    return "\n".join(["block;smid;t0;t1;t2", *lines])


def tasks(header="item,size,sm,cta,start,end"):
    """A megakernel's tasks: no matrix product, each with a name and a size."""
    names = ["rmsnorm", "qkv", "attention", "project"]
    lines = [
        f"{names[row % 4]} {row // 4},{128 * (row + 1)},{sm},{cta},{start},{done}"
        for row, (cta, sm, start, _, done) in enumerate(rows())
    ]
    return "\n".join(["# sms=4", header, *lines])


FILES = {
    "proton.json": proton,
    "flashinfer.perfetto-trace": flashinfer,
    "sm_profiler.json": sm_profiler,
    "iket.json": iket,
    "iket_tables.json": lambda: iket(tables=True),
    "nuggets.json": nuggets,
    "plain.csv": plain,
}


def write(folder, name):
    """The path of such a file."""
    content = (FILES | {"tasks.csv": tasks})[name]()
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def places(trace):
    """What all files of the run tell alike, from the first multiply on."""
    spans = np.sort(trace.spans, order=["tile"])
    shift = spans["start"].min()
    return [
        tuple(int(one[name]) for name in ("tile", "sm", "cta"))
        + tuple(int(one[name] - shift) for name in ("start", "drain", "done"))
        for one in spans
    ]
