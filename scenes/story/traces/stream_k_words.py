"""What the film of Stream-K says, chosen by the data."""

from tilesim_scenes.look.language import tr
from tilesim_scenes.story.traces.stream_k import StreamK

PART_OF_GAP = 0.1
"""Of the gap, below which the finding leaves out what is lost."""


def question(story: StreamK) -> str:
    """What the film asks."""
    idle = story.idle.sms
    working = len(story.whole.device.free_sms) - idle
    return tr("What do {idle} SMs do while {working} work?", idle=idle, working=working)


def wave(story: StreamK) -> str:
    """How many tiles meet how many SMs."""
    problem, slots = story.whole.problem, story.whole.device.slots
    return tr(
        "{tiles} tiles, {sms} SMs: {left} are left over", tiles=problem.tiles, sms=slots, left=story.left_over
    )


def idling(story: StreamK) -> str:
    """While most wait for few."""
    idle = story.idle.sms
    working = len(story.whole.device.free_sms) - idle
    return tr("Then {working} SMs work, and {idle} watch", working=working, idle=idle)


def bracket(story: StreamK) -> str:
    """Beside the bracket under the idle time, whose length stands where {length} does."""
    return tr("{idle} SMs idle, {length}", idle=story.idle.sms, length="{length}")


def cutting(story: StreamK) -> str:
    """The idea."""
    return tr("Cut along K: {sms} SMs share a tile", sms=story.pieces)


def steps(story: StreamK) -> str:
    """How deep a tile is."""
    return tr("{steps} K-steps", steps=story.whole.problem.k_steps)


def sharing() -> str:
    """The schedule."""
    return tr("Every SM gets equally many K-steps")


def each(story: StreamK) -> str:
    """How large a share is."""
    return tr("{steps} K-steps each", steps=story.of_each)


def handing() -> str:
    """The price."""
    return tr("A partial sum travels to the tile's owner")


def adding(story: StreamK) -> str:
    """What the owner does with it, and whether that lay ready."""
    giver, owner = (story.cut.spans[row] for row in (story.handing.giver, story.handing.owner))
    us = int(owner["fixup"] - owner["drain"]) / 1000
    if giver["done"] < owner["drain"]:
        return tr("It lay ready, yet waiting and adding take {us:.1f} µs", us=us)
    return tr("The owner waits for it and adds it: {us:.1f} µs", us=us)


def both() -> str:
    """When the two run beside one another."""
    return tr("Now both: where do SMs idle?")


def finding(story: StreamK) -> str:
    """What the faster run wins most, and what takes a tenth of that back or more."""
    causes, gap = story.heat.causes, story.heat.gap
    if story.heat.same:
        return tr("A draw: all take the same time")
    gain, won = next(iter(causes.items()))
    loss, lost = list(causes.items())[-1]
    sentences = [_gain(gain, won / 1000)]
    if -lost >= PART_OF_GAP * gap:
        sentences.append(_loss(loss, -lost / 1000))
    return " ".join(sentences)


def _gain(cause: str, us: float) -> str:
    return {
        "pauses": tr("Shorter pauses win {us:.1f} µs.", us=us),
        "partials": tr("Fewer partials win {us:.1f} µs.", us=us),
        "main loops": tr("Faster loops win {us:.1f} µs.", us=us),
        "tail": tr("Less idling wins {us:.1f} µs.", us=us),
        "rest": tr("Small things win {us:.1f} µs.", us=us),
    }[cause]


def _loss(cause: str, us: float) -> str:
    return {
        "pauses": tr("Longer pauses lose {us:.1f}.", us=us),
        "partials": tr("Partial sums lose {us:.1f}.", us=us),
        "main loops": tr("Slower loops lose {us:.1f}.", us=us),
        "tail": tr("More idling loses {us:.1f}.", us=us),
        "rest": tr("Small things lose {us:.1f}.", us=us),
    }[cause]


def number(story: StreamK) -> str:
    """How much less time, or more, cutting takes."""
    whole, cut = story.whole.makespan, story.cut.makespan
    share = abs(1 - cut / whole)
    return (
        tr("{share:.0%} less time", share=share) if cut <= whole else tr("{share:.0%} more time", share=share)
    )


def aside(story: StreamK) -> str:
    """The same two where waves fill."""
    if story.elsewhere is None:
        return ""
    whole, cut = story.elsewhere
    return tr("4096³: {whole:.0f} becomes {cut:.0f} µs", whole=whole, cut=cut)
