"""What the film naive says, chosen by the data."""

from tilesim import Trace
from tilesim_scenes.look.language import tr
from tilesim_scenes.story.traces.one_run import OneRun
from tilesim_scenes.story.traces.runs import thread_blocks, tiles


def title() -> str:
    """The question."""
    return tr("Who computes which tile?")


def blocks(trace: Trace) -> str:
    """Where thread blocks come from."""
    return tr("{tiles} of C, a thread block each", tiles=tiles(trace.problem.tiles))


def room(trace: Trace) -> str:
    """How many of them find room at once."""
    many = thread_blocks(trace.problem.tiles)
    return tr("{blocks}, and room for {slots}", blocks=many, slots=trace.device.slots)


def ticks(trace: Trace) -> str:
    """What the first tile takes."""
    return tr("Launch, first load, then a tick a K-step")


def pause(story: OneRun) -> str:
    """What is seen when a block has done its tile."""
    return tr("A finished block leaves; its SM waits for the next")


def inside(story: OneRun) -> str:
    """The pause itself; of a recorded one, whose stamps begin after the launch, where that comes from."""
    if story.trace.origin == "measured":
        return tr("Nothing multiplies (launch: from the turnaround benchmark)")
    return tr("Inside the bracket, nothing multiplies")


def whole(story: OneRun) -> str:
    """The rest of the run."""
    if story.pause is None:
        return tr("No SM gets a second tile")
    return tr("{us:.1f} µs lost, tile after tile", us=story.pause.length / 1000)


def number(story: OneRun) -> str:
    """The figure of the finding."""
    return tr("{share:.0%} is work", share=story.multiplying)


def finding(story: OneRun) -> str:
    """What takes most of the rest: the pauses between tiles, or SMs that have nothing left."""
    between = sum(story.spent.get(part, 0.0) for part in ("write", "launch", "first load", "hand over"))
    if story.pause is None or story.spent.get("idle", 0.0) > between:
        return tr("Much of the time, SMs have nothing left to do")
    pause, tile = story.pause.length / 1000, story.tile / 1000
    return tr("Of a tile’s {tile:.1f} µs, {pause:.1f} multiply nothing", tile=tile, pause=pause)
