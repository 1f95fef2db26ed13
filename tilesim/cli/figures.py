"""The table of a trace's figures, as `simulate` and `record` print it."""

from tilesim import metrics
from tilesim.text import plural
from tilesim.traces import Trace


def table(trace: Trace) -> str:
    """What ran where, then a line per figure."""
    problem, figures = trace.problem, metrics.summary(trace)
    size = f"{problem.m}x{problem.n}x{problem.k} {problem.dtype}"
    tile = "x".join(map(str, problem.tile))
    tiles, steps = plural(problem.tiles, "tile"), plural(problem.k_steps, "K-step")
    sms = f" ({plural(trace.device.sms, 'SM')})" if trace.device.name else ""
    lines = [
        f"{trace.schedule} on {trace.device.title}{sms}, {trace.origin}",
        f"{size}, {problem.order}: {tiles} of {tile}, {steps} each",
    ]
    idle = time(figures["tail_idle_slot_ns"])
    rows = {
        "makespan": time(figures["makespan_ns"]),
        "utilization": f"{figures['utilization']:.1%}",
        "occupancy": f"{figures['occupancy']:.1%}",
        "waves": str(figures["waves"]),
        "launches": str(figures["launches"]),
        "launch time": f"{time(figures['launch_time_ns'])}, all slots together",
        "tail": f"{time(figures['tail_ns'])}; {idle} idle, all slots together",
        "imbalance": f"{figures['imbalance']:.3f}",
        "costs": trace.meta.get("costs", {}).get("source", ""),
    }
    return "\n".join(lines + [f"  {name:12} {value}" for name, value in rows.items() if value])


def time(ns: int) -> str:
    """A time with the unit that fits it.

    >>> time(31_250), time(640)
    ('31.250 µs', '640 ns')
    """
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size:
            return f"{ns / size:.3f} {unit}"
    return f"{ns} ns"
