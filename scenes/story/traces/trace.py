"""What the film of any trace says: its longest pause, and what its time goes on. Nothing is known beforehand.

Whatever is named is named because it is the most in the data.
"""

from dataclasses import dataclass

import numpy as np

from tilesim import Trace, WorkItems
from tilesim_scenes.look.language import tr
from tilesim_scenes.story.traces.runs import schedule_name, tells_writes
from tilesim_scenes.story.traces.time_shares import Pause, longest_pause, shares

ROWS = 6
"""Of the file, that are shown at most."""
BARS = 4
"""Causes whose share is shown: multiplying, and those that take most of the rest."""
ROOM = 0.3, 0.18
"""Before and after the pause, what else a close look shows, as shares of its length."""
LONGEST_NAME = 18
"""Characters that stand beside the lanes."""
LEAST_SHARE = 0.0005
"""Below which a share would be shown as 0.0 %."""


@dataclass(frozen=True, slots=True)
class TraceStory:
    """`shares`: of all slots' time, by cause. `most`: what takes the most of it but multiplying, if anything.

    `rows`: numbers of some rows of the file, and `lines`: its head and they, as they stand there. `window`:
    ns that a close look at `pause` shows.
    """

    trace: Trace
    name: str
    rows: tuple[int, ...]
    lines: tuple[str, ...]
    shares: dict[str, float]
    most: str | None
    pause: Pause | None
    window: tuple[float, float]

    @property
    def bars(self) -> list[tuple[str, float]]:
        """Causes and their shares: multiplying first, then those that take most."""
        rest = sorted(
            (item for item in self.shares.items() if item[0] != "multiply"), key=lambda one: -one[1]
        )
        shown = [(cause, share) for cause, share in rest if share >= LEAST_SHARE]
        return [("multiply", self.shares["multiply"]), *shown[: BARS - 1]]


def tell(trace: Trace) -> TraceStory:
    """The story of a trace.

    >>> from tilesim import Costs, Device, Problem, simulate
    >>> uneven = simulate("naive", Problem(128, 384, 4, tile=(128, 128, 4)), Device(2), Costs.ideal())
    >>> story = tell(uneven)
    >>> story.most, story.shares["tail"], story.pause.length, story.lines[:2]
    ('tail', 0.25, 1000, ('tile,sm,start,end', '0,0,0,1000'))
    """
    found, pause = shares(trace), longest_pause(trace)
    most = max((cause for cause in found if cause != "multiply"), key=found.__getitem__)
    rows = _of_several_sms(trace)
    told = (trace.spans[row] for row in rows)
    called = trace.problem.called
    lines = [f"{_cut(called(one['tile']))},{one['sm']},{one['start']},{one['done']}" for one in told]
    window = (0.0, float(trace.makespan))
    if pause is not None:
        before, after = (share * pause.length for share in ROOM)
        window = max(0.0, pause.begin - before), min(float(trace.makespan), pause.end + after)
    return TraceStory(
        trace,
        _cut(schedule_name(trace)),
        rows,
        (f"{trace.problem.noun},sm,start,end", *lines),
        found,
        most if found[most] >= LEAST_SHARE else None,
        pause,
        window,
    )


def _of_several_sms(trace: Trace) -> tuple[int, ...]:
    """The first rows of a few SMs, spread over those that have any, or the first few where SMs are fewer."""
    _, first = np.unique(trace.spans["sm"], return_index=True)
    if len(first) < ROWS:
        return tuple(range(min(ROWS, len(trace.spans))))
    return tuple(sorted(first[np.linspace(0, len(first) - 1, ROWS).astype(int)].tolist()))


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1].rstrip('…')}…"


def opening(story: TraceStory) -> str:
    """What a trace is."""
    if isinstance(story.trace.problem, WorkItems):
        return tr("A trace: which item, where, when")
    return tr("A trace: which tile, where, when")


def name_of(story: TraceStory, cause: str) -> str:
    """What a cause is called beside its bar."""
    multiply = tr("multiply") if tells_writes(story.trace) else tr("multiply, write")
    names = {
        "multiply": tr("work") if isinstance(story.trace.problem, WorkItems) else multiply,
        "launch": tr("launch"),
        "first load": tr("first load"),
        "hand over": tr("hand over"),
        "write": tr("write"),
        "wait": tr("wait"),
        "fix up": tr("add partials"),
        "gap": tr("gap"),
        "tail": tr("idle at the end"),
    }
    return names[cause]


def said_of_pause(story: TraceStory) -> str:
    """How much of the run its longest pause is, and what fills it."""
    pause = story.pause
    share = pause.length / story.trace.makespan
    sentences = {
        "launch": tr("Longest pause: {share:.0%} of the run, mostly launching", share=share),
        "first load": tr("Longest pause: {share:.0%} of the run, mostly loading", share=share),
        "hand over": tr("Longest pause: {share:.0%} of the run, mostly handing over", share=share),
        "write": tr("Longest pause: {share:.0%} of the run, mostly writing", share=share),
        "wait": tr("Longest pause: {share:.0%} of the run, mostly waiting", share=share),
        "fix up": tr("Longest pause: {share:.0%} of the run, mostly adding partials", share=share),
        "gap": tr("Longest pause: {share:.0%} of the run, mostly between tiles", share=share),
        "tail": tr("Longest pause: {share:.0%} of the run, mostly idle", share=share),
    }
    if isinstance(story.trace.problem, WorkItems):
        sentences["gap"] = tr("Longest pause: {share:.0%} of the run, mostly between items", share=share)
    return sentences[pause.cause]


def finding(story: TraceStory) -> str:
    """What takes the most time, but for multiplying."""
    sentences = {
        None: tr("No time is lost: all slots multiply from first to last"),
        "launch": tr("The largest loss: launching thread blocks"),
        "first load": tr("The largest loss: first loads of new blocks"),
        "hand over": tr("The largest loss: handing over to the next tile"),
        "write": tr("The largest loss: writing tiles while nothing multiplies"),
        "wait": tr("The largest loss: waiting for partial sums"),
        "fix up": tr("The largest loss: adding partial sums"),
        "gap": tr("The largest loss: between tiles nothing is issued"),
        "tail": tr("The largest loss: at the end no tiles are left"),
    }
    of_items = {
        None: tr("No time is lost: all slots work from first to last"),
        "hand over": tr("The largest loss: handing over to the next item"),
        "write": tr("The largest loss: writing items while nothing works"),
        "gap": tr("The largest loss: between items nothing is issued"),
        "tail": tr("The largest loss: at the end no items are left"),
    }
    return (sentences | (of_items if isinstance(story.trace.problem, WorkItems) else {}))[story.most]


def number(story: TraceStory) -> str:
    """How much that is."""
    return tr("{share:.1%}", share=story.shares[story.most or "multiply"])


def bars_caption(story: TraceStory) -> str:
    """What the bars are of; and where a launch's length is from, as stamps do not show it."""
    named = {cause for cause, _ in story.bars} | set(story.pause.causes if story.pause else ())
    if story.trace.origin == "measured" and "launch" in named:
        return tr("All slots' time; launches by the turnaround benchmark")
    return tr("Where the time of all SMs went")
