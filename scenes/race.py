"""Race: two schedules of one matrix product on one clock."""

from itertools import pairwise

from tilesim import Device, Problem, Trace
from tilesim.metrics import launches
from tilesim.timings import kernel_times
from tilesim.view import hand_over, tail_start
from tilesim_scenes._stage.blocks import is_persistent
from tilesim_scenes._stage.film import Default, Film
from tilesim_scenes._stage.layout import is_classroom
from tilesim_scenes._stage.phrases import around_hand_over, is_bare, overlaps, plural, schedule_name
from tilesim_scenes._stage.script import Bar, Caption, Script, describe
from tilesim_scenes._stage.stage import TraceScene

LADDER = {
    "naive-ptr": "naive, pointer loads",
    "naive-tma": "naive, TMA loads",
    "persistent-tma": "persistent, no overlap",
    "persistent-tma-overlap": "persistent, overlapped",
    "cublas": "cuBLAS",
}
"""The kernels whose differences split the gain into its causes."""
FILMED = ("naive-tma", "persistent-tma-overlap")

KERNEL_TIME = (
    "kernel time, launch included, median of graph replays; "
    "green: the runs above, whose clocks go from first multiply to last write"
)
PER_TILE = "one thread block per tile"
MAKESPAN = "from the first issue to the last write"


def write(film: Film) -> Script:
    """What the race says of two traces of one problem."""
    traces, problem = film.traces, film.traces[0].problem
    classroom = all(is_classroom(trace) for trace in traces)
    tiles, sms = plural(problem.tiles, "output tile"), plural(traces[0].device.sms, "SM")
    measure, bars, finding = _kernels(traces) or _runs(traces)
    return Script(
        title=_title(traces, classroom),
        subtitle=f"{tiles} on {sms}: {describe(problem)}",
        opening="One matrix product, two schedules, one clock: which is done first, and why?",
        panels=[(schedule_name(trace), _does(trace, classroom)) for trace in traces],
        captions=_captions(traces),
        slow=around_hand_over(traces),
        finding=finding,
        bars=[] if classroom else bars,
        measure=measure,
    )


def _title(traces: tuple[Trace, ...], classroom: bool) -> str:
    if classroom and [is_persistent(trace) for trace in traces] == [False, True]:
        return "One thread block per tile, or one per SM?"
    first, second = (schedule_name(trace) for trace in traces)
    return f"{first} vs {second.lower()} matmul"


def _does(trace: Trace, classroom: bool) -> str:
    if not is_persistent(trace):
        waits = classroom and not is_bare(trace)
        return "a block per tile: the SM waits for the write and the next block" if waits else PER_TILE
    if not classroom:
        return "one thread block per SM" + (", writing under the next tile" if overlaps(trace) else "")
    return "a block per SM: " + (
        "the next tile runs while the last is written" if overlaps(trace) else "no launch between tiles"
    )


def _captions(traces: tuple[Trace, ...]) -> list[Caption]:
    low = around_hand_over(traces)[0]
    begun = min(traces[0].problem.tiles, traces[0].device.slots)
    captions = [Caption(0, f"{plural(begun, 'tile')} start, in their SM's colour")]
    if not all(hand_over(trace)[2] for trace in traces):
        return captions
    captions.append(Caption(low, "Slow motion: when does the next tile start?"))
    starts = max(hand_over(trace)[2] for trace in traces)
    captions.append(Caption(starts, "The pause: " + ", ".join(_pause(trace) for trace in traces)))
    tails = [tail_start(trace) for trace in traces]
    both, first_done = max(tails), min(trace.makespan for trace in traces)
    tail = both if both < 0.95 * first_done else min(tails)
    if starts < tail < 0.98 * max(trace.makespan for trace in traces):
        captions.append(Caption(tail, "The tail: SMs wait for the last tiles"))
    return captions


def _pause(trace: Trace) -> str:
    """How long the SM of the typical hand-over multiplies nothing."""
    _, drain, start = hand_over(trace)
    return f"{(start - drain) / 1000:.1f} µs {schedule_name(trace).lower()}"


def _kernels(traces: tuple[Trace, ...]) -> tuple[str, list[Bar], list[str]] | None:
    """Bars and finding from the shipped kernel times, where the traces are of exactly those kernels."""
    rows, others = (kernel_times(trace.problem, trace.meta) for trace in traces)
    if (
        rows != others
        or not set(LADDER) <= set(rows)
        or {trace.meta.get("kernel") for trace in traces} != set(FILMED)
    ):
        return None
    us = {name: rows[name]["us"] for name in LADDER}
    bars = [Bar(label, us[name], "run" if name in FILMED else "other") for name, label in LADDER.items()]
    loads, saved, overlap = (us[slow] - us[fast] for slow, fast in pairwise(list(LADDER)[:4]))
    fewer = abs(launches(traces[0]) - launches(traces[1]))
    finding = [
        f"{fewer} fewer launches {_save(saved)}. Writing under the next tile {_save(overlap, 's')}.",
        f"Both load by TMA; without it, by pointers, naive takes {loads:.1f} µs more.",
    ]
    return KERNEL_TIME, bars, finding


def _save(us: float, ending: str = "") -> str:
    return f"{'save' if us >= 0 else 'cost'}{ending} {abs(us):.1f} µs"


def _runs(traces: tuple[Trace, ...]) -> tuple[str, list[Bar], list[str]]:
    """Bars and finding from the traces alone: kernel times where both hold them, else makespans."""
    timed = all("kernel_us" in trace.meta for trace in traces)
    times = [float(trace.meta["kernel_us"]) if timed else trace.makespan / 1000 for trace in traces]
    bars = [Bar(schedule_name(trace), us) for trace, us in zip(traces, times, strict=True)]
    (least, fast), (most, slow) = sorted(zip(times, traces, strict=True), key=lambda pair: pair[0])
    measure, less = KERNEL_TIME if timed else MAKESPAN, 1 - least / most
    if less < 0.001:
        why = ["These costs hold no launch, no first load and no write."] * all(map(is_bare, traces))
        return measure, bars, ["Both take the same time.", *why]
    causes = []
    if launches(fast) < launches(slow):
        causes.append(f"It launches {plural(launches(fast), 'thread block')} instead of {launches(slow)}")
    if overlaps(fast) and not overlaps(slow):
        causes.append(f"{'and' if causes else 'It'} writes each tile while the next one is multiplied")
    gain = f"{schedule_name(fast)} takes {less:.1%} less time: {least:.1f} µs instead of {most:.1f} µs"
    return measure, bars, [gain, *([" ".join(causes) + "."] if causes else [])]


class Race(TraceScene):
    """Naive against persistent, as measured on an H200 unless asked otherwise."""

    default = Default(
        ("naive", "persistent"),
        Problem(4096, 4096, 512),
        Device.named("h200"),
        shipped=("h200-naive-4096x4096x512-grouped8.npz", "h200-persistent-4096x4096x512-grouped8.npz"),
    )
    write = staticmethod(write)
