"""The names, origins and figures of runs, as the player's table shows them."""

from collections.abc import Callable, Sequence

from tilesim import metrics
from tilesim.costs import badge, said_of
from tilesim.text import plural
from tilesim.traces import Trace
from tilesim.work import Problem

Said = Callable[..., str]
"""What gives a sentence in the language of a page, with its fields filled in."""
LONGEST = 120
"""Maximum number of characters of a text from a file."""


def english(sentence: str, **fields: str) -> str:
    return sentence.format(**fields)


def names(traces: Sequence[Trace]) -> list[str]:
    """The names of runs: their schedules, with origins or numbers where these repeat."""
    found = [short(trace.schedule, 40) for trace in traces]
    if len(set(found)) < len(found) and len({trace.origin for trace in traces}) > 1:
        found = [f"{name}, {trace.origin}" for name, trace in zip(found, traces, strict=True)]
    if len(set(found)) < len(found):
        found = [f"{name} {number}" for number, name in enumerate(found, 1)]
    return found


def origin(trace: Trace, said: Said = english) -> str:
    if trace.origin == "measured":
        return said("measured on {gpu}", gpu=short(trace.gpu or said("a GPU")))
    costs = said_of(badge(trace.meta.get("costs", {}), trace.device), said)
    return said("simulated with {costs}", costs=short(costs))


def product(trace: Trace) -> str:
    """The product, regardless of tiles."""
    return trace.problem.title.replace("x", " × ")


def details(trace: Trace) -> str:
    problem = trace.problem
    if not isinstance(problem, Problem):
        return "no matrix product"
    return f"{problem.dtype}, tile {' × '.join(map(str, problem.tile))}"


def microseconds(ns: float) -> str:
    return f"{ns / 1000:,.2f} µs"


def table(trace: Trace, said: Said = english) -> dict[str, str]:
    """Every figure by name, and who ran it, formatted."""
    found, problem, device = metrics.summary(trace), trace.problem, trace.device
    tiles = f"{problem.tiles:,}"
    if isinstance(problem, Problem):
        tiles = said("{tiles} in {order} order", tiles=tiles, order=problem.order)
    rows = {
        "origin": origin(trace, said),
        "product": f"{product(trace)}, {details(trace)}",
        f"{problem.noun}s": tiles,
        "device": f"{device.title}, {plural(len(device.free_sms), 'free SM')}, {device.slots} slots",
        "makespan": microseconds(found["makespan_ns"]),
        "utilization": f"{found['utilization']:.1%}",
        "busy share": f"{found['busy_share']:.1%}",
        "waves": f"{found['waves']:,}",
        "launches": f"{found['launches']:,}",
        "tail": microseconds(found["tail_ns"]),
        "imbalance": f"{found['imbalance']:.3f}",
    }
    known = {"kernel": trace.kernel or None} | {name: trace.meta.get(name) for name in ("driver", "date")}
    if trace.origin == "measured":
        rows["launch, first load"] = said("estimated with the launch of a benchmark")
    return rows | {name: short(value) for name, value in known.items() if isinstance(value, str)}


def headline(traces: Sequence[Trace], names: Sequence[str], said: Said = english) -> str:
    if len(traces) == 1:
        one, sentence = traces[0], "{run} takes {time}, of which slots work {share}"
        if isinstance(one.problem, Problem):
            sentence = "{run} takes {time}, of which slots multiply {share}"
        time = microseconds(one.makespan)
        return said(sentence, run=names[0], time=time, share=f"{one.utilization:.0%}")
    times = zip(names, (trace.makespan for trace in traces), strict=True)
    return "; ".join(f"{name} {microseconds(ns)}" for name, ns in sorted(times, key=lambda item: item[1]))


def short(text: object, most: int = LONGEST) -> str:
    """A text in one line, truncated if too long.

    >>> short("a b", 2)
    'a…'
    """
    line = " ".join(str(text).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
