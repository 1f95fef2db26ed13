"""Race: two schedules of one matrix product on one clock."""

from tilesim_scenes._stage.blocks import is_persistent
from tilesim_scenes._stage.film import Default, Film
from tilesim_scenes._stage.layout import is_classroom
from tilesim_scenes._stage.phrases import around_hand_over, overlaps, plural, schedule_name
from tilesim_scenes._stage.script import Bar, Caption, Script, describe
from tilesim_scenes._stage.stage import TraceScene

from tilesim import Device, Problem, Trace
from tilesim.metrics import launches
from tilesim.timings import kernel_times
from tilesim.view import hand_over, tail_start

LADDER = {
    "naive-ptr": "naive, pointer loads",
    "naive-tma": "naive, TMA loads",
    "persistent-tma": "persistent, TMA loads",
    "persistent-tma-overlap": "persistent, overlapped",
    "cublas": "cuBLAS",
}
"""The kernels whose differences split the gain into its causes, slowest idea first."""


def write(film: Film) -> Script:
    """What the race says of two traces of one problem."""
    traces, problem = film.traces, film.traces[0].problem
    classroom = all(is_classroom(trace) for trace in traces)
    sms = plural(traces[0].device.sms, "SM")
    title = "One thread block per tile, or one per SM?"
    if not classroom:
        title = f"{schedule_name(traces[0])} vs {schedule_name(traces[1]).lower()} matmul"
    bars, finding = _measured(traces) or _stamped(traces)
    return Script(
        title=title,
        subtitle=f"{plural(problem.tiles, 'output tile')} on {sms}: {describe(problem)}",
        opening=f"One matrix product, {plural(problem.tiles, 'output tile')}, {sms}: two schedules on one clock",
        panels=[(schedule_name(trace), _does(trace, classroom)) for trace in traces],
        captions=_captions(traces),
        slow=around_hand_over(traces),
        finding=finding,
        bars=[] if classroom else bars,
        measure="kernel time with its launch, median of graph replays; the clocks above run from first issue to last write"
        if any("kernel_us" in trace.meta for trace in traces)
        else "from first issue to last write",
    )


def _does(trace: Trace, classroom: bool) -> str:
    if not is_persistent(trace):
        return (
            "a block per tile: the SM waits for the write and the next block"
            if classroom
            else "one thread block per tile"
        )
    if not classroom:
        return "one thread block per SM" + (", writing under the next tile" if overlaps(trace) else "")
    return "a block per SM: " + (
        "the next tile runs while the last is written" if overlaps(trace) else "no launch between tiles"
    )


def _captions(traces: tuple[Trace, ...]) -> list[Caption]:
    low, high = around_hand_over(traces)
    slots = traces[0].device.slots
    begun = Caption(
        0, f"One clock for both: {plural(slots, 'tile')} start at once, in the colour of their SM"
    )
    if not high:
        return [begun]
    starts = hand_over(traces[0])[2]
    tail = min(tail_start(trace) for trace in traces)
    return [
        begun,
        Caption(low, "Slow motion: a tile is done. When does the next one start?"),
        Caption(starts, "Nothing is multiplied for " + " and ".join(_pause(trace) for trace in traces)),
        Caption(high + 0.25 * (tail - high), "The difference comes back after every tile"),
        Caption(tail, "The tail: SMs without a tile wait for the last ones"),
    ]


def _pause(trace: Trace) -> str:
    """How long the SM of the typical hand-over multiplies nothing."""
    _, drain, start = hand_over(trace)
    return f"{(start - drain) / 1000:.1f} µs ({schedule_name(trace).lower()})"


def _measured(traces: tuple[Trace, ...]) -> tuple[list[Bar], list[str]] | None:
    """Bars and finding from the shipped kernel times, where the traces are of exactly those kernels."""
    rows = kernel_times(traces[0].problem, str(traces[0].meta.get("gpu")))
    if not set(LADDER) <= set(rows) or not {trace.meta.get("kernel") for trace in traces} <= set(rows):
        return None
    us = {name: rows[name]["us"] for name in LADDER}
    bars = [Bar(label, us[name], "run" if name != "cublas" else "other") for name, label in LADDER.items()]
    loads, saved, overlap = (us[a] - us[b] for a, b in zip(list(LADDER)[:3], list(LADDER)[1:4], strict=True))
    launched = launches(traces[0]) - launches(traces[1])
    return bars, [
        f"Saving {launched} launches {_wins(saved)}. Writing under the next tile {_wins(overlap)}.",
        f"TMA instead of pointers for the loads, the same in both schedules, {_wins(loads)} more.",
    ]


def _wins(us: float) -> str:
    return f"{'wins' if us >= 0 else 'costs'} {abs(us):.1f} µs"


def _stamped(traces: tuple[Trace, ...]) -> tuple[list[Bar], list[str]]:
    """Bars and finding from the traces alone: kernel times where they hold them, else makespans."""
    times = [float(trace.meta.get("kernel_us", trace.makespan / 1000)) for trace in traces]
    bars = [Bar(schedule_name(trace), us) for trace, us in zip(traces, times, strict=True)]
    order = sorted(range(2), key=lambda index: times[index])
    fast, slow = (traces[index] for index in order)
    less = 1 - times[order[0]] / times[order[1]]
    if less < 0.001:
        return bars, ["Both take the same time."]
    says = f"{schedule_name(fast)} takes {less:.0%} less time: {times[order[0]]:.1f} µs instead of {times[order[1]]:.1f} µs"
    causes = []
    if launches(fast) < launches(slow):
        causes.append(f"it launches {plural(launches(fast), 'thread block')} instead of {launches(slow)}")
    if overlaps(fast) and not overlaps(slow):
        causes.append("writes each tile while the next one is multiplied")
    return bars, [says, " and ".join(causes).capitalize()] if causes else [says]


class Race(TraceScene):
    """Naive against persistent, as measured on an H200 unless asked otherwise."""

    default = Default(
        ("naive", "persistent"),
        Problem(4096, 4096, 512, order="grouped:8"),
        Device.named("h200"),
        shipped=("h200-naive-4096x4096x512-grouped8.npz", "h200-persistent-4096x4096x512-grouped8.npz"),
    )
    write = staticmethod(write)
