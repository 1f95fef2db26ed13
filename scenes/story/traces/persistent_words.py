"""What the film persistent says, chosen by the data."""

from tilesim import Trace
from tilesim.metrics import splits_tiles
from tilesim_scenes.look.language import tr
from tilesim_scenes.story.traces.one_run import OneRun
from tilesim_scenes.story.traces.runs import overlaps, thread_blocks, tiles


def title() -> str:
    """The question."""
    return tr("What if thread blocks stayed?")


def blocks(trace: Trace) -> str:
    """How few thread blocks there are."""
    few = thread_blocks(len(set(trace.spans["cta"].tolist())))
    return tr("{tiles} of C, only {blocks}", tiles=tiles(trace.problem.tiles), blocks=few)


def room(trace: Trace) -> str:
    """All of them find room at once."""
    if trace.device.ctas_per_sm > 1:
        return tr("Every SM takes {blocks}, and keeps them", blocks=trace.device.ctas_per_sm)
    return tr("Every SM takes one, and keeps it")


def ticks(trace: Trace) -> str:
    """What they do."""
    return tr("Tiles are cut and shared out evenly") if splits_tiles(trace) else tr("Blocks stay; tiles come")


def pause(story: OneRun) -> str:
    """What a hand-over looks like."""
    if overlaps(story.trace):
        return tr("The next tile runs while this one is written")
    return tr("The next tile needs no launch")


def inside(story: OneRun) -> str:
    """The pause itself."""
    return tr("Only inside the bracket nothing multiplies")


def whole(story: OneRun) -> str:
    """The rest of the run."""
    if story.pause is None:
        return tr("No SM gets a second tile")
    return tr("So only {us:.1f} µs are lost, tile after tile", us=story.pause.length / 1000)


def beside(story: OneRun, longest: int) -> str:
    """How much earlier it ends than one block a tile."""
    return tr("{us:.1f} µs sooner than one block a tile", us=(longest - story.trace.makespan) / 1000)


def number(story: OneRun) -> str:
    """The figure of the finding."""
    return tr("{share:.0%} is work", share=story.multiplying - story.slowed)


def finding(story: OneRun) -> str:
    """What is won, and what the multiplying hides."""
    between = sum(story.spent.get(part, 0.0) for part in ("write", "launch", "first load", "hand over"))
    if story.slowed >= 0.01:
        each = story.trace.makespan / 1000
        loops, alone = story.multiplying * each, (story.multiplying - story.slowed) * each
        return tr(
            "Over writes, multiplying takes {loops:.1f}\u00a0µs, not {alone:.1f}",
            alone=alone,
            loops=loops,
        )
    if story.pause is None or story.spent.get("idle", 0.0) > between:
        return tr("Much of the time, SMs have nothing left to do")
    pause, tile = story.pause.length / 1000, story.tile / 1000
    return tr("Of a tile’s {tile:.1f} µs, {pause:.1f} multiply nothing", tile=tile, pause=pause)


def against(story: OneRun, other: OneRun) -> str:
    """The finding beside the same product with a thread block for each tile: both times. Empty if no less."""
    ours, theirs = story.trace.makespan / 1000, other.trace.makespan / 1000
    if ours >= theirs:
        return ""
    return tr("Blocks that stay take {ours:.1f}\u00a0µs, not {theirs:.1f}", ours=ours, theirs=theirs)


def aside(other: OneRun) -> str:
    """What share of the time is work with a thread block for each tile."""
    return tr("Naive: {share:.0%}", share=other.multiplying)
