"""What the film launch_latency says: four things that are called a launch, and which of them costs much."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from tilesim import Trace
from tilesim.errors import ReportError, shown
from tilesim.ideas.launch_latency import idle, timeline
from tilesim.ladder.reports import report, row
from tilesim_scenes.look.language import tr
from tilesim_scenes.story.traces.pauses import Pause as Between
from tilesim_scenes.story.traces.pauses import pauses

PRODUCT_RUN = "h200-naive-4096x4096x512-grouped8.npz"
"""A recorded run of short tiles, which its launches interrupt often."""
CYCLES = 8_000
"""That a kernel of the bench spins."""
SHOWN = 2.2
"""Turns of the longest row, that all rows show."""
LONGEST = 200_000
"""ns of anything that the film shows."""
CLOCKS = (100, 10_000)
"""MHz that an SM can run at."""
CALLED = 5
"""Products that the film calls."""


@dataclass(frozen=True, slots=True)
class Pause:
    """What an SM does between two tiles of a recorded run, ns: write, then launch, then first load."""

    gpu: str
    drain: int
    done: int
    launched: int
    start: int

    @property
    def length(self) -> int:
        return self.start - self.drain

    @property
    def launch(self) -> int:
        return self.launched - self.done

    @property
    def share(self) -> float:
        """Of the pause, that is launch."""
        return self.launch / self.length


@dataclass(frozen=True, slots=True)
class Story:
    """What the film shows, ns. `host`: a call of an empty Triton kernel. `stream`, `graph`: from one kernel
    to the next, each of a thread block an SM. `block`: from one thread block to the next.

    `replay`: a call of a graph of one kernel. `spin`: what the kernels take. `pause`: of a product on the
    same GPU, None where none was recorded. Of a product by cuBLAS with `size` rows: what it takes the GPU
    (`kernel`), for how long it holds its caller (`call`), and what each takes in a graph (`in_graph`) and
    with the host's work (`one_by_one`).
    """

    gpu: str
    host: int
    stream: int
    graph: int
    block: int
    replay: int
    spin: int
    pause: Pause | None
    size: int
    kernel: int
    call: int
    in_graph: int
    one_by_one: int

    @property
    def until(self) -> float:
        """ns that the four rows show: two turns of the longest of them, and a little."""
        return SHOWN * max(self.host, self.spin + max(self.stream, self.graph, self.block))

    @property
    def rows(self) -> dict[str, list[tuple[str, int, int]]]:
        """(what, begin, end) of each row, ns: "launch" and "work" in turn, over and over."""
        made = {"host": self._in_turn(self.host, 0)}
        for name, gap in (("stream", self.stream), ("graph", self.graph), ("SM", self.block)):
            made[name] = self._in_turn(gap, self.spin)
        return made

    def _in_turn(self, launch: int, work: int) -> list[tuple[str, int, int]]:
        turn = launch + work
        begins = range(0, int(self.until), turn)
        found = [("work", at, at + work) for at in begins] if work else []
        return sorted([*found, *(("launch", at + work, at + turn) for at in begins)], key=lambda one: one[1])

    def gap(self, name: str) -> tuple[int, int]:
        """The second launch of a row, ns."""
        _, begin, end = [one for one in self.rows[name] if one[0] == "launch"][1]
        return begin, end

    @property
    def calls(self) -> np.ndarray:
        """Products called one by one."""
        return timeline(CALLED, self.kernel, self.call, self.stream)

    @property
    def at_once(self) -> np.ndarray:
        """The same as nodes of a graph that one call launches."""
        made = timeline(CALLED, self.kernel, 0, self.graph)
        for name in made.dtype.names:
            made[name] += self.replay
        return made

    # What is said

    @property
    def said(self) -> dict[str, str]:
        """Of each row."""
        return {
            "host": tr("Host: each call holds its caller"),
            "stream": tr("Stream: from one kernel to the next"),
            "graph": tr("Graph: the same between its nodes"),
            "SM": tr("SM: from one thread block to the next"),
        }

    @property
    def in_a_pause(self) -> str:
        share = 0.0 if self.pause is None else self.pause.share
        return tr("Of a product’s pause, the launch is {share:.0%}", share=share)

    @property
    def waits(self) -> str:
        """Who waits for whom, where products are called one by one."""
        spare = idle(self.kernel, self.call, self.stream)
        if self.call > self.kernel + self.stream:
            return tr("{size}³, call by call: the GPU idles {spare:.0%}", size=self.size, spare=spare)
        return tr("{size}³, call by call: each call is hidden", size=self.size)

    @property
    def graph_words(self) -> str:
        return tr("As a graph: one call for all")

    @property
    def times(self) -> float:
        """By how much the dearest launch is dearer than a thread block's."""
        return self.host / self.block

    @property
    def finding(self) -> str:
        if self.host >= max(self.stream, self.graph, self.block):
            return tr("The host’s launch is the dear one")
        return tr("A launch is four things")

    @property
    def number(self) -> str:
        return f"×{self.times:.0f}"

    @property
    def aside(self) -> str:
        single, graph = self.one_by_one / 1000, self.in_graph / 1000
        return tr("{size}³ as graph: {single:.1f}→{graph:.1f} µs", size=self.size, single=single, graph=graph)


def tell(measured: Mapping[str, Any] | None = None) -> Story:
    """The story of a report of `tilesim bench launch-latency`, the shipped one by default.

    Raises ReportError where it lacks a row that the film shows, or has a time that cannot be shown.
    """
    measured = measured or report("launch_latency")
    gpu, seen = measured["machine"]["gpu"], recorded_pause()
    graphs = [one["blocks"] for one in measured["rows"] if one["launch"] == "graph"]
    most = max(graphs, default=1)
    graph = _ns(row(measured, launch="graph", blocks=most))
    product = row({"rows": measured["products"]}, kernel="cublas")
    in_graph = _time("a product in a graph", 1000 * product["us"])
    mhz = measured["sm_mhz"]
    if not CLOCKS[0] <= mhz <= CLOCKS[1]:
        raise ReportError(f"sm_mhz is {shown(mhz)}; it must be from {CLOCKS[0]} to {CLOCKS[1]:,}")
    return Story(
        gpu=gpu,
        host=_ns(row(measured, launch="host", what="Triton")),
        stream=_ns(row(measured, launch="stream", blocks=most)),
        graph=graph,
        block=_ns(row(measured, launch="turnaround")),
        replay=_ns(row(measured, launch="host", what="CUDA graph")),
        spin=round(1000 * CYCLES / mhz),
        pause=seen if seen.gpu == gpu else None,
        size=product["m"],
        kernel=max(1, in_graph - graph),
        call=_time("a product's call", 1000 * product["call_us"]["us"]),
        in_graph=in_graph,
        one_by_one=_time("a product with the host's work", 1000 * product["host_us"]),
    )


def _ns(found: Mapping[str, Any]) -> int:
    """The median of a kind of launch, ns."""
    return _time(f"a launch of the kind {found['launch']!r}", found["ns"]["p50"])


def _time(what: str, ns: float) -> int:
    """A time that can be shown, in whole ns; raises ReportError for any other."""
    if not 0 < ns <= LONGEST:
        raise ReportError(f"{what} takes {shown(ns)} ns; the film shows up to {LONGEST:,}, above 0")
    return max(1, round(ns))


@cache
def recorded_pause() -> Pause:
    """The pause of a median length in the recorded product, with the launch that was recorded in it."""
    trace = Trace.load(str(files("tilesim").joinpath("data", "traces", PRODUCT_RUN)))
    each = pauses(trace)
    median = np.median([one.length for one in each])
    found = min(each, key=lambda one: (abs(one.length - median), one.sm))
    done = _done(trace, found)
    launch = int(trace.meta["launch_ns"]["p50"])
    return Pause(str(trace.meta["gpu"]), found.begin, done, done + launch, found.end)


def _done(trace: Trace, pause: Between) -> int:
    """When the tile before a pause was written."""
    spans = trace.spans
    return int(spans["done"][(spans["sm"] == pause.sm) & (spans["drain"] == pause.begin)][0])
