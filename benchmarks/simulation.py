"""How fast plans become traces, beside the same schedules in SimPy and in a plain heapq loop.

    python benchmarks/simulation.py [ROUNDS]

All of it on one core, from a given plan, compiled code warm. The contenders do less: they check nothing, and
know neither co-residency nor overlap nor cut tiles. They run fewer tiles, as that leaves their rate as it is.
"""

import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from heapq import heapify, heapreplace
from time import perf_counter
from typing import Any

from alternation import alternate
from table import row, text

from tilesim import Costs, Device, Plan, Problem, Trace, plan, simulate
from tilesim.engine import run
from tilesim.model.kstep import k_step_ns

MILLION = Problem(128 * 1000, 256 * 1000, 512)
FEWER = Problem(128 * 100, 256 * 1000, 512)
H200, TWICE = Device.named("h200"), Device.named("h200", ctas_per_sm=2)
COSTS = Costs(k_step=700, launch=168, prologue=400, tile_gap=150, epilogue=900, jitter=0.05)
ALL_COSTS = Costs(
    k_step=700, mainloop_overhead=90, launch=168, prologue=400, tile_gap=150, epilogue=900, overlap=True,
    epilogue_serialisation=500, epilogue_overlap_penalty=80, partial=300, merge=70, fixup=20,
    coresidency=(1.0, 1.7), jitter=0.05,
)  # fmt: skip

Row = tuple[int, int, int, int, int, int, int]
"""What the contenders record of a tile: tile, cta, sm, issue, start, drain, done."""


def tilesim(made: Plan, problem: Problem, device: Device, costs: Costs) -> Trace:
    """The plan's trace, checked."""
    return Trace(problem, device, "benchmark", run.run(made, problem, device, costs))


def main_loops(made: Plan, problem: Problem) -> list[int]:
    """How long each main loop of the plan takes, ns."""
    return run.main_loop_ns(made, problem, COSTS, k_step_ns(made, problem, H200, COSTS)[0], 0).tolist()


def blocks_of(made: Plan, work: list[int]) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Each thread block and its tiles, with the time of their main loops."""
    pairs = list(zip(made.segments["tile"].tolist(), work, strict=True))
    bounds = made.offsets.tolist()
    return ((cta, pairs[bounds[cta] : bounds[cta + 1]]) for cta in range(made.ctas))


def heapq_loop(made: Plan, work: list[int], device: Device, costs: Costs) -> list[Row]:
    """The heap says when slots are free; the first goes on with its block, or takes another."""
    blocks, rows = blocks_of(made, work), []
    lead, tile_gap, epilogue = costs.launch + costs.prologue, costs.tile_gap, costs.epilogue
    tiles: list[Iterator[tuple[int, int]]] = [iter(())] * device.slots
    ctas = [0] * device.slots
    sms = device.free_sms
    heap = [(0, rank) for rank in range(device.slots)]
    heapify(heap)
    while len(rows) < len(work):
        now, rank = heap[0]
        gap, following = tile_gap, next(tiles[rank], None)
        while following is None:
            block = next(blocks, None)
            if block is None:
                break
            gap, ctas[rank], tiles[rank] = lead, block[0], iter(block[1])
            following = next(tiles[rank], None)
        if following is None:
            heapreplace(heap, (2**63, rank))
            continue
        tile, length = following
        start = now + gap
        drain = start + length
        done = drain + epilogue
        rows.append((tile, ctas[rank], sms[rank], now, start, drain, done))
        heapreplace(heap, (done, rank))
    return rows


def simpy_processes(made: Plan, work: list[int], device: Device, costs: Costs) -> list[Row]:
    """A process for each slot, which takes blocks and waits through each step of their tiles."""
    from simpy import Environment, Event

    environment, blocks, rows = Environment(), blocks_of(made, work), []

    def slot(rank: int, sm: int) -> Iterator[Event]:
        for cta, tiles in blocks:
            gap = costs.launch + costs.prologue
            for tile, length in tiles:
                issue = environment.now
                yield environment.timeout(gap)
                start = environment.now
                yield environment.timeout(length)
                drain = environment.now
                # As a timeout, but of slots that are done at one time the one of the lowest rank goes first.
                written = environment.event()
                written._ok, written._value = True, None
                environment.schedule(written, priority=rank + 1, delay=costs.epilogue)
                yield written
                rows.append((tile, cta, sm, issue, start, drain, environment.now))
                gap = costs.tile_gap

    for rank, sm in enumerate(device.free_sms):
        environment.process(slot(rank, sm))
    environment.run()
    return rows


CONTENDERS = {"SimPy": simpy_processes, "a heapq loop": heapq_loop}


def agree(schedule: str, problem: Problem) -> bool:
    """Whether all contenders find the same times and places."""
    made = plan(schedule, problem, H200)
    work = main_loops(made, problem)
    spans = tilesim(made, problem, H200, COSTS).spans
    names = ("tile", "cta", "sm", "issue", "start", "drain", "done")
    expected = sorted(zip(*(spans[name].tolist() for name in names), strict=True))
    return all(sorted(run(made, work, H200, COSTS)) == expected for run in CONTENDERS.values())


def rate(tiles: int, call: Callable[[], Any]) -> float:
    """Million tiles a second."""
    gc.collect()
    begin = perf_counter()
    call()
    return tiles / (perf_counter() - begin) / 1e6


def contenders(schedule: str) -> dict[str, Callable[[], float]]:
    """How to measure each on `schedule`; what tilesim compiles is compiled."""
    large, fewer = plan(schedule, MILLION, H200), plan(schedule, FEWER, H200)
    work = main_loops(fewer, FEWER)
    tilesim(large, MILLION, H200, COSTS)
    others = {
        name: lambda run=run: rate(FEWER.tiles, lambda: run(fewer, work, H200, COSTS))
        for name, run in CONTENDERS.items()
    }
    return {"tilesim": lambda: rate(MILLION.tiles, lambda: tilesim(large, MILLION, H200, COSTS))} | others


def peak_bytes(schedule: str) -> float:
    """Bytes that Python and NumPy hold at most beyond the plan until the trace is made, for each tile."""
    made = plan(schedule, MILLION, H200)
    tracemalloc.start()
    tilesim(made, MILLION, H200, COSTS)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / MILLION.tiles


def measure(rounds: int = 7) -> list[dict[str, Any]]:
    """Rows what, figure (the median), low, high, unit, goal; raises ValueError where contenders disagree."""
    rows = []
    speed = "million tiles/s"
    for schedule in ("naive", "persistent"):
        if not agree(schedule, Problem(128 * 50, 256 * 100, 512)):
            raise ValueError(f"the contenders find different times for {schedule}")
        found = alternate(contenders(schedule), rounds)
        rows.append(row(f"{schedule}, a million tiles", found["tilesim"], speed, "at least 10"))
        for name, goal in {"SimPy": "at least 50", "a heapq loop": "at least 5"}.items():
            ratios = [ours / theirs for ours, theirs in zip(found["tilesim"], found[name], strict=True)]
            rows.append(row(f"{schedule}, {name}", found[name], speed, ""))
            rows.append(row(f"{schedule}, against {name}", ratios, "times", goal))
        rows.append(row(f"{schedule}, beyond the plan", [peak_bytes(schedule)], "bytes/tile", "at most 100"))
    others = {
        "naive, two on an SM": ("naive", TWICE),
        "persistent, two on an SM": ("persistent", TWICE),
        "stream-k": ("stream-k", H200),
        "stream-k, two on an SM": ("stream-k", TWICE),
    }
    calls = {}
    for name, (schedule, device) in others.items():
        made = plan(schedule, MILLION, device)
        tilesim(made, MILLION, device, ALL_COSTS)
        calls[name] = lambda made=made, device=device: rate(
            MILLION.tiles, lambda: tilesim(made, MILLION, device, ALL_COSTS)
        )
    for name, figures in alternate(calls, rounds).items():
        rows.append(row(f"{name}, all costs", figures, speed, "at least 3"))
    goals = {"without memory": (COSTS, "at least 10"), "on an H200 with its memory": (None, "at least 3")}
    asked = {(schedule, what): goals[what] for what in goals for schedule in ("naive", "persistent")}
    calls = {}
    for (schedule, what), (costs, _) in asked.items():
        simulate(schedule, MILLION, H200, costs)
        calls[schedule, what] = lambda schedule=schedule, costs=costs: rate(
            MILLION.tiles, lambda: simulate(schedule, MILLION, H200, costs)
        )
    for (schedule, what), figures in alternate(calls, rounds).items():
        rows.append(row(f'simulate("{schedule}", ...), {what}', figures, speed, asked[schedule, what][1]))
    return rows


if __name__ == "__main__":
    print(text(measure(*map(int, sys.argv[1:]))))
