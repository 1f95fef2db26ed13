"""Reading: what keeps people from reading a film, as it was watched."""

from itertools import combinations

from watching import Seen, Word

from tilesim_scenes.animations.fade import CHANGE
from tilesim_scenes.film.scene import CARD, ON_TOP
from tilesim_scenes.mobjects.words.finding import reading_time

LONGEST = 85.0
"""Seconds that a film lasts at most, with its end card, which names the next film."""
MOST_LINES = 2
"""Of a caption in a wide frame."""
LEAST_PX = 23.5
"""Nothing is smaller, in pixels of a frame whose shorter side has 1080; rounded down by half a pixel."""
SPARE = 0.005
"""Share of the frame by which texts may come near its edges or each other's boxes."""
MOST_STILL = 0.5
"""Share of the seconds between title and card in which nothing moves, while sentences can be read aloud."""
BARE = 1.5
"""Seconds that a picture may stand without a caption."""
SLACK = 0.35
"""Seconds: a film waits in tenths, and its pictures are compared in quarters."""


def faults(seen: Seen) -> list[str]:
    """What breaks the grammar's rules, each with the second at which it does."""
    found = [f"{at:.1f} s: {fault}" for at, words in seen.moments for fault in faults_of(words)]
    for start, end, text in seen.scene.captions:
        if seen.lines.get(text, 0) > MOST_LINES:
            found.append(f"{start:.1f} s: {seen.lines[text]} lines in the caption {text!r}")
        if end - start < reading_time(text) - 0.15:
            found.append(f"{start:.1f} s: {text!r} stands for {end - start:.1f} s")
    if seen.scene.now > LONGEST + 0.005:
        found.append(f"it lasts {seen.scene.now:.2f} s")
    found += [f"{at:.1f} s: from {text!r} on, what was never measured runs by" for at, text in seen.running]
    return [*dict.fromkeys(found), *_standing_still(seen)]


def _standing_still(seen: Seen) -> list[str]:
    """Where nothing moves though there is nothing left to read, between title and card."""
    begin = min((said.start for said in seen.scene.captions), default=BARE)
    end = seen.scene.now - CARD - (CHANGE if seen.scene.next_title else 0)
    still = [(max(since, begin), min(until, end)) for since, until in seen.still]
    still = [(since, until) for since, until in still if since < until]
    faults = []
    for since, until in still:
        stand = [said.text for said in seen.scene.captions if said.start < until and said.end > since]
        if until - since > max(map(reading_time, stand), default=BARE) + SLACK:
            faults.append(f"{since:.1f} s: nothing moves for {until - since:.1f} s")
    share = sum(until - since for since, until in still) / (end - begin)
    if share > MOST_STILL:
        faults.append(f"nothing moves in {share:.0%} of the seconds between title and card")
    return faults


def faults_of(words: list[Word]) -> list[str]:
    """What is wrong with the texts that stand on screen together."""
    faults = [f"{word.text!r} has {word.size:.0f} px" for word in words if word.size < LEAST_PX]
    for word in words:
        left, right, bottom, top = word.box
        if min(left, bottom) < -SPARE or max(right, top) > 1 + SPARE:
            faults.append(f"{word.text!r} leaves the frame")
    for one, other in combinations(words, 2):
        # A caption hides what lies below it.
        if (one.z == other.z or ON_TOP in (one.z, other.z)) and _overlap(one, other):
            faults.append(f"{one.text!r} lies on {other.text!r}")
    return faults


def _overlap(one: Word, other: Word) -> bool:
    left, right = max(one.box[0], other.box[0]), min(one.box[1], other.box[1])
    bottom, top = max(one.box[2], other.box[2]), min(one.box[3], other.box[3])
    return right - left > SPARE and top - bottom > SPARE
