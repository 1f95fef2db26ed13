"""What the race says, chosen by the data. Every sentence is written where it is said."""

from itertools import pairwise

from tilesim import WorkItems
from tilesim.metrics import launches
from tilesim_scenes.look.language import tr
from tilesim_scenes.story.traces.race import KERNELS, LARGE, Heat, Race
from tilesim_scenes.story.traces.runs import cubed, is_bare, is_foreign, parts

PART_OF_GAP = 0.1
"""Of what is given back, below which a finding leaves it out."""
SEEN = 0.01
"""Of the gap, below which a block would be a line."""
TRUSTED = 0.02
"""Share by which two main loops may differ before somebody is told."""


def title(race: Race) -> str:
    """The question."""
    heat = race.last
    if any(map(is_foreign, heat.traces)) or len(heat.traces) > 2:
        return tr("One product, {runs} runs", runs=len(heat.traces))
    first, second = heat.names
    return tr("{first} or {second}?", first=first, second=_inside(second))


def _inside(name: str) -> str:
    """A schedule's name inside a sentence."""
    return name if "-K" in name else name[:1].lower() + name[1:]


def opening(heat: Heat, first: bool) -> str:
    """What races; after a first race, that this one was recorded."""
    sms = len(heat.traces[0].device.free_sms)
    if not first:
        return tr("{sms} SMs, measured", sms=sms)
    if [trace.schedule for trace in heat.traces] == ["naive", "persistent"]:
        return tr("Naive: a block a tile. Persistent: one an SM")
    return tr("{tiles}, {sms} SMs: which is first?", tiles=parts(heat.traces[0].problem), sms=sms)


def pause(heat: Heat) -> str:
    """What the close-up shows first."""
    longs, shorts = (one.length / 1000 for one in heat.close_up.pauses)
    if isinstance(heat.traces[0].problem, WorkItems):
        return tr("Between items nothing works: {longs:.1f} or {shorts:.1f} µs", longs=longs, shorts=shorts)
    return tr("Between tiles nothing multiplies: {longs:.1f} or {shorts:.1f} µs", longs=longs, shorts=shorts)


def loops(heat: Heat) -> str:
    """What it shows next: the main loops after the pause."""
    slow, fast = (one.length / 1000 for one in heat.close_up.loops)
    if abs(fast / slow - 1) < TRUSTED:
        return tr("The next main loop takes as long in both")
    if heat.over_writes and fast > slow:
        return tr("Over a write the main loop takes {fast:.1f}, not {slow:.1f} µs", fast=fast, slow=slow)
    return tr("The next main loop takes {fast:.1f}, not {slow:.1f} µs", fast=fast, slow=slow)


def onwards(heat: Heat) -> str:
    """While they run to the end."""
    if heat.close_up is None:
        if isinstance(heat.traces[0].problem, WorkItems):
            return tr("Colours: SMs work. Dark: nothing runs")
        return tr("Colours: SMs multiply. Dark: nothing runs")
    return (
        tr("Again after each item")
        if isinstance(heat.traces[0].problem, WorkItems)
        else tr("Again after each tile")
    )


def gap(heat: Heat) -> str:
    """Who wins, and the question that follows."""
    if heat.same:
        return same(heat)
    fast, us = heat.names[heat.fast], heat.gap / 1000
    fewer = launches(heat.traces[heat.slow]) - launches(heat.traces[heat.fast])
    if heat.lanes and fewer > 0 and not is_bare(heat.traces[0]):
        return tr("{fast} wins by {us:.1f} µs. Is it the launches?", fast=fast, us=us)
    return tr("{fast} wins by {us:.1f} µs", fast=fast, us=us)


def same(heat: Heat) -> str:
    """Why nobody wins, where the costs say it."""
    if all(map(is_bare, heat.traces)):
        return tr("A draw: these costs hold no launch, load or write")
    return tr("A draw: all take the same time")


def finding(heat: Heat) -> str:
    """Where the difference comes from, and what takes some of it back."""
    if heat.same:
        return same(heat)
    said = [_gain(*heat.gained[0])]
    if heat.lost and heat.lost[0][1] >= PART_OF_GAP * heat.gap:
        said.append(_loss(*heat.lost[0], heat.over_writes))
    return " ".join(said)


def total(heat: Heat) -> str:
    """What the sum shows, whose figures stand beside its blocks."""
    back = -sum(ns for _, ns in entries(heat) if ns < 0) / 1000
    return tr("{back:.1f} µs are given back", back=back) if back >= 0.05 else tr("Where it comes from")


def _gain(cause: str, ns: float) -> str:
    us = ns / 1000
    return {
        "pauses": tr("Shorter pauses win {us:.1f} µs.", us=us),
        "partials": tr("Fewer partials win {us:.1f} µs.", us=us),
        "main loops": tr("Faster loops win {us:.1f} µs.", us=us),
        "tail": tr("Less idling wins {us:.1f} µs.", us=us),
        "rest": tr("Small things win {us:.1f} µs.", us=us),
    }[cause]


def _loss(cause: str, ns: float, over_writes: bool) -> str:
    us = ns / 1000
    if cause == "main loops" and over_writes:
        return tr("Loops over writes lose {us:.1f}.", us=us)
    return {
        "pauses": tr("Longer pauses lose {us:.1f}.", us=us),
        "partials": tr("Partial sums lose {us:.1f}.", us=us),
        "main loops": tr("Slower loops lose {us:.1f}.", us=us),
        "tail": tr("More idling loses {us:.1f}.", us=us),
        "rest": tr("Small things lose {us:.1f}.", us=us),
    }[cause]


def entries(heat: Heat) -> list[tuple[str, float]]:
    """(what, ns): what is won most, given back most, and the rest; they add up to the gap."""
    (gain, won), found = heat.gained[0], []
    found.append((row(gain, True), won))
    lost = next(((cause, ns) for cause, ns in heat.lost if cause != "rest"), None)
    if lost:
        found.append((row(lost[0], False), -lost[1]))
    rest = heat.gap - sum(ns for _, ns in found)
    if abs(rest) >= SEEN * heat.gap:
        found.append((row("rest", rest > 0), rest))
    return sorted(found, key=lambda entry: entry[1] < 0)


def row(cause: str, gained: bool) -> str:
    """What a cause is called where causes are added up."""
    return {
        "pauses": tr("shorter pauses") if gained else tr("longer pauses"),
        "partials": tr("fewer partials") if gained else tr("partial sums"),
        "main loops": tr("faster loops") if gained else tr("slower loops"),
        "tail": tr("less idling") if gained else tr("more idling"),
        "rest": tr("rest"),
    }[cause]


def kernel(name: str) -> str:
    """A kernel of KERNELS beside its bar."""
    return {
        "naive-tma": tr("Naive"),
        "persistent-tma": tr("Persistent, no overlap"),
        "persistent-tma-overlap": tr("Persistent"),
        "cublas": tr("cuBLAS"),
    }[name]


def answer(race: Race) -> str:
    """How much fewer launches win, and how much writing under the next tile."""
    saved, overlap = (a - b for a, b in pairwise(race.kernels[name] for name in KERNELS[:3]))
    return tr("Fewer launches win {saved:.1f} µs, overlap {overlap:.1f}", saved=saved, overlap=overlap)


def bars(race: Race) -> list[tuple[str, float]]:
    """(name, µs) of the last and the first run, from the first issue to the last write, as the clock."""
    heat = race.last
    return [(heat.names[n], heat.traces[n].makespan / 1000) for n in (heat.slow, heat.fast)]


def aside(race: Race) -> str:
    """The same kernels where main loops are long: cuBLAS where it leads, else what the change wins there."""
    if not race.elsewhere:
        return ""
    shape, (naive, _, persistent, cublas) = cubed(*LARGE), race.elsewhere.values()
    if cublas < persistent:
        return tr("{shape}: cuBLAS leads, {cublas:.0f} µs", shape=shape, cublas=cublas)
    return tr("{shape}: {naive:.0f}, {persistent:.0f} µs", shape=shape, naive=naive, persistent=persistent)


def won(heat: Heat) -> str:
    """By how much the first is done before the last."""
    return tr("−{us:.1f} µs", us=heat.gap / 1000)


def launch_source(heat: Heat) -> str:
    """Where the length of a launch comes from, in measured runs, whose stamps begin after it; else empty."""
    if heat.traces[heat.slow].origin != "measured":
        return ""
    return tr("launch: turnaround benchmark")
