"""Lessons: what they say is true of the data that they show, or they are not made, and say why in a line."""

import json
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from prepared import prepared

from tilesim import Trace
from tilesim.cli.packages import scene_class
from tilesim.ladder.file import ladders
from tilesim.ladder.reports import report
from tilesim_scenes import busy_sms, ping_pong
from tilesim_scenes.film.traces import shipped
from tilesim_scenes.launch_latency import LARGE, SMALL

BENCHES = {"coalescing": "strided_sum", "reduction": "reductions", "roofline": "fusion"}
"""The reports of films that are not called as their films are."""
TIMES = ("issue", "start", "drain", "ready", "fixup", "done")


def times(factor: float) -> Callable[[Any], Any]:
    """So many times a figure, or its percentiles."""

    def multiplied(figure: Any) -> Any:
        return (
            {name: one * factor for name, one in figure.items()}
            if isinstance(figure, dict)
            else figure * factor
        )

    return multiplied


def overlap(spans: list[list[float]]) -> list[list[float]]:
    (begin, end), (_, last), *others = spans
    return [[begin, end], [end - 100, last], *others]


Rows = dict[str, Any]
CHECKED_AFTER: Rows = {"loads": "checked after", "factor": 8}
REPORTS: list[tuple[str, str, Rows, Rows, str]] = [
    ("coalescing", "rows", {"columns": 8, "loads": 8}, {"us": 300.0}, "the time grows"),
    ("coalescing", "rows", {"columns": 4, "loads": 8}, {"dram_read_bytes": 2e9}, "as often as it has col"),
    ("coalescing", "rows", {"columns": 8, "loads": 8}, {"load_sectors": 8388608}, "4 or 32 pieces"),
    ("coalescing", "rows", {"columns": 8, "loads": 8}, {"l2_hit_sectors": 30000000}, "cache cannot keep"),
    ("coalescing", "rows", {"columns": 2, "loads": 8}, {"sum": 1}, "always the same"),
    ("divergence", "rows", {}, {"joined": 0.5}, "continue together"),
    ("divergence", "spans", {"ways": 4}, {"spans": overlap}, "one case after another"),
    ("divergence", "rows", {"split": "warps", "warps": 32, "ways": 4}, {"cycles": times(3)}, "lose as much"),
    ("execution-model", "kernels", {"name": "naive-tma"}, {"registers": 255}, "shared memory runs out first"),
    ("execution-model", "kernels", {"name": "naive-tma"}, {"seen": 1}, "two blocks were seen"),
    ("fusion", "rows", {"kernel": "fused", "functions": 8}, {"us": times(1.1)}, "an eighth of the time"),
    ("fusion", "rows", {"kernel": "eager", "functions": 1}, {"us": times(1.1)}, "a line takes an eighth"),
    ("fusion", "rows", {"kernel": "torch.compile"}, {"us": times(1.1)}, "torch.compile's kernel"),
    ("l2-order", "rows", {"order": "grouped:8", "k": 8192}, {"dram_read_bytes": 2.4e9}, "sends less"),
    ("l2-order", "rows", {"order": "row-major", "k": 8192}, {"dram_read_bytes": 4e9}, "batch anew"),
    ("l2-order", "without_pause", {"order": "grouped:8"}, {"sm_mhz": times(0.95)}, "as many cycles"),
    ("l2-order", "without_pause", {"order": "row-major"}, {"watts": 600.0}, "at the limit"),
    ("latency-hiding", "rows", {"sms": 132, "warps": 1}, {"bytes_per_clock": times(1.2)}, "four times as"),
    ("latency-hiding", "rows", {"sms": 1, "warps": 16}, {"bytes_per_clock": times(0.5)}, "one SM alone"),
    ("launch-latency", "together", {"how": "calls", "size": SMALL}, {"us": times(0.3)}, "a call takes"),
    ("launch-latency", "together", {"how": "queued", "size": SMALL}, {"us": times(2)}, "most of the time"),
    ("launch-latency", "together", {"how": "graph", "size": SMALL}, {"us": times(1.5)}, "keeps the GPU busy"),
    ("launch-latency", "together", {"how": "queued", "size": LARGE}, {"us": times(0.5)}, "a large product"),
    ("launch-latency", "together", {"how": "calls", "size": LARGE}, {"us": times(1.5)}, "hide their calls"),
    ("loop-unrolling", "rows", {"loads": "one by one", "factor": 8}, {"gb_per_s": times(3)}, "gain hardly"),
    ("loop-unrolling", "rows", CHECKED_AFTER, {"gb_per_s": times(0.5)}, "gains much"),
    ("loop-unrolling", "rows", CHECKED_AFTER, {"gb_per_s": times(0.8)}, "a little less time"),
    ("loop-unrolling", "rows", CHECKED_AFTER, {"issued": times(0.8)}, "three instructions"),
    ("loop-unrolling", "rows", CHECKED_AFTER, {"gb_per_s": times(1.06)}, "a seventh"),
    ("memory-hierarchy", "rows", {"m": 4096}, {"us": 400.0}, "main memory alone would take much longer"),
    ("memory-hierarchy", "rows", {"m": 4096}, {"arrived_bytes": 1.5e9}, "its two strips"),
    ("memory-hierarchy", "rows", {"m": 4096}, {"dram_read_bytes": 4e8}, "less than a quarter"),
    ("memory-hierarchy", "rows", {"m": 2048}, {"dram_read_bytes": 3e7}, "each byte once"),
    ("pipelining", "rows", {"stages": 2}, {"k_step_ns": 1600.0}, "each buffer makes a step shorter"),
    ("pipelining", "rows", {"stages": 4}, {"k_step_ns": 600.0}, "a fourth buffer saves nearly nothing"),
    ("pipelining", "rows", {"stages": 1}, {"k_step_ns": 2500.0}, "two multiplications take longer"),
    ("reduction", "rows", {"name": "sequential"}, {"us": times(1 / 3)}, "is much faster"),
    ("reduction", "rows", {}, {"us": times(2)}, "little is left"),
    ("roofline", "rows", {"kernel": "fused", "functions": 64}, {"us": times(1.1)}, "as long as two"),
    ("roofline", "rows", {"kernel": "fused", "functions": 1024}, {"us": times(0.3)}, "much longer"),
    ("roofline", "rows", {"kernel": "fused", "functions": 512}, {"us": times(0.5)}, "none is above"),
    ("tiling-hierarchy", "products", {"kernel": "128x256"}, {"us": 210.0}, "about half the time"),
    ("tiling-hierarchy", "products", {"kernel": "64x64"}, {"l2_bytes": 3e9}, "sends what it can"),
    ("tiling-hierarchy", "products", {"kernel": "128x256"}, {"l2_bytes": 1.5e9}, "could send much more"),
    ("tiling-hierarchy", "products", {"kernel": "128x256"}, {"tensor_cycles": 1e8}, "most of it waiting"),
    ("tiling-hierarchy", "products", {"kernel": "64x64"}, {"tensor_cycles": 1.1e8}, "about the same time"),
    ("wave-quantization", "rows", {"tiles": 132}, {"us": times(0.8)}, "the first step nearly doubles"),
]
"""A film, a list of its report, which of its rows are changed, what they say then, and what is untrue."""


@pytest.mark.parametrize(("film", "table", "those", "changes", "claim"), REPORTS)
def test_a_report_that_says_otherwise(
    film: str, table: str, those: Rows, changes: Rows, claim: str, tmp_path: Path
) -> None:
    altered = deepcopy(dict(report(BENCHES.get(film, film.replace("-", "_")))))
    for row in altered[table]:
        if those.items() <= row.items():
            row |= {name: to(row[name]) if callable(to) else to for name, to in changes.items()}
    (path := tmp_path / "mine.json").write_text(json.dumps(altered), "utf-8")
    with pytest.raises(SystemExit, match=claim) as refused:
        prepared(scene_class(film), {"report": str(path)})
    assert "\n" not in str(refused.value)


def spans_changed(change: Callable[[np.ndarray, Trace], None]) -> Callable[[Trace], Trace]:
    """The same run, but for what is changed in a copy of its spans."""

    def changed(trace: Trace) -> Trace:
        spans = trace.spans.copy()
        change(spans, trace)
        return replace(trace, spans=spans)

    return changed


def lasting(factor: float) -> Callable[[Trace], Trace]:
    """The same run, in so many times the time."""

    def stretch(spans: np.ndarray, _: Trace) -> None:
        for name in TIMES:
            spans[name] = spans[name] * factor

    return spans_changed(stretch)


@spans_changed
def dealt(spans: np.ndarray, trace: Trace) -> None:
    """Each block is on the SM whose turn it would be."""
    spans["sm"] = spans["cta"] % trace.device.sms


@spans_changed
def shuffled(spans: np.ndarray, trace: Trace) -> None:
    """The SMs' names are mixed up anew for each round of tiles."""
    order, sms = np.argsort(spans["start"], kind="stable"), trace.device.sms
    for turn in range(0, len(order), sms):
        rows = order[turn : turn + sms]
        spans["sm"][rows] = (spans["sm"][rows] + turn // sms) % sms


@spans_changed
def swapped(spans: np.ndarray, _: Trace) -> None:
    """Two blocks' segments are exchanged, so that shares are not dealt in turn."""
    spans["cta"] = np.select([spans["cta"] == 1, spans["cta"] == 2], [2, 1], spans["cta"])


@spans_changed
def spread(spans: np.ndarray, _: Trace) -> None:
    """Half of the tiles multiply for a much shorter time than the others."""
    spans["drain"][::2] -= 2000


@spans_changed
def late(spans: np.ndarray, _: Trace) -> None:
    spans["start"] += 3000


def noted(**meta: str) -> Callable[[Trace], Trace]:
    """The same run, with other notes."""
    return lambda trace: replace(trace, meta=trace.meta | meta)


def instead(file: str) -> Callable[[Trace], Trace]:
    """Another run that ships."""
    return lambda _: shipped(f"busy_sms/h200-{file}-4224x4096x4096-grouped8.npz")


TRACES: list[tuple[str, str, Callable[[Trace], Trace], str]] = [
    ("busy-sms", "persistent-busy1", instead("persistent-busy0"), "does two lists"),
    ("busy-sms", "naive-busy1", instead("persistent-busy1"), "a block per tile"),
    ("busy-sms", "persistent-busy0", noted(gpu="another"), "one GPU"),
    ("naive", "naive", dealt, "dealing"),
    ("one-tile", "naive", spread, "close to the average"),
    ("one-tile", "naive", late, "most of a tile's time is multiplying"),
    ("persistent", "persistent", shuffled, "leaves its SM"),
    ("persistent", "persistent", late, "part of the pauses"),
    ("race", "persistent-4096", lasting(2), "to a quarter"),
    ("race", "persistent-no-overlap", lasting(2), "makes pauses shorter"),
    ("stream-k", "stream-k", swapped, "gives a part to the next one"),
    ("stream-k", "stream-k", lasting(0.8), "busy for longer"),
    ("stream-k", "stream-k", noted(kernel="other"), "one kernel"),
    ("wave-quantization", "persistent-1536x3072", lasting(0.5), "almost twice as long"),
]
"""A film, a part of the names of the runs that are changed, what becomes of them, and what is untrue then."""


@pytest.mark.parametrize(("film", "file", "change", "claim"), TRACES)
def test_a_run_that_says_otherwise(
    film: str, file: str, change: Callable[[Trace], Trace], claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def altered(path: str) -> Trace:
        return change(shipped(path)) if f"h200-{file}" in path else shipped(path)

    lesson = scene_class(film)
    monkeypatch.setattr(sys.modules[lesson.__module__], "shipped", altered)
    with pytest.raises(SystemExit, match=claim) as refused:
        prepared(lesson)
    assert "\n" not in str(refused.value)


LADDERS: list[tuple[str, str, Rows, str]] = [
    ("ladder", "pipelined", {"us": 240.0}, "each step saves time"),
    ("ladder", "overlapped", {"us": 107.0}, "almost 25 times"),
    ("ladder", "overlapped", {"tensor_cycles": 1e6}, "equally many cycles"),
    ("ladder", "coalesced", {"load_sectors": 1e8}, "one number of each piece"),
    ("ladder", "coalesced", {"us": 300.0}, "alone take a twelfth"),
    ("ladder", "grouped", {"order": "row-major"}, "only loads ahead"),
    ("ladder", "pipelined", {"us": 145.0}, "as much as was measured"),
    ("ladder", "persistent", {"us": 120.0}, "mostly as loads and writes overlap"),
]
"""A film, a kernel of the ladder, what is said of it instead, and what is untrue then."""


@pytest.mark.parametrize(("film", "kernel", "changes", "claim"), LADDERS)
def test_a_ladder_that_says_otherwise(
    film: str, kernel: str, changes: Rows, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ladder, *_) = ladders()
    rows = tuple(replace(row, **changes) if row.name == kernel else row for row in ladder.rows)
    lesson = scene_class(film)
    monkeypatch.setattr(sys.modules[lesson.__module__], "ladders", lambda: [replace(ladder, rows=rows)])
    with pytest.raises(SystemExit, match=claim):
        prepared(lesson)


@pytest.mark.parametrize(
    ("kernel", "changes", "claim"),
    [
        ("ping-pong", {"us": 125.0}, "is faster"),
        ("warp-specialized", {"us": 140.0}, "is faster"),
        ("persistent-tma", {"us": 160.0}, "a tile's time tells"),
        ("ping-pong", {"stages": 6}, "wrote stamps are the same"),
    ],
)
def test_times_of_ping_pong_that_say_otherwise(
    kernel: str, changes: Rows, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [row | changes if row["kernel"] == kernel else row for row in report("ping_pong")["rows"]]
    timed = {"ping_pong": dict(report("ping_pong")) | {"rows": rows}}
    monkeypatch.setattr(ping_pong, "report", lambda name: timed.get(name) or report(name))
    with pytest.raises(SystemExit, match=claim):
        prepared(ping_pong.PingPong)


def test_a_naive_kernel_that_is_faster_with_all_sms_free(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        row | {"us": row["us"] * (0.9 if row["kernel"] == "naive" else 1)}
        for row in report("busy_sms")["rows"]
    ]
    monkeypatch.setattr(busy_sms, "report", lambda _: {"rows": rows})
    with pytest.raises(SystemExit, match="a little faster"):
        prepared(busy_sms.BusySms)
